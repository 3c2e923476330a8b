// Signs in and out, and says whether processing is online and which way results come.
import { createClient } from '@supabase/supabase-js'
import { helix, type Database } from '../../js/helix.ts'
import { $, act, onSubmit } from './dom.ts'
import { analyses } from './analysis.ts'
import { memories } from './memories.ts'
import { note } from './note.ts'
import { skills } from './skill.ts'
import { voice } from './voice.ts'

const supabase = createClient<Database>(import.meta.env.VITE_SUPABASE_URL, import.meta.env.VITE_SUPABASE_ANON_KEY)
const hx = helix(supabase)

let user: string | undefined
let stops: (() => void)[] = []

supabase.auth.onAuthStateChange((_, session) => {
  setTimeout(() => signedIn(session?.user)) // Auth holds its lock until this callback returns
})

function signedIn(now: { id: string; email?: string } | undefined) {
  $('#sign-in').hidden = !!now
  $('main').hidden = $('#who').hidden = !now
  $('#email').textContent = now?.email ?? ''
  if (now?.id === user) return
  user = now?.id
  for (const stop of stops) stop()
  for (const list of document.querySelectorAll('.results')) list.replaceChildren()
  stops = now ? [memories(supabase, hx), voice(hx), skills(hx), analyses(hx), note(supabase, now.id), watchStatus()] : []
}

const used = ['analysis', 'skills', 'sync', 'synthesis', 'voice'] // by this page

/** Looks every ten seconds whether processing is online. */
function watchStatus() {
  const banner = $('#banner')
  const look = async () => {
    const status = await hx.status().catch(() => null)
    const ill = status?.reactors.filter(({ reactor, running, healthy }) => running && !healthy && used.includes(reactor ?? '')).map(({ reactor }) => reactor) ?? []
    banner.textContent = status === null ? 'The project does not answer.'
      : !status.online ? 'Processing is offline. What you write is kept, and is worked on when it is back.'
      : ill.length ? `Not all is well with ${ill.join(', ')}: its results may wait.` : ''
    banner.hidden = banner.textContent === ''
  }
  void look()
  const timer = setInterval(look, 10_000)
  return () => clearInterval(timer)
}

hx.onVia((via) => { $('#via').textContent = via })

onSubmit('#sign-in', async (field, _, button) => {
  const account = { email: field('email'), password: field('password') }
  const { data, error } = await (button === 'up' ? supabase.auth.signUp(account) : supabase.auth.signInWithPassword(account))
  if (error) throw error
  if (!data.session) throw new Error('Confirm your address by the mail that was sent, then sign in.')
})
$('#leave').addEventListener('click', () => act(async () => void (await supabase.auth.signOut())))
