-- The result tables join Supabase Realtime's publication (postgres_changes).
-- A warning where helixd may not alter it: broadcasts work without.

do $$
declare
  t text;
begin
  if not exists (select from pg_catalog.pg_publication where pubname = 'supabase_realtime') then
    raise warning 'there is no publication supabase_realtime: postgres_changes will not show helixd''s results';
    return;
  end if;
  foreach t in array array['sync_entities', 'sync_conflicts'] loop
    if not exists (select from pg_catalog.pg_publication_tables
        where pubname = 'supabase_realtime' and schemaname = 'public' and tablename = t) then
      begin
        execute format('alter publication supabase_realtime add table public.%I', t);
      exception when insufficient_privilege then
        raise warning 'may not alter publication supabase_realtime; run as its owner: '
          'alter publication supabase_realtime add table public.%', t;
      end;
    end if;
  end loop;
end $$;
