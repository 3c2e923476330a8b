-- Schemas public and extensions, and the publication that Realtime reads.

create schema if not exists extensions;
create extension if not exists pgcrypto with schema extensions;
create extension if not exists "uuid-ossp" with schema extensions;
create extension if not exists vector with schema extensions;
grant usage on schema extensions to anon, authenticated, service_role;
grant all on schema extensions to postgres;
grant all on all tables in schema extensions to postgres with grant option;
grant all on all routines in schema extensions to postgres with grant option;
grant all on all sequences in schema extensions to postgres with grant option;

-- public belongs to pg_database_owner, which is whoever owns the database: postgres.
grant usage on schema public to postgres, anon, authenticated, service_role;

-- What makes row-level security all there is between a client and a new table: everybody gets every right on it.
do $$
declare
  creator text;
begin
  foreach creator in array array['postgres', 'supabase_admin'] loop
    execute format('alter default privileges for role %I in schema public grant all on tables to postgres, anon, authenticated, service_role', creator);
    execute format('alter default privileges for role %I in schema public grant all on functions to postgres, anon, authenticated, service_role', creator);
    execute format('alter default privileges for role %I in schema public grant all on sequences to postgres, anon, authenticated, service_role', creator);
  end loop;
end $$;

do $$
begin
  if not exists (select from pg_catalog.pg_publication where pubname = 'supabase_realtime') then
    create publication supabase_realtime;
  end if;
end $$;
alter publication supabase_realtime owner to postgres;

-- Hosted projects deny this one, although postgres is a member of pg_monitor.
revoke execute on function pg_catalog.pg_ls_waldir() from public, pg_monitor;
