// A skill is a row; a run of it, too.
import { helix, HelixError } from '../helix.ts'
import { leave, supabase } from './session.ts'

const hx = helix(supabase)

const { data: skill, error } = await supabase.from('skills').insert({
  name: 'hello', kind: 'javascript', source: 'export default ({ name }) => `Hello, ${name}`',
}).select('id').single()
if (error) throw error

const run = await hx.runSkill(skill, { name: 'Ada' })
console.log(`${run.output} (${run.execution_time_ms} ms, by ${run.via})`)

try {
  await hx.runSkill({ definition: { kind: 'javascript', source: 'export default () => { throw new Error("no") }' } }, {})
} catch (error) {
  if (!(error instanceof HelixError)) throw error
  console.log(`failed: ${error.code}, ${error.retryable ? 'try again' : 'for good'}`)
}
await leave()
