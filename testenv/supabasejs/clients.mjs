// Clients of the project, as an app makes them.
import assert from 'node:assert/strict'
import { setInterval } from 'node:timers/promises'
import { createClient } from '@supabase/supabase-js'
import ws from 'ws'

export const anon = () => createClient(process.env.SUPABASE_URL, process.env.SUPABASE_PUBLISHABLE_KEY, {
  auth: { persistSession: false, autoRefreshToken: false },
  realtime: { transport: ws }, // Node 20 has no WebSocket of its own
})

// signedIn makes an account and signs in, and gives its client and id.
export async function signedIn(name) {
  const credentials = { email: `${name}@example.com`, password: `the password of ${name}` }
  ok(await anon().auth.signUp(credentials))
  const client = anon()
  const { user } = ok(await client.auth.signInWithPassword(credentials))
  return { client, id: user.id }
}

// ok gives the data of an answer without an error.
export function ok({ data, error }) {
  assert.equal(error, null)
  return data
}

// refused holds an answer to be an error of that SQLSTATE, whose message matches.
export function refused({ data, error }, code, message) {
  assert.ok(error, `not refused: ${JSON.stringify(data)}`)
  assert.equal(error.code, code, error.message)
  assert.match(error.message, message)
}

// until asks until the answer satisfies, for 20 seconds.
export async function until(ask, satisfies) {
  const deadline = Date.now() + 20_000
  let last
  for await (const _ of setInterval(20)) {
    last = ok(await ask())
    if (satisfies(last)) return last
    assert.ok(Date.now() < deadline, `it stays ${JSON.stringify(last)}`)
  }
}
