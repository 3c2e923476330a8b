// One note on two devices: they edit it at once, and both see what it comes to.
import { randomUUID } from 'node:crypto'
import { helix, type Entity } from '../helix.ts'
import { leave, supabase, user } from './session.ts'

const phone = helix(supabase, { device: 'phone' })
const laptop = helix(supabase, { device: 'laptop' })
const id = randomUUID()

await supabase.from('sync_policies').upsert({ user_id: user.id, entity_type: 'note', strategy: 'manual' }, { onConflict: 'user_id,entity_type' })

const seen = (device: typeof phone, is: (note: Entity) => boolean) => new Promise<Entity>((resolve) => {
  const stop = device.subscribeEntity('note', id, (note) => {
    if (!is(note)) return
    stop()
    resolve(note)
  })
})

await phone.syncPut('note', id, { text: 'Buy milk' })
const first = await seen(laptop, () => true)
console.log('the laptop sees', first.data, first.vectorClock)

// Neither has seen the other's: a conflict, which the user is to decide.
const conflict = new Promise<string>((resolve) => {
  const stop = phone.subscribe('sync_conflicts', (change) => {
    if (change.op === 'DELETE' || change.record.entity_id !== id || change.record.resolved) return
    stop()
    resolve(change.id)
  })
})
await laptop.syncPut('note', id, { text: 'Buy milk and bread' })
await phone.syncPut('note', id, { text: 'Buy oat milk' })
await phone.resolveConflict(await conflict, { data: { text: 'Buy oat milk and bread' } })

const last = await seen(laptop, (note) => JSON.stringify(note.data).includes('oat milk and bread'))
console.log('both have', last.data, `by ${last.via}`)
await leave()
