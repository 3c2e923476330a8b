// Written by examples/js/gen: helixd's tables, views and functions. Insert and Update have what a client may write.

export type Json = string | number | boolean | null | { [key: string]: Json | undefined } | Json[]

export type Database = {
  public: {
    Tables: {
      memories: {
        Row: {
          content: string | null
          content_rev: number
          created_at: string
          embedding: string | null
          embedding_indexed: boolean
          embedding_stale: boolean
          emotional_valence: number | null
          id: string
          last_accessed: string | null
          type: string | null
          user_id: string
        }
        Insert: {
          content?: string | null
          created_at?: string
          embedding?: string | null
          emotional_valence?: number | null
          id?: string
          last_accessed?: string | null
          type?: string | null
          user_id?: string
        }
        Update: {
          content?: string | null
          created_at?: string
          embedding?: string | null
          emotional_valence?: number | null
          last_accessed?: string | null
          type?: string | null
        }
        Relationships: []
      }
      memory_patterns: {
        Row: {
          confidence: number
          content: Json
          created_at: string
          description: string
          evidence: string[]
          id: string
          job_id: string
          layer: number | null
          pattern_type: string
          user_id: string
        }
        Insert: never
        Update: never
        Relationships: [
          {
            foreignKeyName: "memory_patterns_job_id_fkey"
            columns: ["job_id"]
            isOneToOne: false
            referencedRelation: "memory_synthesis_jobs"
            referencedColumns: ["id"]
          },
        ]
      }
      memory_retention: {
        Row: {
          difficulty: number
          last_accessed: string | null
          last_reinforced: string
          memory_id: string
          reinforcements: number
          stability_hours: number
          user_id: string
        }
        Insert: never
        Update: never
        Relationships: [
          {
            foreignKeyName: "memory_retention_memory_id_fkey"
            columns: ["memory_id"]
            isOneToOne: true
            referencedRelation: "memories"
            referencedColumns: ["id"]
          },
        ]
      }
      memory_synthesis: {
        Row: {
          confidence_score: number | null
          created_at: string
          details: Json | null
          fingerprint: string | null
          id: string
          memory_ids: string[] | null
          pattern_type: string | null
          synthesis_content: string | null
          updated_at: string | null
          user_id: string
        }
        Insert: never
        Update: never
        Relationships: []
      }
      memory_synthesis_jobs: {
        Row: {
          analysis: Json | null
          conversations: Json | null
          created_at: string
          error: Json | null
          execution_time_ms: number | null
          finished_at: string | null
          id: string
          input_tokens: number | null
          layer: number | null
          output_tokens: number | null
          progress: number
          provider: string | null
          status: string
          summary: string | null
          synthesis_type: string
          time_range: string | null
          user_id: string
        }
        Insert: {
          conversations?: Json | null
          created_at?: string
          id?: string
          synthesis_type: string
          time_range?: string | null
          user_id?: string
        }
        Update: {
          created_at?: string
        }
        Relationships: []
      }
      privacy_settings: {
        Row: {
          created_at: string
          id: string
          opt_out: string[]
          redact_names: string[]
          user_id: string
        }
        Insert: {
          created_at?: string
          id?: string
          opt_out?: string[]
          redact_names?: string[]
          user_id?: string
        }
        Update: {
          created_at?: string
          opt_out?: string[]
          redact_names?: string[]
        }
        Relationships: []
      }
      psychology_layers: {
        Row: {
          created_at: string
          data: Json | null
          decay_model: string | null
          decay_params: Json | null
          decay_rate: number | null
          id: string
          initial_strength: number
          last_reinforced: string
          last_updated: string | null
          layer_name: string | null
          layer_number: number
          user_id: string
        }
        Insert: {
          created_at?: string
          data?: Json | null
          id?: string
          layer_number: number
          user_id?: string
        }
        Update: {
          created_at?: string
          data?: Json | null
        }
        Relationships: []
      }
      skill_grants: {
        Row: {
          capability: string
          created_at: string
          id: string
          sha256: string
          skill_id: string
          user_id: string
        }
        Insert: {
          capability: string
          created_at?: string
          id?: string
          sha256: string
          skill_id: string
          user_id?: string
        }
        Update: {
          created_at?: string
        }
        Relationships: [
          {
            foreignKeyName: "skill_grants_skill_id_fkey"
            columns: ["skill_id"]
            isOneToOne: false
            referencedRelation: "skills"
            referencedColumns: ["id"]
          },
        ]
      }
      skill_runs: {
        Row: {
          audit_log: Json | null
          cancel_requested: boolean
          cpu_ms: number | null
          created_at: string
          definition: Json | null
          dry_run: boolean
          error: Json | null
          execution_context: Json | null
          execution_time_ms: number | null
          finished_at: string | null
          id: string
          input: Json | null
          logs: string | null
          output: Json | null
          peak_memory_bytes: number | null
          retries_used: number | null
          skill_id: string | null
          started_at: string | null
          status: string
          step_results: Json | null
          steps_completed: number | null
          total_steps: number | null
          user_id: string
        }
        Insert: {
          cancel_requested?: boolean
          created_at?: string
          definition?: Json | null
          dry_run?: boolean
          id?: string
          input?: Json | null
          skill_id?: string | null
          user_id?: string
        }
        Update: {
          cancel_requested?: boolean
          created_at?: string
        }
        Relationships: [
          {
            foreignKeyName: "skill_runs_skill_id_fkey"
            columns: ["skill_id"]
            isOneToOne: false
            referencedRelation: "skills"
            referencedColumns: ["id"]
          },
        ]
      }
      skill_versions: {
        Row: {
          created_at: string
          definition: Json
          id: string
          sha256: string
          skill_id: string
          user_id: string | null
          version: string | null
          wasm_bytecode: string | null
        }
        Insert: never
        Update: never
        Relationships: [
          {
            foreignKeyName: "skill_versions_skill_id_fkey"
            columns: ["skill_id"]
            isOneToOne: false
            referencedRelation: "skills"
            referencedColumns: ["id"]
          },
        ]
      }
      skills: {
        Row: {
          active_sha256: string | null
          capabilities: string[]
          checked_at: string | null
          checks: Json | null
          content_rev: number
          created_at: string
          description: string | null
          enabled: boolean
          error: Json | null
          id: string
          kind: string
          limits: Json | null
          name: string | null
          parameters: Json | null
          schedule: string | null
          sha256: string | null
          source: string | null
          status: string
          steps: Json | null
          tags: string[]
          usage_count: number
          user_id: string | null
          version: string | null
          visibility: string
          wasm_bytecode: string | null
        }
        Insert: {
          active_sha256?: string | null
          capabilities?: string[]
          created_at?: string
          description?: string | null
          enabled?: boolean
          id?: string
          kind?: string
          limits?: Json | null
          name?: string | null
          parameters?: Json | null
          schedule?: string | null
          source?: string | null
          steps?: Json | null
          tags?: string[]
          user_id?: string | null
          version?: string | null
          visibility?: string
          wasm_bytecode?: string | null
        }
        Update: {
          active_sha256?: string | null
          capabilities?: string[]
          created_at?: string
          description?: string | null
          enabled?: boolean
          kind?: string
          limits?: Json | null
          name?: string | null
          parameters?: Json | null
          schedule?: string | null
          source?: string | null
          steps?: Json | null
          tags?: string[]
          version?: string | null
          visibility?: string
          wasm_bytecode?: string | null
        }
        Relationships: []
      }
      sync_conflicts: {
        Row: {
          created_at: string
          entity_id: string
          entity_type: string
          id: string
          kind: string
          resolution: Json | null
          resolved: boolean
          resolved_at: string | null
          strategy: string
          user_id: string
          versions: Json
        }
        Insert: never
        Update: {
          resolution?: Json | null
        }
        Relationships: []
      }
      sync_entities: {
        Row: {
          content_hash: string
          data: Json | null
          deleted: boolean
          device_id: string
          entity_id: string
          entity_type: string
          id: string
          last_modified: string
          merged: boolean
          resolution: string
          revision: number
          seen: Json
          updated_at: string
          user_id: string
          vector_clock: Json
          version_clock: Json | null
        }
        Insert: never
        Update: never
        Relationships: []
      }
      sync_policies: {
        Row: {
          created_at: string
          entity_type: string
          id: string
          options: Json
          strategy: string
          user_id: string
        }
        Insert: {
          created_at?: string
          entity_type: string
          id?: string
          options?: Json
          strategy?: string
          user_id?: string
        }
        Update: {
          created_at?: string
          options?: Json
          strategy?: string
        }
        Relationships: []
      }
      sync_state: {
        Row: {
          base_revision: number | null
          created_at: string
          data: Json | null
          deleted: boolean
          device_id: string
          entity_id: string
          entity_type: string
          id: string
          last_modified: string
          user_id: string
          vector_clock: Json
        }
        Insert: {
          base_revision?: number | null
          created_at?: string
          data?: Json | null
          deleted?: boolean
          device_id: string
          entity_id: string
          entity_type: string
          id?: string
          last_modified?: string
          user_id?: string
          vector_clock?: Json
        }
        Update: {
          base_revision?: number | null
          created_at?: string
          data?: Json | null
          deleted?: boolean
          last_modified?: string
          vector_clock?: Json
        }
        Relationships: []
      }
      synthesis_recommendations: {
        Row: {
          created_at: string
          id: string
          job_id: string
          pattern_id: string | null
          recommendation: string
          user_id: string
        }
        Insert: never
        Update: never
        Relationships: [
          {
            foreignKeyName: "synthesis_recommendations_job_id_fkey"
            columns: ["job_id"]
            isOneToOne: false
            referencedRelation: "memory_synthesis_jobs"
            referencedColumns: ["id"]
          },
          {
            foreignKeyName: "synthesis_recommendations_pattern_id_fkey"
            columns: ["pattern_id"]
            isOneToOne: false
            referencedRelation: "memory_patterns"
            referencedColumns: ["id"]
          },
        ]
      }
      synthesis_settings: {
        Row: {
          created_at: string
          enabled: boolean
          id: string
          memory_limit: number
          min_cluster_size: number
          min_confidence: number
          user_id: string
        }
        Insert: {
          created_at?: string
          enabled?: boolean
          id?: string
          memory_limit?: number
          min_cluster_size?: number
          min_confidence?: number
          user_id?: string
        }
        Update: {
          created_at?: string
          enabled?: boolean
          memory_limit?: number
          min_cluster_size?: number
          min_confidence?: number
        }
        Relationships: []
      }
      voice_commands: {
        Row: {
          arguments: Json | null
          created_at: string
          enabled: boolean
          id: string
          phrase: string
          skill_id: string | null
          user_id: string
        }
        Insert: {
          arguments?: Json | null
          created_at?: string
          enabled?: boolean
          id?: string
          phrase: string
          skill_id?: string | null
          user_id?: string
        }
        Update: {
          arguments?: Json | null
          created_at?: string
          enabled?: boolean
          phrase?: string
          skill_id?: string | null
        }
        Relationships: [
          {
            foreignKeyName: "voice_commands_skill_id_fkey"
            columns: ["skill_id"]
            isOneToOne: false
            referencedRelation: "skills"
            referencedColumns: ["id"]
          },
        ]
      }
      voice_recordings: {
        Row: {
          actions: Json | null
          attempts: number
          audio_data: string | null
          content_rev: number
          created_at: string
          detected_language: string | null
          duration_ms: number | null
          error: Json | null
          id: string
          keep_audio: boolean
          language: string | null
          memo: boolean
          mime_type: string | null
          processed_at: string | null
          processed_audio: string | null
          provider: string | null
          status: string
          storage_path: string | null
          transcript: string | null
          transcript_confidence: number | null
          user_id: string
          words: Json | null
        }
        Insert: {
          audio_data?: string | null
          created_at?: string
          id?: string
          keep_audio?: boolean
          language?: string | null
          memo?: boolean
          mime_type?: string | null
          status?: string
          storage_path?: string | null
          user_id?: string
        }
        Update: {
          audio_data?: string | null
          created_at?: string
          keep_audio?: boolean
          language?: string | null
          memo?: boolean
          mime_type?: string | null
          status?: string
          storage_path?: string | null
        }
        Relationships: []
      }
    }
    Views: {
      helix_status: {
        Row: {
          details: Json | null
          healthy: boolean | null
          lag_seconds: number | null
          queue_depth: number | null
          reactor: string | null
          running: boolean | null
          updated_at: string | null
        }
        Relationships: []
      }
      memories_with_retention: {
        Row: {
          content: string | null
          created_at: string | null
          difficulty: number | null
          emotional_valence: number | null
          id: string | null
          last_accessed: string | null
          last_reinforced: string | null
          reinforcements: number | null
          retention: number | null
          stability_hours: number | null
          type: string | null
          user_id: string | null
        }
        Relationships: []
      }
      public_skills: {
        Row: {
          capabilities: string[] | null
          created_at: string | null
          description: string | null
          enabled: boolean | null
          id: string | null
          kind: string | null
          limits: Json | null
          name: string | null
          parameters: Json | null
          sha256: string | null
          status: string | null
          tags: string[] | null
          usage_count: number | null
          version: string | null
        }
        Relationships: []
      }
    }
    Functions: {
      clone_skill: {
        Args: {
          id: string
        }
        Returns: string
      }
      match_memories: {
        Args: {
          query_embedding: string
          match_count?: number
          min_similarity?: number
          types?: string[]
          weight_retention?: number
        }
        Returns: {
          id: string
          type: string
          content: string
          emotional_valence: number
          created_at: string
          last_accessed: string
          similarity: number
          retention: number
        }[]
      }
      search_transcripts: {
        Args: {
          query: string
          match_count?: number
        }
        Returns: {
          id: string
          created_at: string
          highlights: string
          rank: number
        }[]
      }
    }
    Enums: { [_ in never]: never }
    CompositeTypes: { [_ in never]: never }
  }
}

type Public = Database['public']

export type Tables<T extends keyof (Public['Tables'] & Public['Views'])> = (Public['Tables'] & Public['Views'])[T]['Row']
export type TablesInsert<T extends keyof Public['Tables']> = Public['Tables'][T]['Insert']
export type TablesUpdate<T extends keyof Public['Tables']> = Public['Tables'][T]['Update']
