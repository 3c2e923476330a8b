// streak counts the days in a row on which something was done. What it knows is one
// small value for each habit, kept for the user who runs it.

const day = (date) => Math.floor(Date.parse(`${date}T00:00:00Z`) / 86_400_000)

export default async function streak({ habit, date }, helix) {
  if (Number.isNaN(day(date))) throw new RangeError(`${date} is not a day of the calendar`)

  const key = `streak/${habit}`
  const before = (await helix.kv.get(key)) ?? { days: 0, best: 0, last: null }
  const passed = before.last === null ? Infinity : day(date) - day(before.last)

  if (passed <= 0) {
    // The same day again, or one of the past: a run that is repeated changes nothing.
    console.log(`${habit}: ${date} is counted already`)
    return { habit, ...before, counted: false }
  }
  const days = passed === 1 ? before.days + 1 : 1
  const now = { days, best: Math.max(days, before.best), last: date }
  await helix.kv.set(key, now)
  console.log(`${habit}: day ${days}${days > 1 && days === now.best ? ', the best so far' : ''}`)
  return { habit, ...now, counted: true }
}
