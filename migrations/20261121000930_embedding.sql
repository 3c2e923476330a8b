-- Which memories want an embedding, and what is known of asking for it. Every
-- statement may run again.

set local lock_timeout = '2s'; -- a foreign key to auth.users locks it: better to try again than to queue sign-ins

do $$
begin
  call helix.require_adoptable('{"memories": {"boolean": "embedding_stale"}}', '{}');
end $$;

-- False for what is there already: its embeddings are bought by hand.
alter table public.memories add column if not exists embedding_stale boolean not null default false;
comment on column public.memories.embedding_stale is
  'the embedding is missing, or of what content was before: helixd makes one';

-- No foreign key to memories: an app that deletes one and has not committed yet
-- would hold up all that helixd applies. A deletion is told of in the inbox.
create table if not exists helix.embedding_work (
  memory_id uuid primary key,
  user_id uuid not null references auth.users (id) on delete cascade,
  created_at timestamptz,
  by_hand boolean not null default false,
  tries integer not null default 0,
  retry_at timestamptz,
  content_rev bigint,
  reason jsonb
);
comment on table helix.embedding_work is 'memories that wait for an embedding';
comment on column helix.embedding_work.created_at is 'the memory''s: the newest are first';
comment on column helix.embedding_work.by_hand is 'it was there before helixd was, and somebody has asked for its embedding';
comment on column helix.embedding_work.retry_at is 'not before then, as long as the memory''s content_rev is this one; null: now';
comment on column helix.embedding_work.reason is 'why it has none yet, in the form of a row''s error';
create index if not exists embedding_work_user_id_idx on helix.embedding_work (user_id, created_at desc nulls last, memory_id);

create table if not exists helix.embedding_queues (
  user_id uuid primary key references auth.users (id) on delete cascade,
  due boolean not null default false,
  tries integer not null default 0,
  retry_at timestamptz,
  reason jsonb
);
comment on table helix.embedding_queues is 'users whose memories wait, or have waited, for embeddings; whoever ends a job locks the row while it looks for more';
comment on column helix.embedding_queues.due is 'there is a job that has not begun';
comment on column helix.embedding_queues.tries is 'requests in a row that came to nothing';
comment on column helix.embedding_queues.retry_at is 'nothing of the user''s is asked for before then; null: now';
comment on column helix.embedding_queues.reason is 'why not';

create table if not exists helix.embedding_pace (
  one boolean primary key default true check (one),
  free_at timestamptz not null
);
comment on table helix.embedding_pace is 'when the next texts may be sent, of all processes, where an operator bounds the rate';

revoke all on helix.embedding_work, helix.embedding_queues, helix.embedding_pace from public, anon, authenticated, service_role;
