// What the helper knows of helixd's tables, and what a message about one says.
import type { SupabaseClient } from '@supabase/supabase-js'
import type { Database, Tables } from './database.types.ts'

/** Any client: an app's own types may have more tables, or none. */
export type AnyClient = SupabaseClient<any, any, any>
export type Client = SupabaseClient<Database>

type About = { columns: string; newest: string; id?: string; ends?: { good: string[]; bad: string[] } }

/** The tables that can be subscribed to: what is selected of them (no audio, no bytecode, no embeddings), which rows are the newest, and where `status` ends. */
export const about = {
  memories: { columns: 'id,type,content,emotional_valence,created_at,last_accessed', newest: 'created_at' },
  memory_synthesis: { columns: '*', newest: 'updated_at' },
  memory_retention: { columns: '*', newest: 'last_reinforced', id: 'memory_id' },
  psychology_layers: { columns: '*', newest: 'last_updated' },
  memory_synthesis_jobs: {
    columns: 'id,created_at,synthesis_type,status,progress,summary,analysis,layer,provider,error,input_tokens,output_tokens,execution_time_ms,finished_at',
    newest: 'created_at', ends: { good: ['done'], bad: ['failed'] },
  },
  memory_patterns: { columns: '*', newest: 'created_at' },
  synthesis_recommendations: { columns: '*', newest: 'created_at' },
  skills: {
    columns: 'id,name,description,kind,parameters,capabilities,version,enabled,visibility,tags,schedule,created_at,status,error,checks,sha256,checked_at,usage_count',
    newest: 'created_at', ends: { good: ['ready'], bad: ['invalid'] },
  },
  skill_runs: {
    columns: 'id,skill_id,input,dry_run,created_at,status,output,error,step_results,steps_completed,total_steps,logs,execution_time_ms,started_at,finished_at',
    newest: 'created_at', ends: { good: ['succeeded'], bad: ['failed', 'timed_out', 'cancelled'] },
  },
  voice_recordings: {
    columns: 'id,created_at,storage_path,mime_type,language,status,transcript,transcript_confidence,words,detected_language,duration_ms,provider,error,attempts,processed_at,actions',
    newest: 'created_at', ends: { good: ['done'], bad: ['failed'] },
  },
  sync_entities: { columns: '*', newest: 'updated_at' },
  sync_conflicts: { columns: '*', newest: 'created_at' },
} as const satisfies { [table in keyof Database['public']['Tables']]?: About }

export type Table = keyof typeof about
export type Row<T extends Table> = Tables<T>
/** Tables whose rows come to an end. */
export type Job = { [T in Table]: (typeof about)[T] extends { ends: unknown } ? T : never }[Table]

export const aboutOf = (table: Table): About => about[table]

/** How something was heard of: by private broadcast, by postgres_changes, or by looking. */
export type Via = 'broadcast' | 'postgres_changes' | 'select'
export type Op = 'INSERT' | 'UPDATE' | 'DELETE'

/** One row that has changed, or is there. */
export interface Change<T extends Table = Table> {
  op: Op
  table: T
  id: string
  status: string | null
  /** Its columns, as far as the message has them: values of more than 4 KB are left out of a broadcast. */
  record: Partial<Row<T>>
  via: Via
}

/** A broadcast of helixd's. Without an id it stands for many rows, which are to be selected. */
export interface Message {
  op: Op
  table: Table
  key: Record<string, unknown> | null
  id: string | null
  status: string | null
  record: Record<string, unknown> | null
  rows?: number
}

/** Reads a broadcast; null: it is none of helixd's that this helper knows. */
export function parseMessage(event: string, payload: unknown): Message | null {
  if (typeof payload !== 'object' || payload === null) return null
  const m = payload as Message
  const nullOr = (type: string, value: unknown) => value === null || typeof value === type
  if (m.table !== event || !(m.table in about) || !['INSERT', 'UPDATE', 'DELETE'].includes(m.op)) return null
  if (![nullOr('string', m.id), nullOr('string', m.status), nullOr('object', m.key), nullOr('object', m.record)].every(Boolean)) return null
  if (m.id === null && typeof m.rows !== 'number') return null
  return m
}
