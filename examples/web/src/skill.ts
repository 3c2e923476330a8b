// A few lines of JavaScript run in helixd's sandbox.
import { HelixError, type Helix } from '../../js/helix.ts'
import { $, onSubmit, show } from './dom.ts'

export function skills(hx: Helix) {
  onSubmit('#skill', async (field) => {
    await hx.runSkill({ definition: { kind: 'javascript', source: field('source') } }, { name: field('name') }).catch((error: unknown) => {
      if (!(error instanceof HelixError && error.row)) throw error // else the list shows it
    })
  })

  const list = $('#runs')
  return hx.subscribe('skill_runs', ({ op, table, id, status, record, via }) => {
    if (op === 'DELETE' || !status) return
    const error = record.error as { code?: string; message?: string } | null | undefined
    const good = status === 'succeeded'
    const text = good ? JSON.stringify(record.output ?? null) : error ? `${error.message} (${error.code})` : status
    show(list, { table, id, status, text, ended: good ? 'good' : ['queued', 'running'].includes(status) ? '' : 'bad', via })
  })
}
