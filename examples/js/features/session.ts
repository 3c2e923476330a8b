// Signs in with what the environment says: SUPABASE_URL, SUPABASE_ANON_KEY, EMAIL, PASSWORD.
import { createClient } from '@supabase/supabase-js'
import WebSocket from 'ws'
import type { Database } from '../helix.ts'

const { SUPABASE_URL, SUPABASE_ANON_KEY, EMAIL, PASSWORD } = process.env
if (!SUPABASE_URL || !SUPABASE_ANON_KEY || !EMAIL || !PASSWORD) throw new Error('set SUPABASE_URL, SUPABASE_ANON_KEY, EMAIL and PASSWORD')

export const supabase = createClient<Database>(SUPABASE_URL, SUPABASE_ANON_KEY, {
  auth: { persistSession: false },
  realtime: { transport: WebSocket as never }, // Node 22 and browsers have one of their own
})

const account = { email: EMAIL, password: PASSWORD }
const known = await supabase.auth.signInWithPassword(account)
const { data, error } = known.error ? await supabase.auth.signUp(account) : known
if (error || !data.session) throw error ?? new Error('confirm the address by the mail that was sent, and run this again')
export const user = data.session.user

/** Ends the session, so that the program can end. */
export async function leave() {
  await supabase.auth.stopAutoRefresh()
  await supabase.realtime.disconnect()
}
