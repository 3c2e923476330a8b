// Listeners: to the rows of a table, and to one row until it has ended.
import { errorOfRequest, errorOfRow, HelixError } from './error.ts'
import type { Feed } from './feed.ts'
import { aboutOf, type Change, type Client, type Job, type Row, type Table, type Via } from './tables.ts'

export interface SubscribeOptions {
  /** How many of the newest rows are selected after each join; 100. */
  limit?: number
  /** Hears of selects that fail; the next one comes by itself. */
  onError?: (error: HelixError) => void
}

/** Calls back with each change, and after each join with the newest rows that differ from what the last select gave. */
export function subscribe<T extends Table>(
  client: Client, feed: Feed, table: T, handler: (change: Change<T>) => void, { limit = 100, onError }: SubscribeOptions = {},
): () => void {
  const { columns, newest, id: key = 'id' } = aboutOf(table)
  const known = new Map<string, string>()
  let whole = false // known has all rows that there are
  let asked = 0
  let stopped = false

  async function look(via: Via) {
    const now = ++asked
    const { data, error } = await client.from(table as Table).select(columns).order(newest, { ascending: false }).limit(limit)
    if (stopped || now !== asked) return // a later one answers for this one
    if (error) return void onError?.(errorOfRequest(error))
    const rows = data as unknown as Record<string, unknown>[]
    const there = new Set<string>()
    const tell = (op: Change['op'], id: string, record: Record<string, unknown>) =>
      handler({ op, table, id, status: (record.status as string | undefined) ?? null, record: record as Partial<Row<T>>, via })
    for (const record of rows.reverse()) { // the oldest first
      const id = String(record[key])
      const text = JSON.stringify(record)
      const before = known.get(id)
      there.add(id)
      known.set(id, text)
      if (text !== before) tell(before === undefined ? 'INSERT' : 'UPDATE', id, record)
    }
    if (whole && rows.length < limit) {
      for (const id of [...known.keys()]) if (!there.has(id) && known.delete(id)) tell('DELETE', id, {})
    }
    whole = rows.length < limit
  }

  const remove = feed.add({
    table,
    change(change) {
      if (change.op === 'DELETE') known.delete(change.id)
      handler(change as Change<T>)
    },
    look: (via) => void look(via),
  })
  return () => {
    stopped = true
    remove()
  }
}

export interface WaitOptions {
  /** Milliseconds; 60,000. */
  timeout?: number
  signal?: AbortSignal
}

/** A row that has ended well, and how that was heard of. */
export type Ended<T extends Job> = Row<T> & { via: Via }

// What a select that fails so will fail with again.
const hopeless = new Set(['42501', '42P01', 'PGRST205'])

/** Waits until the row has ended. Rejects with a HelixError where it ended badly, is gone, or takes too long. */
export function result<T extends Job>(client: Client, feed: Feed, table: T, id: string, { timeout = 60_000, signal }: WaitOptions = {}): Promise<Ended<T>> {
  const { columns, ends } = aboutOf(table)
  return new Promise((resolve, reject) => {
    let remove: (() => void) | undefined
    const settle = (act: () => void) => {
      remove?.()
      clearTimeout(timer)
      signal?.removeEventListener('abort', aborted)
      act()
    }
    const aborted = () => settle(() => reject(signal?.reason))
    let last: Row<T> | null = null
    const timer = setTimeout(async () => {
      const late = await lateness(client, table, timeout, last)
      settle(() => reject(late))
    }, timeout)

    async function look(via: Via) {
      const { data, error } = await client.from(table as Job).select(columns).eq('id', id).maybeSingle()
      if (error) {
        if (hopeless.has(error.code)) settle(() => reject(errorOfRequest(error)))
        return // another one comes
      }
      const row = (last = data as unknown as Row<T> | null)
      if (!row) settle(() => reject(new HelixError('deleted', `there is no such row of ${table}: it was deleted, or is not yours`, false)))
      else if (ends!.good.includes(row.status)) settle(() => resolve({ ...row, via }))
      else if (ends!.bad.includes(row.status)) settle(() => reject(errorOfRow(row)))
    }

    if (signal?.aborted) return aborted()
    signal?.addEventListener('abort', aborted)
    remove = feed.add({
      table,
      change(change) {
        const ended = change.status !== null && [...ends!.good, ...ends!.bad].includes(change.status)
        if (change.id === id && (ended || change.op === 'DELETE')) void look(change.via) // for all its columns
      },
      look: (via) => void look(via),
    })
  })
}

/** Says why nothing came in time: what the row itself waits for, or nobody works, or it takes longer. */
async function lateness(client: Client, table: Table, timeout: number, row: Row<Job> | null): Promise<HelixError> {
  const waits = row?.error as { code?: string; message?: string } | null | undefined
  if (waits?.code) return new HelixError(waits.code, waits.message ?? waits.code, true, row)
  const { data } = await client.from('helix_status').select('running')
  if (data?.some((reactor) => reactor.running)) return new HelixError('timeout', `${table}: no result within ${timeout / 1000} s`, true, row)
  return new HelixError('offline', 'processing is offline: the row stays, and its result comes when helixd is back', true, row)
}
