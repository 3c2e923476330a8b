// One note, edited on two devices: two panes that know of each other only by what helixd resolves.
import type { SupabaseClient } from '@supabase/supabase-js'
import { helix, type Database, type Entity, type Helix, type Resolution } from '../../js/helix.ts'
import { $, act, make, show } from './dom.ts'

export function note(supabase: SupabaseClient<Database>, user: string) {
  const id = user // one note a user; any uuid would do
  const devices = ['phone', 'laptop'].map((name) => helix(supabase, { device: name }))
  // Versions that neither device had seen are for the user to decide.
  act(async () => {
    const { error } = await supabase.from('sync_policies').upsert({ user_id: user, entity_type: 'note', strategy: 'manual' }, { onConflict: 'user_id,entity_type' })
    if (error) throw error
  })
  const stops = devices.map((device) => pane(device, id))
  stops.push(conflicts(supabase, devices[0]!, id))
  return () => {
    for (const stop of stops) stop()
    $('#devices').replaceChildren()
  }
}

function pane(device: Helix, id: string) {
  const text = make('textarea', { rows: 3, ariaLabel: `The note on the ${device.device}` })
  const online = make('input', { type: 'checkbox', checked: true })
  const save = make('button', {}, 'Save')
  const state = make('p', { className: 'state' })
  state.setAttribute('role', 'status')
  let unsent = false
  let stop = () => {}

  const adopt = (note: Entity) => {
    text.value = String((note.data as { text?: string } | null)?.text ?? '')
    state.replaceChildren(`Revision ${note.revision}`, make('span', { className: 'via' }, note.via))
    Object.assign(state.dataset, { revision: String(note.revision), via: note.via })
  }
  const put = async () => {
    unsent = false
    await device.syncPut('note', id, { text: text.value })
  }
  const connect = async () => {
    if (unsent) await put() // before it sees what the other device wrote
    stop = device.subscribeEntity('note', id, adopt)
  }
  save.onclick = () => act(async () => {
    if (online.checked) return put()
    unsent = true
    state.textContent = 'Saved here; will be sent'
  }, save)
  online.onchange = () => act(async () => (online.checked ? connect() : stop()))
  void connect()

  $('#devices').append(make('fieldset', { id: device.device }, make('legend', {}, device.device), text,
    make('div', { className: 'row' }, save, make('label', { className: 'check' }, online, 'online')), state))
  return () => stop()
}

interface Version { device_id?: string; data?: { text?: string } | null }

function conflicts(supabase: SupabaseClient<Database>, device: Helix, id: string) {
  const list = $('#conflicts')
  const draw = async (conflict: string, via: Parameters<typeof show>[1]['via']) => {
    const { data: row } = await supabase.from('sync_conflicts').select('id, kind, versions, resolved').eq('id', conflict).eq('entity_id', id).maybeSingle()
    if (!row) return
    const versions = row.versions as unknown as Version[]
    const decide = (label: string, resolution: Resolution) => {
      const button = make('button', { className: 'quiet' }, label)
      button.onclick = () => act(() => device.resolveConflict(row.id, resolution), button)
      return button
    }
    const texts = versions.map((version) => version.data?.text ?? '')
    show(list, { table: 'sync_conflicts', id: row.id, status: row.resolved ? 'resolved' : 'open', ended: row.resolved ? 'good' : 'bad', via,
      text: `${row.resolved ? 'Decided' : 'Which one?'} ${texts.map((text) => `“${text}”`).join(' or ')}`,
      buttons: row.resolved ? [] : [...texts.map((text, i) => decide(`Keep “${text.slice(0, 20)}”`, { winner: i as 0 | 1 })),
        decide('Keep both', { data: { text: texts.join('\n') } })] })
  }
  return device.subscribe('sync_conflicts', ({ op, id: conflict, via }) => { if (op !== 'DELETE') void draw(conflict, via) })
}
