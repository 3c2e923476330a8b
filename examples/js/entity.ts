// Documents that several devices edit: this device's vector clock, kept as
// helixd expects it.
import { errorOfRequest } from './error.ts'
import type { Feed } from './feed.ts'
import type { Json } from './database.types.ts'
import type { Client, Row, Via } from './tables.ts'

export type Clock = Record<string, number>

/** The resolved state of an entity, which all devices of the user see. */
export interface Entity {
  data: Json | null
  deleted: boolean
  revision: number
  resolution: string
  vectorClock: Clock
  via: Via
}

export class Entities {
  private readonly clocks = new Map<string, Promise<Clock>>() // what this device has seen, of each entity
  private readonly puts = new Map<string, Promise<unknown>>() // the last of each entity

  constructor(private readonly client: Client, private readonly feed: Feed, readonly device: string) {}

  /** Writes this device's version. Puts of one entity are made one after the other. */
  put(type: string, id: string, data: Json, deleted: boolean): Promise<void> {
    const name = nameOf(type, id)
    const before = this.puts.get(name) ?? Promise.resolve()
    const put = before.catch(() => {}).then(() => this.write(type, id, data, deleted))
    this.puts.set(name, put)
    return put
  }

  private async write(type: string, id: string, data: Json, deleted: boolean) {
    const { data: auth, error: absent } = await this.client.auth.getSession()
    if (absent || !auth.session) throw absent ?? new Error('nobody is signed in')
    const clock = await this.clockOf(type, id)
    // Raised for good: a request that failed may have been heard, and one counter with two contents is a conflict.
    clock[this.device] = (clock[this.device] ?? 0) + 1
    const { error } = await this.client.from('sync_state').upsert({
      user_id: auth.session.user.id, entity_type: type, entity_id: id, device_id: this.device,
      data, deleted, vector_clock: { ...clock }, last_modified: new Date().toISOString(),
    }, { onConflict: 'user_id,entity_type,entity_id,device_id' })
    if (error) throw errorOfRequest(error)
  }

  /** Calls back with the resolved state, now and whenever it changes; this device has then seen it. */
  subscribe(type: string, id: string, handler: (entity: Entity) => void): () => void {
    let revision = -1
    let stopped = false
    const adopt = async (row: Partial<Row<'sync_entities'>>, via: Via) => {
      const seen = (row.vector_clock ?? {}) as Clock
      const clock = await this.clockOf(type, id)
      if (stopped || row.revision === undefined || row.revision <= revision) return // heard of it before
      revision = row.revision
      for (const [device, count] of Object.entries(seen)) clock[device] = Math.max(clock[device] ?? 0, count)
      handler({ data: row.data ?? null, deleted: row.deleted ?? false, revision, resolution: row.resolution ?? 'none', vectorClock: { ...clock }, via })
    }
    const look = async (via: Via) => {
      const { data } = await this.client.from('sync_entities').select('*').eq('entity_type', type).eq('entity_id', id).maybeSingle()
      if (data) await adopt(data, via)
    }
    const quietly = (act: Promise<void>) => void act.catch(() => {}) // the next look may work
    const remove = this.feed.add({
      table: 'sync_entities',
      change({ record, via }, key) {
        const row = { ...key, ...record } as Partial<Row<'sync_entities'>>
        if (row.entity_type !== type || row.entity_id !== id) return
        quietly('data' in row && 'vector_clock' in row ? adopt(row, via) : look(via)) // what is large is left out
      },
      look: (via) => quietly(look(via)),
    })
    return () => {
      stopped = true
      remove()
    }
  }

  private clockOf(type: string, id: string): Promise<Clock> {
    const name = nameOf(type, id)
    let clock = this.clocks.get(name)
    if (!clock) {
      clock = this.load(type, id)
      this.clocks.set(name, clock)
      clock.catch(() => this.clocks.delete(name))
    }
    return clock
  }

  /** What this device wrote last says what it had seen then; its own counter may be known to others only. */
  private async load(type: string, id: string): Promise<Clock> {
    const [own, resolved] = await Promise.all([
      this.client.from('sync_state').select('vector_clock').eq('entity_type', type).eq('entity_id', id).eq('device_id', this.device).maybeSingle(),
      this.client.from('sync_entities').select('vector_clock').eq('entity_type', type).eq('entity_id', id).maybeSingle(),
    ])
    const error = own.error ?? resolved.error
    if (error) throw errorOfRequest(error)
    const clock = { ...(own.data?.vector_clock as Clock | undefined) }
    const counted = (resolved.data?.vector_clock as Clock | undefined)?.[this.device] ?? 0
    if (counted > (clock[this.device] ?? 0)) clock[this.device] = counted
    return clock
  }
}

const nameOf = (type: string, id: string) => JSON.stringify([type, id])
