// Memories are written, and patterns come of them.
import type { SupabaseClient } from '@supabase/supabase-js'
import type { Database, Helix } from '../../js/helix.ts'
import { $, lines, onSubmit, show } from './dom.ts'

export function memories(supabase: SupabaseClient<Database>, hx: Helix) {
  onSubmit('#remember', async (field, form) => {
    const now = Date.now()
    const contents = lines(field('content'))
    const { error } = await supabase.from('memories').insert(contents.map((content, i) => ({
      type: 'episodic', content, emotional_valence: Number(field('feeling')), created_at: new Date(now - (contents.length - i) * 1000).toISOString(),
    })))
    if (error) throw error
    form.reset()
  })

  const list = $('#patterns')
  return hx.subscribe('memory_synthesis', ({ op, table, id, record, via }) => {
    if (op === 'DELETE') return list.querySelector(`li[data-id="${CSS.escape(id)}"]`)?.remove()
    const sure = record.confidence_score == null ? '' : ` (${Math.round(record.confidence_score * 100)}% sure)`
    show(list, { table, id, text: `${record.synthesis_content}${sure}`, ended: 'good', via })
  })
}
