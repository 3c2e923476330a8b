// helixd from supabase-js: `const hx = helix(supabase)`.
import type { PostgrestSingleResponse } from '@supabase/supabase-js'
import type { Json, Tables } from './database.types.ts'
import { Entities, type Clock, type Entity } from './entity.ts'
import { errorOfRequest, HelixError } from './error.ts'
import { feedOf, type Pace } from './feed.ts'
import { result, subscribe, type Ended, type SubscribeOptions, type WaitOptions } from './rows.ts'
import type { AnyClient, Change, Client, Job, Table, Via } from './tables.ts'

export type { Database, Json, Tables, TablesInsert, TablesUpdate } from './database.types.ts'
export type { AnyClient, Change, Clock, Ended, Entity, Job, Pace, SubscribeOptions, Table, Via, WaitOptions }
export { HelixError } from './error.ts'
export { parseMessage, type Message } from './tables.ts'

export interface HelixOptions {
  /** This device's name in vector clocks. Without one a random name is made, and kept in localStorage where there is one. */
  device?: string
  /** How often to look although no message came, in milliseconds. */
  pace?: Partial<Pace>
}

/** How a manual conflict ends: with one of its two versions, with new data, or with the entity's deletion. */
export type Resolution = { winner: 0 | 1 } | { data: { [key: string]: Json } } | { deleted: true }

export interface Conversation { id: string; text: string; timestamp?: string }
export type Analysis = 'emotional_patterns' | 'prospective_self' | 'relational_memory' | 'narrative_coherence' | 'full_synthesis'
export type Skill = { id: string } | { definition: Json }
export type Status = { online: boolean; healthy: boolean; reactors: Tables<'helix_status'>[] }

/** Helpers over a client that is, or will be, signed in as a user. All of one client share one channel. */
export function helix(supabase: AnyClient, options: HelixOptions = {}) {
  const client = supabase as unknown as Client
  const feed = feedOf(client, options.pace)
  const entities = new Entities(client, feed, options.device ?? deviceName())

  return {
    device: entities.device,
    /** How changes come at present. */
    get via(): Via { return feed.via },
    onVia: (watcher: (via: Via) => void) => feed.onVia(watcher),

    /** Calls back with each row that changes, and with those that are there. The same state may come twice. Gives what ends it. */
    subscribe: <T extends Table>(table: T, handler: (change: Change<T>) => void, how?: SubscribeOptions) =>
      subscribe(client, feed, table, handler, how),

    /** Waits for a row to end. */
    result: <T extends Job>(table: T, id: string, wait?: WaitOptions) => result(client, feed, table, id, wait),

    /** Runs a skill, or a definition, and gives its run. */
    async runSkill(skill: Skill, input: Json, wait?: WaitOptions): Promise<Ended<'skill_runs'>> {
      const what = 'id' in skill ? { skill_id: skill.id } : { definition: skill.definition }
      const { id } = ok(await client.from('skill_runs').insert({ ...what, input }).select('id').single())
      return result(client, feed, 'skill_runs', id, wait)
    },

    /** Has speech transcribed: what MediaRecorder made, or any file of up to 50 MB. */
    async transcribe(audio: Blob, { language, memo, ...wait }: WaitOptions & { language?: string; memo?: boolean } = {}): Promise<Ended<'voice_recordings'>> {
      const { id } = ok(await client.from('voice_recordings')
        .insert({ audio_data: await hex(audio), mime_type: audio.type || null, language: language ?? null, memo: memo ?? false }).select('id').single())
      return result(client, feed, 'voice_recordings', id, wait)
    },

    /** Has conversations analysed, or the user's memories; gives the order and the patterns that were found, the surest first. */
    async analyze(type: Analysis, { conversations, ...wait }: WaitOptions & { conversations?: Conversation[] } = {}) {
      const { id } = ok(await client.from('memory_synthesis_jobs')
        .insert({ synthesis_type: type, conversations: (conversations as unknown as Json) ?? null }).select('id').single())
      const job = await result(client, feed, 'memory_synthesis_jobs', id, wait)
      const patterns = ok(await client.from('memory_patterns').select('*, synthesis_recommendations(recommendation)')
        .eq('job_id', id).order('confidence', { ascending: false }))
      return { job, patterns }
    },

    /** Writes this device's version of an entity: it has seen what subscribeEntity gave it, and nothing else. */
    syncPut: (type: string, id: string, data: Json, { deleted = false } = {}) => entities.put(type, id, data, deleted),

    /** Calls back with an entity's resolved state. */
    subscribeEntity: (type: string, id: string, handler: (entity: Entity) => void) => entities.subscribe(type, id, handler),

    /** Decides an open manual conflict. */
    async resolveConflict(id: string, resolution: Resolution): Promise<void> {
      const row = ok(await client.from('sync_conflicts').update({ resolution }).eq('id', id).select('id').maybeSingle())
      if (!row) throw new HelixError('not_found', 'there is no such conflict of yours', false)
    },

    /** Whether processing is online: a page says so instead of letting people wait. */
    async status(): Promise<Status> {
      const reactors = ok(await client.from('helix_status').select('*').order('reactor'))
      return { online: reactors.some((r) => r.running), healthy: reactors.length > 0 && reactors.every((r) => r.healthy), reactors }
    },
  }
}

export type Helix = ReturnType<typeof helix>

function ok<T>({ data, error }: PostgrestSingleResponse<T>): T {
  if (error) throw errorOfRequest(error)
  return data
}

/** Bytes as the Data API takes them. */
async function hex(blob: Blob): Promise<string> {
  const bytes = new Uint8Array(await blob.arrayBuffer())
  return '\\x' + Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function deviceName(): string {
  const kept = globalThis.localStorage?.getItem('helix.device')
  if (kept) return kept
  const name = crypto.randomUUID()
  globalThis.localStorage?.setItem('helix.device', name)
  return name
}
