// The helper against a project with helixd beside it: SUPABASE_URL, SUPABASE_ANON_KEY. BY names the way in which
// results must come, where Realtime is there.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, after, test } from 'node:test'
import { createClient, type SupabaseClient } from '@supabase/supabase-js'
import WebSocket from 'ws'
import { helix, HelixError, type Change, type Database, type Entity, type Helix } from '../helix.ts'
import { until } from './until.ts'

const { SUPABASE_URL = '', SUPABASE_ANON_KEY = '', BY } = process.env
let supabase: SupabaseClient<Database>
let hx: Helix

const code = (expected: string) => (error: unknown) => {
  assert.ok(error instanceof HelixError, String(error))
  assert.equal(error.code, expected)
  return true
}
const cameBy = (via: string) => { if (BY) assert.equal(via, BY) }

before(async () => {
  supabase = createClient<Database>(SUPABASE_URL, SUPABASE_ANON_KEY, { auth: { persistSession: false }, realtime: { transport: WebSocket as never } })
  const { error } = await supabase.auth.signUp({ email: `${randomUUID()}@example.com`, password: 'a password of a test' })
  assert.equal(error, null)
  hx = helix(supabase, { device: 'phone' })
  if (!BY) return
  const stop = hx.subscribe('memories', () => {}) // so that the channel is joined before the first test, and stays
  await until(`changes come by ${BY}`, () => hx.via === BY)
  after(stop)
})
after(async () => {
  await supabase.auth.stopAutoRefresh()
  await supabase.realtime.disconnect()
})

test('a skill runs, and one that throws has a code', async () => {
  const { data: skill } = await supabase.from('skills').insert({ name: 'hello', kind: 'javascript', source: 'export default ({ name }) => `Hello, ${name}`' }).select('id').single()
  const run = await hx.runSkill(skill!, { name: 'Ada' })
  assert.equal(run.output, 'Hello, Ada')
  cameBy(run.via)
  await assert.rejects(hx.runSkill({ definition: { kind: 'javascript', source: 'export default () => { throw new Error("no") }' } }, {}), code('exception'))
})

test('a skill that cannot be parsed says so', async () => {
  const { data: skill } = await supabase.from('skills').insert({ name: 'broken', kind: 'javascript', source: 'export default (' }).select('id').single()
  await assert.rejects(hx.result('skills', skill!.id), code('syntax_error'))
})

test('a recording that waits, or is none, says why', async () => {
  await assert.rejects(hx.transcribe(new Blob(['no recording']), { timeout: 10_000 }), (error: unknown) => {
    assert.ok(error instanceof HelixError, String(error))
    // Where no provider is set it waits for one.
    return ['provider_not_configured', 'undecodable', 'provider_rejected'].includes(error.code)
  })
})

test('conversations are analysed, and each pattern cites a text', async () => {
  const { job, patterns } = await hx.analyze('emotional_patterns', { conversations: [
    { id: 'monday', text: 'Whenever my manager calls me in without a word of why, I get terribly anxious.' },
    { id: 'wednesday', text: 'My manager asked me into her office again and I was anxious all the way down the corridor.' },
  ] })
  assert.equal(job.status, 'done')
  assert.ok(patterns.some((pattern) => pattern.evidence.includes('monday')), JSON.stringify(patterns))
  cameBy(job.via)
})

test('memories become patterns, which a subscription hears of', async () => {
  const heard: Change<'memory_synthesis'>[] = []
  const stop = hx.subscribe('memory_synthesis', (change) => heard.push(change))
  const { error } = await supabase.from('memories').insert(Array.from({ length: 6 }, (_, i) => ({
    type: 'episodic', content: `Walked along the river, day ${i}.`, created_at: new Date(Date.now() - (5 - i) * 60_000).toISOString() })))
  assert.equal(error, null)
  await until('there is a pattern', () => heard.some((change) => (change.record.synthesis_content ?? '') !== ''))
  stop()
  cameBy(heard[0]!.via)
})

test('a result column is not for a client, in types and in fact', async () => {
  // @ts-expect-error status is helixd's
  const { error } = await supabase.from('skill_runs').insert({ definition: {}, status: 'succeeded' })
  assert.equal(error?.code, '42501')
})

test('two devices edit a note: each counts for itself, and what neither saw is a conflict', async () => {
  const id = randomUUID()
  const laptop = helix(supabase, { device: 'laptop' })
  await supabase.from('sync_policies').upsert({ user_id: (await supabase.auth.getUser()).data.user!.id, entity_type: 'note', strategy: 'manual' }, { onConflict: 'user_id,entity_type' })
  const seen: { phone: Entity[]; laptop: Entity[] } = { phone: [], laptop: [] }
  const stops = [hx.subscribeEntity('note', id, (note) => seen.phone.push(note))]
  await hx.syncPut('note', id, { text: 'one' })
  await until('the phone sees its own', () => seen.phone.length > 0)
  assert.deepEqual(seen.phone.at(-1)!.vectorClock, { phone: 1 })

  stops.push(laptop.subscribeEntity('note', id, (note) => seen.laptop.push(note)))
  await until('the laptop sees it', () => seen.laptop.length > 0)
  await laptop.syncPut('note', id, { text: 'two' })
  await until('the phone sees what the laptop wrote', () => (seen.phone.at(-1)!.data as { text: string }).text === 'two')
  assert.deepEqual(seen.phone.at(-1)!.vectorClock, { phone: 1, laptop: 1 })
  cameBy(seen.phone.at(-1)!.via)

  stops.pop()!() // the laptop is offline
  await Promise.all([hx.syncPut('note', id, { text: 'three' }), hx.syncPut('note', id, { text: 'four' })])
  await until('the phone sees its own', () => (seen.phone.at(-1)!.data as { text: string }).text === 'four')
  assert.equal(seen.phone.at(-1)!.vectorClock.phone, 3)
  await laptop.syncPut('note', id, { text: 'five' })
  const conflicts = () => supabase.from('sync_conflicts').select('id, kind').eq('entity_id', id).eq('resolved', false)
  await until('there is a conflict', async () => (await conflicts()).data!.length === 1)
  const [conflict] = (await conflicts()).data!
  assert.equal(conflict!.kind, 'concurrent')
  await hx.resolveConflict(conflict!.id, { data: { text: 'four and five' } })
  await until('it is resolved', () => (seen.phone.at(-1)!.data as { text: string }).text === 'four and five')
  await assert.rejects(hx.resolveConflict(randomUUID(), { winner: 0 }), code('not_found'))

  // The page is loaded anew: the clock comes back from what the device wrote.
  const again = helix(supabase, { device: 'phone' })
  stops.push(again.subscribeEntity('note', id, () => {}))
  await again.syncPut('note', id, { text: 'six' })
  await until('it stands', () => (seen.phone.at(-1)!.data as { text: string }).text === 'six')
  assert.equal(seen.phone.at(-1)!.vectorClock.phone, 4)
  for (const stop of stops) stop()
})

test('the status says that processing is online', async () => {
  const { online, reactors } = await hx.status()
  assert.equal(online, true)
  assert.ok(reactors.some((reactor) => reactor.reactor === 'skills'))
})
