// A recording becomes text: npx tsx features/voice.ts talk.webm
import { readFile } from 'node:fs/promises'
import { helix } from '../helix.ts'
import { leave, supabase } from './session.ts'

const [file] = process.argv.slice(2)
if (!file) throw new Error('name a recording')

const recording = await helix(supabase).transcribe(new Blob([await readFile(file)]), { timeout: 300_000 })
console.log(recording.transcript, `(${recording.duration_ms} ms, by ${recording.via})`)
await leave()
