-- What was asked of providers: by whom, of whom, and for how much. Every
-- statement may run again.

set local lock_timeout = '2s'; -- a foreign key to auth.users locks it: better to try again than to queue sign-ins

create table if not exists helix.usage (
  user_id uuid not null references auth.users (id) on delete cascade,
  day date not null,
  purpose text not null,
  provider text not null,
  requests bigint not null,
  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  held_tokens bigint not null default 0,
  cost_usd numeric,
  primary key (user_id, day, purpose, provider)
);
comment on table helix.usage is 'requests to providers and their tokens, by user and day; helixd usage prints it';
comment on column helix.usage.day is 'in UTC, on which the request was made; its answer may have come on the next';
comment on column helix.usage.purpose is 'analysis, embedding or skill';
comment on column helix.usage.requests is 'counted before they are made';
comment on column helix.usage.held_tokens is
  'the most that requests may have taken which are under way, or whose end nobody saw; budgets count them';
comment on column helix.usage.cost_usd is 'of input_tokens and output_tokens; null: no price was known';
create index if not exists usage_day_idx on helix.usage (day);

create table if not exists helix.usage_totals (
  day date not null,
  purpose text not null,
  provider text not null,
  requests bigint not null,
  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  held_tokens bigint not null default 0,
  cost_usd numeric,
  primary key (day, purpose, provider)
);
comment on table helix.usage_totals is
  'helix.usage in all, with that of accounts that are gone: a deleted account gives no budget back';

create table if not exists helix.usage_holds (
  id uuid primary key,
  user_id uuid not null references auth.users (id) on delete cascade,
  day date not null,
  purpose text not null,
  provider text not null,
  tokens bigint not null,
  made_at timestamptz not null
);
comment on table helix.usage_holds is
  'requests of which it is not yet known what they took: until then helix.usage has what they may take, as held_tokens';
comment on column helix.usage_holds.made_at is 'one that nobody has settled in a day goes, and what it held stands';
create index if not exists usage_holds_user_id_idx on helix.usage_holds (user_id);
create index if not exists usage_holds_made_at_idx on helix.usage_holds (made_at);

comment on column helix.instance.secret is
  'proves that a logical message in the write-ahead log is helixd''s own: any user may emit messages; and keys the '
  'pseudonyms of users that providers are told';

revoke all on helix.usage, helix.usage_totals, helix.usage_holds from public, anon, authenticated, service_role;
