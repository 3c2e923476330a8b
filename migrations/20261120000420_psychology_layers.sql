-- psychology_layers: seven a user. Every statement may run again.

set local lock_timeout = '2s'; -- a foreign key to auth.users locks it: better to try again than to queue sign-ins

create table if not exists public.psychology_layers (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null default auth.uid() references auth.users (id) on delete cascade,
  layer_number integer not null
);
alter table public.psychology_layers -- a project may have it, with some of these
  add column if not exists layer_number integer,
  add column if not exists layer_name text,
  add column if not exists data jsonb,
  add column if not exists decay_rate double precision default 1,
  add column if not exists last_updated timestamptz default now(),
  add column if not exists initial_strength double precision not null default 1 check (initial_strength between 0 and 1),
  add column if not exists last_reinforced timestamptz not null default now(),
  add column if not exists decay_model text check (decay_model in ('ebbinghaus', 'half_life', 'power', 'fsrs')),
  add column if not exists decay_params jsonb,
  add column if not exists created_at timestamptz not null default now();
do $$
begin
  call helix.add_default('psychology_layers', 'id', 'gen_random_uuid()');
  call helix.add_default('psychology_layers', 'user_id', 'auth.uid()');
  call helix.add_default('psychology_layers', 'decay_rate', '1');
  call helix.add_default('psychology_layers', 'last_updated', 'now()');
  call helix.add_unique_key('psychology_layers', 'psychology_layers_layer_key', '{user_id,layer_number}', 'last_updated');
  call helix.protect('psychology_layers', 'select, insert, update, delete');
end $$;
comment on column public.psychology_layers.decay_rate is
  'retention now, 0 to 1; within 0.01 of what helix.layer_retention gives';
comment on column public.psychology_layers.last_updated is
  'when the row was written; elapsed time counts from last_reinforced, which only a reinforcement moves';
comment on column public.psychology_layers.decay_model is 'null: the layer''s own, see helix.layer_retention';
comment on column public.psychology_layers.decay_params is
  '{"hours": 168} of ebbinghaus, half_life and fsrs; {"hours": 1, "exponent": 0.5} of power; null: the layer''s own';
