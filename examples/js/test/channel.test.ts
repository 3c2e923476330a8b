// The helper's channels, with the real supabase-js and a server that speaks Phoenix's protocol.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, test } from 'node:test'
import type { SupabaseClient } from '@supabase/supabase-js'
import { helix, HelixError, type Change, type Database, type Helix } from '../helix.ts'
import { numberOf, Project, user } from './realtime.ts'
import { until } from './until.ts'

const own = `realtime:helix:${user}`
const fallback = `realtime:helix-changes:${user}`
const never = { broadcast: 3_600_000, postgres_changes: 3_600_000, select: 3_600_000 } // looks by the clock, where a test does not want them
let project: Project
let client: SupabaseClient<Database>
let hx: Helix
let changes: Change<'skill_runs'>[]
const stops: (() => void)[] = []

beforeEach(async () => {
  project = await new Project().start()
  client = await project.signedIn()
  hx = helix(client, { device: 'phone', pace: never })
  changes = []
})
afterEach(async () => {
  for (const stop of stops.splice(0)) stop()
  await client.realtime.disconnect()
  project.stop()
})

const listen = () => { const stop = hx.subscribe('skill_runs', (change) => changes.push(change)); stops.push(stop); return stop }
const run = (id: string, status: string) => ({ id, user_id: user, status, output: 'Hello', error: null })
const message = (id: string, status: string) => ({ op: 'UPDATE', table: 'skill_runs', key: { id }, id, status, record: { output: 'Hello' } })
const seen = (id: string) => changes.filter((change) => change.id === id).map(({ status, via }) => `${status} by ${via}`)

test('all listeners share one private channel, which the last one to go leaves', async () => {
  const stop = [listen(), listen(), hx.subscribe('memories', () => {})]
  await until('it is joined', () => hx.via === 'broadcast')
  assert.equal(project.joins(own).length, 1)
  assert.equal(project.joins(own)[0]![4].config.private, true)
  const id = randomUUID()
  project.broadcast(message(id, 'succeeded'))
  await until('both have heard', () => seen(id).length === 2)
  assert.deepEqual(seen(id), ['succeeded by broadcast', 'succeeded by broadcast'])
  stop[0]!()
  stop[1]!()
  assert.equal(hx.via, 'broadcast')
  stop[2]!()
  await until('it has left', () => project.heard.some(([, , topic, event]) => topic === own && event === 'phx_leave'))
  assert.equal(hx.via, 'select')
})

test('what changed before the join is selected after it', async () => {
  const id = randomUUID()
  project.joinAnswer = (topic) => {
    if (topic === own) project.rows.skill_runs = [run(id, 'succeeded')] // nobody was told
    return 'ok'
  }
  listen()
  await until('it is found', () => seen(id).length > 0)
  assert.deepEqual(seen(id), ['succeeded by select'])
})

test('where the private channel is refused, postgres_changes tells', async () => {
  project.joinAnswer = (topic) => (topic === own ? 'error' : 'ok')
  listen()
  await until('it has fallen back', () => hx.via === 'postgres_changes')
  const [join] = project.joins(fallback)
  assert.deepEqual(join![4].config.postgres_changes, [{ event: '*', schema: 'public', table: 'skill_runs', filter: `user_id=eq.${user}` }])
  const id = randomUUID()
  project.send(fallback, 'postgres_changes', { ids: [1], data: { type: 'UPDATE', schema: 'public', table: 'skill_runs',
    commit_timestamp: '2026-01-01T00:00:00Z', columns: [{ name: 'id', type: 'uuid' }, { name: 'status', type: 'text' }],
    record: { id, status: 'succeeded' }, old_record: { id }, errors: null } })
  await until('it is heard', () => seen(id).length > 0)
  assert.deepEqual(seen(id), ['succeeded by postgres_changes'])
  stops.push(hx.subscribe('memories', () => {})) // a further table
  await until('it listens to that, too', () => project.joins(fallback).some(([, , , , { config }]) => config.postgres_changes.length === 2))
})

test('where the private channel is not answered, postgres_changes tells, until it is', async () => {
  await client.realtime.disconnect()
  client = await project.signedIn(100)
  hx = helix(client, { device: 'phone', pace: never })
  let answer: 'ok' | null = null
  project.joinAnswer = (topic) => (topic === own ? answer : 'ok')
  listen()
  await until('it has fallen back', () => hx.via === 'postgres_changes')
  answer = 'ok'
  await until('it is joined', () => hx.via === 'broadcast')
  await until('the other is left', () => project.heard.some(([, , topic, event]) => topic.startsWith(fallback) && event === 'phx_leave'))
})

test('where both are refused, it looks', async () => {
  hx = helix(client, { pace: { select: 20 } })
  project.joinAnswer = () => 'error'
  listen()
  await until('both are refused', () => project.joins(own).length > 0 && project.joins(fallback).length > 0)
  const id = randomUUID()
  project.rows.skill_runs = [run(id, 'running')]
  await until('it is found', () => seen(id).length === 1)
  project.rows.skill_runs = [run(id, 'succeeded')]
  await until('the change is found', () => seen(id).length === 2)
  project.rows.skill_runs = []
  await until('its end is found', () => changes.some((change) => change.id === id && change.op === 'DELETE'))
  assert.deepEqual(seen(id).slice(0, 2), ['running by select', 'succeeded by select'])
  assert.equal(hx.via, 'select')
})

test('after the connection was cut it joins again, and finds what it missed', async () => {
  listen()
  await until('it is joined', () => hx.via === 'broadcast')
  const id = randomUUID()
  project.rows.skill_runs = [run(id, 'succeeded')]
  project.cut()
  await until('it has joined again', () => project.joins(own).length === 2 && hx.via === 'broadcast')
  await until('it is found', () => seen(id).length === 1)
  project.broadcast(message(id, 'succeeded'))
  await until('it hears', () => seen(id).includes('succeeded by broadcast'))
})

test('a channel that the server closes is joined again', async () => {
  listen()
  await until('it is joined', () => hx.via === 'broadcast')
  project.send(own, 'phx_close', {})
  await until('it has fallen back', () => hx.via !== 'broadcast')
  await until('it is joined again', () => hx.via === 'broadcast')
  assert.equal(project.joins(own).length, 2)
})

test('a new token goes to the channel that is joined', async () => {
  listen()
  await until('it is joined', () => hx.via === 'broadcast')
  await client.auth.refreshSession()
  await until('it is sent', () => project.heard.some(([, , topic, event, payload]) => topic === own && event === 'access_token' && numberOf(payload.access_token) === 2))
  assert.equal(project.joins(own).length, 1)
})

test('a channel that the old token was refused is joined with the new one, at once', async () => {
  project.joinAnswer = (topic, token) => (topic === own && numberOf(token) === 1 ? 'error' : 'ok')
  listen()
  await until('it has fallen back', () => hx.via === 'postgres_changes')
  await client.auth.refreshSession()
  await until('it is joined', () => hx.via === 'broadcast')
  assert.equal(numberOf(project.joins(own).at(-1)![4].access_token), 2)
})

test('who signs out hears nothing more', async () => {
  listen()
  await until('it is joined', () => hx.via === 'broadcast')
  await client.auth.signOut({ scope: 'local' })
  await until('it has left', () => project.heard.some(([, , topic, event]) => topic === own && event === 'phx_leave'))
  assert.equal(hx.via, 'select')
})

test('who leaves before the join is answered opens no other channel', async () => {
  project.joinAnswer = () => null
  listen()
  await until('it joins', () => project.joins(own).length > 0)
  stops.pop()!()
  assert.deepEqual(client.getChannels().filter((channel) => !['closed', 'leaving'].includes(channel.state)), [])
})

test('one message for many rows has them selected', async () => {
  listen()
  await until('it is joined', () => hx.via === 'broadcast')
  const ids = Array.from({ length: 9 }, randomUUID)
  project.rows.skill_runs = ids.map((id) => run(id, 'succeeded'))
  project.broadcast({ op: 'UPDATE', table: 'skill_runs', key: null, id: null, status: null, record: null, rows: 9 })
  await until('all are told', () => ids.every((id) => seen(id).length > 0))
  assert.deepEqual(seen(ids[0]!), ['succeeded by broadcast'])
})

test('what is none of the contract is left aside', async () => {
  listen()
  await until('it is joined', () => hx.via === 'broadcast')
  const id = randomUUID()
  for (const odd of [{ ...message(id, 'x'), op: 'FORGED' }, { ...message(id, 'x'), record: 'text' }, { ...message(id, 'x'), id: 7 }, { ...message(id, 'x'), id: null }])
    project.broadcast(odd)
  project.broadcast(message(id, 'succeeded'))
  await until('it is heard', () => seen(id).length > 0)
  assert.deepEqual(seen(id), ['succeeded by broadcast'])
})

test('a result is awaited by broadcast, and selected with all its columns', async () => {
  listen()
  await until('it is joined', () => hx.via === 'broadcast')
  const id = randomUUID()
  project.rows.skill_runs = [run(id, 'queued')]
  const awaited = hx.result('skill_runs', id)
  await until('it has looked', () => project.selects.filter((table) => table === 'skill_runs').length > 2)
  project.rows.skill_runs = [run(id, 'succeeded')]
  project.broadcast(message(id, 'succeeded'))
  const row = await awaited
  assert.equal(row.output, 'Hello')
  assert.equal(row.via, 'broadcast')
})

test('a result that failed, is gone, is late or is given up rejects with a code', async () => {
  const code = (expected: string, retryable: boolean) => (error: unknown) => {
    assert.ok(error instanceof HelixError, String(error))
    assert.deepEqual([error.code, error.retryable], [expected, retryable])
    return true
  }
  const id = randomUUID()
  await assert.rejects(hx.result('skill_runs', id), code('deleted', false))
  project.rows.skill_runs = [{ ...run(id, 'failed'), error: { code: 'network_error', message: 'no answer', retryable: true } }]
  await assert.rejects(hx.result('skill_runs', id), code('network_error', true))
  project.rows.skill_runs = [{ ...run(id, 'cancelled') }]
  await assert.rejects(hx.result('skill_runs', id), code('cancelled', false))
  project.rows.skill_runs = [run(id, 'queued')]
  await assert.rejects(hx.result('skill_runs', id, { timeout: 10 }), code('offline', true))
  project.rows.helix_status = [{ reactor: 'skills', running: true }]
  await assert.rejects(hx.result('skill_runs', id, { timeout: 10 }), code('timeout', true))
  project.rows.skill_runs = [{ ...run(id, 'queued'), error: { code: 'provider_not_configured', message: 'none is set' } }]
  await assert.rejects(hx.result('skill_runs', id, { timeout: 200 }), code('provider_not_configured', true))
  const given = new AbortController()
  const awaited = hx.result('skill_runs', id, { signal: given.signal })
  given.abort(new Error('not needed any more'))
  await assert.rejects(awaited, /not needed any more/)
})
