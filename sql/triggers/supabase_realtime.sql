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
  foreach t in array array['memory_patterns', 'memory_retention', 'memory_synthesis', 'memory_synthesis_jobs', 'psychology_layers',
      'skill_runs', 'skill_versions', 'skills', 'sync_conflicts', 'sync_entities', 'synthesis_recommendations', 'voice_recordings'] loop
    if not exists (select from pg_catalog.pg_publication_tables
        where pubname = 'supabase_realtime' and schemaname = 'public' and tablename = t) then
      begin
        execute format('alter publication supabase_realtime add table only public.%I', t);
      exception when insufficient_privilege then
        raise warning 'may not alter publication supabase_realtime; run as its owner: '
          'alter publication supabase_realtime add table only public.%', t;
      end;
    end if;
  end loop;
end $$;
