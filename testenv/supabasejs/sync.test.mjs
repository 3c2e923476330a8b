import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, test } from 'node:test'
import { anon, ok, refused, signedIn, until } from './clients.mjs'

const onConflict = 'user_id,entity_type,entity_id,device_id'
const denied = '42501'
let alice, bob

before(async () => {
  [alice, bob] = [await signedIn('alice'), await signedIn('bob')]
})

const states = user => user.client.from('sync_state')
const write = (user, device_id, text, more) => ({
  user_id: user.id, entity_type: 'note', device_id, data: { text }, vector_clock: { [device_id]: 1 }, ...more,
})

test('an insert gives the row, with its defaults', async () => {
  const row = ok(await states(alice).insert({ entity_type: 'note', entity_id: randomUUID(), device_id: 'phone' }).select().single())
  assert.equal(row.user_id, alice.id)
  assert.deepEqual(row.vector_clock, {})
  assert.equal(row.deleted, false)
  assert.ok(row.id && row.created_at && row.last_modified)
})

test('what a row of a bulk insert leaves out becomes its default', async () => {
  const id = randomUUID()
  ok(await states(alice).insert([
    { entity_type: 'note', entity_id: id, device_id: 'phone', vector_clock: { phone: 1 }, deleted: true, last_modified: '2026-01-01T00:00:00Z' },
    { entity_type: 'note', entity_id: id, device_id: 'laptop', user_id: alice.id, id: randomUUID() },
    // What the Data API of a hosted project makes of a row that leaves columns out.
    { entity_type: 'note', entity_id: id, device_id: 'tablet', id: null, user_id: null, vector_clock: null, deleted: null, last_modified: null },
  ]))
  // Selected: supabase-lite would return the nulls that it sent.
  const [laptop, phone, tablet] = ok(await states(alice).select().eq('entity_id', id).order('device_id'))
  for (const row of [laptop, tablet]) {
    assert.deepEqual(row.vector_clock, {})
    assert.equal(row.deleted, false)
    assert.ok(row.last_modified)
  }
  assert.equal(tablet.user_id, alice.id)
  assert.equal(phone.user_id, alice.id)
  assert.ok(phone.id)
})

test('an upsert on the four keys keeps the row and changes it', async () => {
  const entity_id = randomUUID()
  const first = ok(await states(alice).upsert(write(alice, 'phone', 'one', { entity_id }), { onConflict }).select().single())
  const again = ok(await states(alice).upsert(write(alice, 'phone', 'two', { entity_id }), { onConflict }).select().single())
  assert.equal(again.id, first.id)
  assert.equal(again.data.text, 'two')
})

test('an upsert on fewer keys is refused', async () => {
  const row = write(alice, 'phone', 'one', { entity_id: randomUUID() })
  refused(await states(alice).upsert(row, { onConflict: 'entity_id,device_id' }), '42P10', /ON CONFLICT/)
})

test('select, update and delete reach the own rows', async () => {
  const entity_id = randomUUID()
  ok(await states(alice).insert(write(alice, 'phone', 'one', { entity_id })))
  const [updated] = ok(await states(alice).update({ data: { text: 'two' } }).eq('entity_id', entity_id).select())
  assert.equal(updated.data.text, 'two')
  assert.equal(ok(await states(alice).select().eq('entity_id', entity_id)).length, 1)
  assert.equal(ok(await states(alice).delete().eq('entity_id', entity_id).select()).length, 1)
  assert.equal(ok(await states(alice).select().eq('entity_id', entity_id)).length, 0)
})

test("another's rows cannot be seen, changed, deleted or made", async () => {
  const entity_id = randomUUID()
  const row = write(bob, 'phone', "bob's", { entity_id })
  ok(await states(bob).insert(row))
  for (const answer of [
    await states(alice).select().eq('entity_id', entity_id),
    await states(alice).update({ data: { text: 'forged' } }).eq('entity_id', entity_id).select(),
    await states(alice).delete().eq('entity_id', entity_id).select(),
  ]) assert.deepEqual(ok(answer), [])
  refused(await states(alice).insert({ ...row, device_id: 'laptop' }), denied, /row-level security/)
  refused(await states(alice).upsert(row, { onConflict }), denied, /row-level security/)
  assert.equal(ok(await states(bob).select().eq('entity_id', entity_id).single()).data.text, "bob's")
})

test('a key cannot change, and the refusal names it', async () => {
  const entity_id = randomUUID()
  ok(await states(alice).insert(write(alice, 'phone', 'one', { entity_id })))
  for (const [column, value] of Object.entries({ user_id: bob.id, entity_type: 'other', entity_id: randomUUID(), device_id: 'laptop', id: randomUUID() }))
    refused(await states(alice).update({ [column]: value }).eq('entity_id', entity_id), denied, new RegExp(`sync_state\\.${column} `))
})

test('without an account nothing is allowed', async () => {
  for (const table of ['sync_state', 'sync_entities', 'sync_conflicts']) {
    refused(await anon().from(table).select(), denied, /permission denied/)
    refused(await anon().from(table).insert({ user_id: alice.id }), denied, /permission denied/)
    refused(await anon().from(table).update({ user_id: alice.id }).eq('user_id', alice.id), denied, /permission denied/)
    refused(await anon().from(table).delete().eq('user_id', alice.id), denied, /permission denied/)
  }
})

test('helixd resolves what the devices of a user wrote', async () => {
  const entity_id = randomUUID()
  const entities = () => alice.client.from('sync_entities').select().eq('entity_id', entity_id)
  ok(await states(alice).upsert(write(alice, 'phone', 'one', { entity_id }), { onConflict }))
  const [one] = await until(entities, rows => rows.length === 1)
  assert.equal(one.data.text, 'one')
  const seen = { ...one.vector_clock, laptop: 1 }
  ok(await states(alice).upsert(write(alice, 'laptop', 'two', { entity_id, vector_clock: seen }), { onConflict }))
  const [two] = await until(entities, ([row]) => row.revision > one.revision)
  assert.equal(two.data.text, 'two')
  assert.equal(two.id, one.id)
  assert.deepEqual(ok(await bob.client.from('sync_entities').select().eq('entity_id', entity_id)), [])
})

test('results are only read', async () => {
  const entity_id = randomUUID()
  for (const device of ['phone', 'laptop']) // neither has seen the other
    ok(await states(alice).upsert(write(alice, device, device, { entity_id }), { onConflict }))
  const conflicts = alice.client.from('sync_conflicts')
  const [conflict] = await until(() => conflicts.select().eq('entity_id', entity_id), rows => rows.length > 0)
  refused(await conflicts.update({ strategy: 'manual' }).eq('id', conflict.id), denied, /sync_conflicts\.strategy /)
  refused(await conflicts.update({ resolution: {} }).eq('id', conflict.id), denied, /sync_conflicts\.resolution /)
  refused(await conflicts.delete().eq('id', conflict.id), denied, /permission denied/)
  const entities = alice.client.from('sync_entities')
  refused(await entities.update({ data: {} }).eq('entity_id', entity_id), denied, /permission denied/)
  refused(await entities.delete().eq('entity_id', entity_id), denied, /permission denied/)
})
