// The one connection over which an app hears of results: the private broadcast
// channel `helix:<user id>`; postgres_changes where that is refused; looking where
// neither is there. One for each supabase client, while anybody listens.
import type { AuthChangeEvent, RealtimeChannel, Session } from '@supabase/supabase-js'
import { parseMessage, type Change, type Client, type Op, type Row, type Table, type Via } from './tables.ts'

/** Somebody who wants to know of a table. */
export interface Listener {
  table: Table
  /** Called with each message. */
  change(change: Change, key: Record<string, unknown> | null): void
  /** Called when messages may have been missed: it selects. */
  look(via: Via): void
}

/** How often, in milliseconds, listeners look even though no message came. */
export type Pace = Record<Via, number>
const defaultPace: Pace = { broadcast: 30_000, postgres_changes: 10_000, select: 2_000 }

const feeds = new WeakMap<Client, Feed>()

/** The feed of a client. */
export function feedOf(client: Client, pace?: Partial<Pace>): Feed {
  let feed = feeds.get(client)
  if (!feed) feeds.set(client, (feed = new Feed(client)))
  Object.assign(feed.pace, pace)
  return feed
}

export class Feed {
  via: Via = 'select'
  readonly pace = { ...defaultPace }
  private readonly listeners = new Set<Listener>()
  private readonly watchers = new Set<(via: Via) => void>()
  private user: string | null = null
  private own: RealtimeChannel | undefined // the private broadcast
  private changes: RealtimeChannel | undefined // postgres_changes, while own is not joined
  private watched = new Set<Table>() // by changes
  private joins = 0 // counts: what an older one still awaits is void
  private refusals = 0
  private forgetAuth: (() => void) | undefined
  private nextLook: ReturnType<typeof setTimeout> | undefined
  private nextJoin: ReturnType<typeof setTimeout> | undefined

  constructor(private readonly client: Client) {}

  /** Adds a listener, which looks at once; gives what takes it away. The last one to go closes the channels. */
  add(listener: Listener): () => void {
    this.listeners.add(listener)
    if (this.listeners.size === 1) this.start()
    else if (this.changes && !this.watched.has(listener.table)) this.fallBack()
    listener.look('select')
    return () => {
      if (this.listeners.delete(listener) && this.listeners.size === 0) this.stop()
    }
  }

  /** Calls back with the way in which changes come, now and whenever it is another. */
  onVia(watcher: (via: Via) => void): () => void {
    this.watchers.add(watcher)
    watcher(this.via)
    return () => void this.watchers.delete(watcher)
  }

  private start() {
    const { data } = this.client.auth.onAuthStateChange((event, session) => {
      setTimeout(() => this.follow(event, session)) // Auth holds its lock until this callback returns
    })
    this.forgetAuth = () => data.subscription.unsubscribe()
    this.lookLater()
  }

  private stop() {
    this.forgetAuth?.()
    this.forgetAuth = undefined
    clearTimeout(this.nextLook)
    this.user = null
    this.close()
  }

  private follow(event: AuthChangeEvent, session: Session | null) {
    if (!this.forgetAuth) return // stopped meanwhile
    const user = session?.user.id ?? null
    if (user !== this.user) {
      this.close()
      this.user = user
      if (user === null) return
      this.look('select')
    } else if (event !== 'TOKEN_REFRESHED' || this.via === 'broadcast') {
      return // supabase-js itself hands a new token to a channel that is joined
    }
    void this.join()
  }

  private close() {
    this.joins++
    clearTimeout(this.nextJoin)
    const channels = [this.own, this.changes]
    this.own = this.changes = undefined // first: leaving calls back
    for (const channel of channels) if (channel) void this.client.removeChannel(channel)
    this.become('select')
  }

  private async join() {
    const join = ++this.joins
    clearTimeout(this.nextJoin)
    const topic = `realtime:helix:${this.user}`
    this.own = undefined
    // One that is still leaving would be given again for the same topic.
    for (const old of this.client.getChannels()) if (old.topic === topic) await this.client.removeChannel(old)
    await this.client.realtime.setAuth()
    const user = this.user
    if (join !== this.joins || user === null) return
    const channel = this.client.channel(`helix:${user}`, { config: { private: true } })
    this.own = channel
    channel.on('broadcast', { event: '*' }, ({ event, payload }) => this.hear(event, payload))
    channel.subscribe((status) => {
      if (this.own !== channel) return
      if (status === 'SUBSCRIBED') {
        this.refusals = 0
        const fallback = this.changes
        this.changes = undefined
        if (fallback) void this.client.removeChannel(fallback)
        this.become('broadcast')
        this.look('select')
        return
      }
      if (!this.changes) this.fallBack()
      // After an error supabase-js joins again by itself; what the server has closed it forgets.
      if (status === 'CLOSED') this.nextJoin = setTimeout(() => void this.join(), Math.min(1000 * 2 ** this.refusals++, 30_000))
    })
  }

  /** Listens to the tables themselves, each filtered to the user's rows. */
  private fallBack() {
    const old = this.changes
    this.changes = undefined
    if (old) void this.client.removeChannel(old)
    this.become('select')
    this.watched = new Set([...this.listeners].map((listener) => listener.table))
    const channel = this.client.channel(`helix-changes:${this.user}:${crypto.randomUUID()}`)
    this.changes = channel
    for (const table of this.watched) {
      channel.on('postgres_changes', { event: '*', schema: 'public', table, filter: `user_id=eq.${this.user}` }, (payload) => {
        if (this.changes === channel) this.heard(payload.eventType, table, { ...payload.old, ...payload.new }, 'postgres_changes', null)
      })
    }
    // "Subscribed" comes before the server reads the log: what happens between the two is looked for.
    channel.on('system', {}, ({ extension, status }: { extension?: string; status?: string }) => {
      if (this.changes === channel && extension === 'postgres_changes' && status === 'ok') this.look('select')
    })
    channel.subscribe((status) => {
      if (this.changes !== channel) return
      this.become(status === 'SUBSCRIBED' ? 'postgres_changes' : 'select')
      if (status === 'SUBSCRIBED') this.look('select')
    })
  }

  private hear(event: string, payload: unknown) {
    const message = parseMessage(event, payload)
    if (!message) return
    if (message.id === null) this.look('broadcast', message.table)
    else this.heard(message.op, message.table, { ...message.record, id: message.id, status: message.status }, 'broadcast', message.key)
  }

  private heard(op: Op, table: Table, record: Record<string, unknown>, via: Via, key: Record<string, unknown> | null) {
    const id = String(record.id ?? record.memory_id ?? '')
    const status = typeof record.status === 'string' ? record.status : null
    for (const listener of [...this.listeners]) {
      if (listener.table === table) listener.change({ op, table, id, status, record: record as Partial<Row<Table>>, via }, key)
    }
  }

  private look(via: Via, table?: Table) {
    for (const listener of [...this.listeners]) if (!table || listener.table === table) listener.look(via)
  }

  private lookLater() {
    clearTimeout(this.nextLook)
    this.nextLook = setTimeout(() => {
      this.look('select')
      this.lookLater()
    }, this.pace[this.via])
  }

  private become(via: Via) {
    if (via === this.via) return
    this.via = via
    if (this.forgetAuth) this.lookLater()
    for (const watcher of [...this.watchers]) watcher(via)
  }
}
