-- Schema realtime: what database code uses to broadcast. The Realtime service makes it on a hosted project, and reads
-- realtime.messages from the write-ahead log.

create schema if not exists realtime;
grant usage on schema realtime to anon, authenticated, service_role, supabase_realtime_admin;
grant usage on schema realtime to postgres with grant option;
alter default privileges for role supabase_admin in schema realtime grant all on tables to postgres;
alter default privileges for role supabase_admin in schema realtime grant all on sequences to postgres;
alter default privileges for role supabase_admin in schema realtime grant all on routines to postgres;

do $$
begin
  if to_regclass('realtime.messages') is not null then
    return;
  end if;
  create table realtime.messages (
    topic text not null,
    extension text not null,
    payload jsonb,
    event text,
    private boolean default false,
    updated_at timestamp not null default now(),
    inserted_at timestamp not null default now(),
    id uuid not null default gen_random_uuid(),
    binary_payload bytea,
    primary key (id, inserted_at),
    constraint messages_payload_exclusive check (payload is null or binary_payload is null)
  ) partition by range (inserted_at);
  create index messages_inserted_at_topic_index on realtime.messages (inserted_at desc, topic)
    where extension = 'broadcast' and private is true;

  -- The service keeps partitions from yesterday to three days ahead; nobody does here, so the rest has a place too.
  for day in -1..3 loop
    execute format('create table realtime.%I partition of realtime.messages for values from (%L) to (%L)',
      to_char(current_date + day, '"messages_"YYYY_MM_DD'), current_date + day, current_date + day + 1);
  end loop;
  create table realtime.messages_default partition of realtime.messages default;
end $$;

do $$
declare
  name regclass;
begin
  for name in select relid from pg_catalog.pg_partition_tree('realtime.messages') loop
    execute format('alter table %s owner to supabase_realtime_admin', name);
  end loop;
end $$;
alter table realtime.messages enable row level security;
grant select, insert, update on realtime.messages to postgres, anon, authenticated, service_role;

-- The channel that a client joins, while its policies are checked.
create or replace function realtime.topic() returns text language sql stable as $$
  select nullif(current_setting('realtime.topic', true), '')::text
$$;

-- Broadcasts payload. It never fails: an error becomes a WARNING and the message is lost.
create or replace function realtime.send(payload jsonb, event text, topic text, private boolean default true)
returns void language plpgsql as $$
declare
  message_id uuid;
  sent jsonb;
begin
  begin
    message_id := gen_random_uuid();
    sent := payload;
    if not (payload ? 'id') then
      sent := jsonb_set(payload, '{id}', to_jsonb(message_id));
    end if;
    execute format('set local realtime.topic to %L', topic);
    insert into realtime.messages (id, payload, event, topic, private, extension)
    values (message_id, sent, event, topic, private, 'broadcast');
  exception when others then
    raise warning 'WarnSendingBroadcastMessage: %', sqlerrm;
  end;
end $$;

alter function realtime.topic() owner to supabase_realtime_admin;
alter function realtime.send(jsonb, text, text, boolean) owner to supabase_realtime_admin;
grant execute on all functions in schema realtime to postgres, anon, authenticated, service_role;
