-- What skills' host calls keep: secrets, keys and values, and the audit's chains.
-- Every statement may run again.

set local lock_timeout = '2s'; -- a foreign key to auth.users locks it: better to try again than to queue sign-ins

create table if not exists helix.secrets (
  user_id uuid not null references auth.users (id) on delete cascade,
  name text not null check (name ~ '^[a-z0-9_-]{1,64}$'),
  hosts text[] not null default '{}',
  ciphertext bytea,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (user_id, name)
);
comment on table helix.secrets is 'what helixd puts into the headers of skills'' requests; helixd secret writes it';
comment on column helix.secrets.hosts is 'that it may be sent to; none: to each that the skill may reach';
comment on column helix.secrets.ciphertext is
  'age, to the recipient of HELIX_AGE_KEY; null: the value is in Supabase Vault, as helix/<user_id>/<name>';

create table if not exists helix.skill_kv (
  user_id uuid not null references auth.users (id) on delete cascade,
  skill_id uuid not null references public.skills (id) on delete cascade,
  key text collate "C" not null check (octet_length(key) between 1 and 512),
  value jsonb not null,
  updated_at timestamptz not null default now(),
  primary key (user_id, skill_id, key)
);
comment on table helix.skill_kv is 'what skills keep between runs, for each user by itself';
create index if not exists skill_kv_skill_id_idx on helix.skill_kv (skill_id);

create table if not exists helix.audit_heads (
  user_id uuid primary key references auth.users (id) on delete cascade,
  seq bigint not null,
  hash bytea not null
);
comment on table helix.audit_heads is 'the last entry of each user''s chain; who appends locks it';

create table if not exists helix.audit (
  user_id uuid not null references auth.users (id) on delete cascade,
  seq bigint not null,
  at timestamptz not null,
  run_id uuid,
  skill_id uuid,
  event jsonb not null,
  prev_hash bytea not null,
  hash bytea not null,
  primary key (user_id, seq)
);
comment on table helix.audit is
  'grants, denials and host calls of skills: of each user a chain, in which an entry''s hash covers the one before; helixd audit verify';
comment on column helix.audit.run_id is 'no foreign key, nor of skill_id: a run that is deleted must not change the chain';

revoke all on helix.secrets, helix.skill_kv, helix.audit_heads, helix.audit from public, anon, authenticated, service_role;
-- It may truncate public.skills, which takes this table along; the schema stays closed to it.
grant truncate on helix.skill_kv to service_role;
