// What conversations show, with the lines that show it.
import type { Helix } from '../../js/helix.ts'
import { $, lines, onSubmit, show } from './dom.ts'

export function analyses(hx: Helix) {
  const list = $('#analyses')
  onSubmit('#analysis', async (field) => {
    const texts = lines(field('texts'))
    const { job, patterns } = await hx.analyze('emotional_patterns', { timeout: 300_000,
      conversations: texts.map((text, i) => ({ id: `line ${i + 1}`, text })) })
    show(list, { table: 'memory_synthesis_jobs', id: job.id, status: job.status, text: `${job.summary} (${job.provider})`, ended: 'good', via: job.via })
    for (const { id, description, evidence } of patterns)
      show(list, { table: 'memory_patterns', id, text: `${description} [${evidence.join(', ')}]`, ended: 'good', via: job.via })
  })
  // The others of this user, as they are.
  return hx.subscribe('memory_synthesis_jobs', ({ op, table, id, status, record, via }) => {
    if (op === 'DELETE' || !status) return
    const error = record.error as { message?: string } | null | undefined
    show(list, { table, id, status, text: status === 'done' ? `${record.summary} (${record.provider})` : error?.message ?? status,
      ended: status === 'done' ? 'good' : status === 'failed' ? 'bad' : '', via })
  })
}
