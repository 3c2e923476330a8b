import { setInterval } from 'node:timers/promises'

/** Waits until something is so, for 20 seconds. */
export async function until(what: string, is: () => boolean | Promise<boolean>) {
  const deadline = Date.now() + 20_000
  for await (const _ of setInterval(10)) {
    if (await is()) return
    if (Date.now() > deadline) throw new Error(`waited for: ${what}`)
  }
}
