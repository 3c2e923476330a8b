-- The vector index of memories has a budget: some may be out of it. Every
-- statement may run again.

set local lock_timeout = '2s';

do $$
begin
  call helix.require_adoptable('{"memories": {"boolean": "embedding_indexed"}}', '{}');
end $$;

alter table public.memories add column if not exists embedding_indexed boolean not null default true;
comment on column public.memories.embedding_indexed is
  'false: match_memories compares it with each query, since the vector index is at its budget';
create index if not exists memories_unindexed_idx on public.memories (user_id) where not embedding_indexed;
