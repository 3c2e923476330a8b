-- The roles of a hosted Supabase project and their memberships. Roles belong to the server, so this file runs in any
-- database. Like all files here it may run again, and over a supabase/postgres image, where most of it exists.

do $$
declare
  role record;
begin
  for role in
    select * from (values
      -- what PostgREST switches to, by the JWT's role claim
      ('anon',                    'nologin noinherit'),
      ('authenticated',           'nologin noinherit'),
      ('service_role',            'nologin noinherit bypassrls'),
      -- what PostgREST connects as
      ('authenticator',           'login noinherit'),
      -- what the services connect as
      ('supabase_auth_admin',     'login noinherit createrole'),
      ('supabase_storage_admin',  'login noinherit createrole'),
      ('supabase_realtime_admin', 'nologin noinherit'),
      -- what a project's owner, and helixd, connect as
      ('postgres',                'login')
    ) as r (name, attributes)
  loop
    if not exists (select from pg_catalog.pg_roles where rolname = role.name) then
      execute format('create role %I %s', role.name, role.attributes);
    end if;
  end loop;
end $$;

alter role anon inherit;
alter role authenticated inherit;
alter role service_role inherit;
alter role postgres nosuperuser createdb createrole login replication bypassrls;

grant anon, authenticated, service_role to authenticator;
grant anon, authenticated, service_role to postgres;
grant authenticator to supabase_storage_admin;
grant pg_monitor, pg_read_all_data, pg_signal_backend to postgres;

do $$
begin
  if current_setting('server_version_num')::int >= 160000 then
    -- Since Postgres 16 CREATEROLE alone does not allow to grant these on.
    execute 'grant anon, authenticated, service_role to postgres with admin option';
    execute 'grant pg_create_subscription to postgres';
  end if;
end $$;

-- Stands in for supautils.policy_grants, by which hosted projects let postgres make policies on these roles' tables
-- without being a member. A membership gives more (ALTER, DROP): helixd must not come to rely on that.
grant supabase_realtime_admin, supabase_storage_admin to postgres;

alter role supabase_admin set search_path to "$user", public, auth, extensions;
alter role postgres set search_path to "$user", public, extensions;
alter role supabase_auth_admin set search_path to auth;
alter role supabase_storage_admin set search_path to storage;

-- Hosted limits: two minutes for everybody, less for the Data API.
alter role postgres set statement_timeout to '2min';
alter role authenticator set statement_timeout to '8s';
alter role authenticator set lock_timeout to '8s';
alter role anon set statement_timeout to '3s';
alter role authenticated set statement_timeout to '8s';

-- A supabase/postgres image loads safeupdate for these, which refuses UPDATE and DELETE without WHERE. Without it a
-- test means the same on every server.
alter role authenticator reset session_preload_libraries;
alter role postgres reset session_preload_libraries;
