// Memories become patterns: here six that come one after the other.
import { helix } from '../helix.ts'
import { leave, supabase } from './session.ts'

const hx = helix(supabase)
const now = Date.now()
const walks = Array.from({ length: 6 }, (_, i) => ({
  type: 'episodic', content: `Walked along the river with Ada, day ${i + 1}.`, emotional_valence: 0.6,
  created_at: new Date(now - (5 - i) * 60_000).toISOString(),
}))

const pattern = new Promise<string>((resolve) => {
  const stop = hx.subscribe('memory_synthesis', ({ op, record, via }) => {
    if (op === 'DELETE') return
    stop()
    resolve(`${record.pattern_type}: ${record.synthesis_content} (by ${via})`)
  })
})
const { error } = await supabase.from('memories').insert(walks)
if (error) throw error
console.log(await pattern)
await leave()
