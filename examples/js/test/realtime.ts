// A project on loopback that knows just enough for the helper's channels: Auth that
// signs one user in, tables that are read by id, and Realtime's socket, which speaks
// Phoenix's protocol as Realtime does and lets a test say what it answers.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createClient } from '@supabase/supabase-js'
import WebSocket, { WebSocketServer } from 'ws'
import type { Database } from '../helix.ts'

export const user = '6f1c2a52-0c5f-4a57-9a9f-0a3f5a1d7c11'
type Frame = [joinRef: string | null, ref: string | null, topic: string, event: string, payload: Record<string, any>]
/** What a join is answered: null is no answer at all. */
export type Answer = 'ok' | 'error' | null

export class Project {
  url = ''
  rows: Record<string, Record<string, unknown>[]> = {}
  heard: Frame[] = []
  selects: string[] = []
  joinAnswer: (topic: string, token: string) => Answer = () => 'ok'
  private tokens = 0
  private readonly joined = new Map<string, { socket: WebSocket; joinRef: string | null }>()
  private readonly http = createServer((req, res) => void this.answer(req, res))
  private readonly sockets = new WebSocketServer({ server: this.http, path: '/realtime/v1/websocket' })

  async start() {
    this.sockets.on('connection', (socket) => {
      socket.on('message', (data) => this.hear(socket, JSON.parse(String(data)) as Frame))
    })
    await new Promise<void>((listening) => this.http.listen(0, '127.0.0.1', listening))
    this.url = `http://127.0.0.1:${(this.http.address() as AddressInfo).port}`
    return this
  }

  stop() {
    this.cut()
    this.http.closeAllConnections()
    this.http.close()
  }

  /** A client of the newest supabase-js, signed in. It tries again at once. */
  async signedIn(timeout = 10_000) {
    const client = createClient<Database>(this.url, 'a publishable key', {
      auth: { persistSession: false, autoRefreshToken: false },
      realtime: { transport: WebSocket as any, reconnectAfterMs: () => 20, timeout },
    })
    const { error } = await client.auth.signInWithPassword({ email: 'ada@example.com', password: 'x' })
    if (error) throw error
    return client
  }

  /** Sends what Realtime sends for a row of realtime.messages. */
  broadcast(payload: Record<string, unknown>) {
    this.send(`realtime:helix:${user}`, 'broadcast', { type: 'broadcast', event: payload.table, payload })
  }

  send(topic: string, event: string, payload: unknown) {
    for (const [name, { socket, joinRef }] of this.joined) {
      if (name.startsWith(topic)) socket.send(JSON.stringify([event === 'phx_close' ? joinRef : null, null, name, event, payload]))
    }
  }

  /** Ends all connections, as a network does. */
  cut() {
    this.joined.clear()
    for (const socket of this.sockets.clients) socket.terminate()
  }

  joins(topic: string) {
    return this.heard.filter(([, , name, event]) => event === 'phx_join' && name.startsWith(topic))
  }

  private hear(socket: WebSocket, frame: Frame) {
    this.heard.push(frame)
    const [joinRef, ref, topic, event, payload] = frame
    const reply = (status: string, response: unknown) => socket.send(JSON.stringify([joinRef, ref, topic, 'phx_reply', { status, response }]))
    if (event !== 'phx_join') {
      if (event === 'phx_leave') this.joined.delete(topic)
      return reply('ok', {})
    }
    const answer = this.joinAnswer(topic, String(payload.access_token))
    if (answer === 'error') return reply('error', { reason: 'Unauthorized: You do not have permissions to read from this Channel topic' })
    if (answer === null) return
    this.joined.set(topic, { socket, joinRef })
    const changes = (payload.config.postgres_changes as Record<string, unknown>[]).map((filter, i) => ({ id: i + 1, ...filter }))
    reply('ok', { postgres_changes: changes })
    if (changes.length) this.send(topic, 'system', { extension: 'postgres_changes', status: 'ok', channel: topic, message: 'Subscribed to PostgreSQL' })
  }

  private async answer(req: IncomingMessage, res: ServerResponse) {
    const url = new URL(req.url ?? '/', this.url)
    const json = (value: unknown) => res.setHeader('Content-Type', 'application/json').end(JSON.stringify(value))
    if (url.pathname.startsWith('/auth/v1/token')) return json(this.session())
    const table = url.pathname.replace('/rest/v1/', '')
    this.selects.push(table)
    const rows = this.rows[table] ?? []
    const wanted = [...url.searchParams].filter(([, value]) => value.startsWith('eq.'))
    json(rows.filter((row) => wanted.every(([column, value]) => String(row[column]) === value.slice(3))))
  }

  private session() {
    const now = Math.floor(Date.now() / 1000)
    const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const claims = { sub: user, role: 'authenticated', aud: 'authenticated', exp: now + 3600, n: ++this.tokens }
    return {
      access_token: `${part({ alg: 'HS256', typ: 'JWT' })}.${part(claims)}.${part('signature')}`, token_type: 'bearer', expires_in: 3600, expires_at: now + 3600,
      refresh_token: `refresh-${this.tokens}`, user: { id: user, aud: 'authenticated', email: 'ada@example.com', app_metadata: {}, user_metadata: {}, created_at: '2026-01-01T00:00:00Z' },
    }
  }
}

/** Which token a client was given: 1 is the first. */
export const numberOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).n as number
