-- What the stream cannot say goes to helix.inbox: see its comment. One statement
-- a statement, however many rows it wrote. The arguments are the columns of the
-- row's key, and after '/' those of which an insert must have given, or an update
-- changed, at least one. Types are named with their schema: whoever may make
-- temporary objects could have one of the same name, which would come first.

create or replace function helix.write_inbox() returns trigger
language plpgsql security definer set search_path = '' as $$
declare
  slash constant int := coalesce(array_position(tg_argv[0:], '/') - 1, tg_nargs);
  key constant pg_catalog.text := coalesce((select string_agg(format('%L, r.%I', tg_argv[i], tg_argv[i]), ', ')
    from generate_series(0, slash - 1) i), '');
  changed constant pg_catalog.text := (select string_agg(format('r.%I is distinct from o.%1$I', tg_argv[i]), ' or ')
    from generate_series(slash + 1, tg_nargs - 1) i);
  given constant pg_catalog.text := (select string_agg(format('r.%I is not null', tg_argv[i]), ' or ')
    from generate_series(slash + 1, tg_nargs - 1) i);
begin
  execute format('insert into helix.inbox (table_name, op, key, user_id) '
    'select %L, %L, jsonb_build_object(%s), r.user_id from %s', tg_table_name, tg_op, key,
    case tg_op when 'DELETE' then 'gone r'
      when 'INSERT' then 'made r' || coalesce(' where ' || given, '')
      else 'made r join gone o using (id) where ' || changed end);
  return null;
end $$;

create or replace procedure helix.install_inbox(tab text, operations text[], key text[] default '{}', changed text[] default '{}')
language plpgsql set search_path = '' as $$
declare
  op text;
begin
  foreach op in array operations loop
    execute format('create or replace trigger %I after %s on public.%I referencing %s for each statement '
      'execute function helix.write_inbox(%s)', 'helix_inbox_' || op, op, tab,
      case op when 'delete' then 'old table as gone' when 'insert' then 'new table as made'
        else 'old table as gone new table as made' end,
      (select string_agg(quote_literal(a), ', ') from unnest(key || case when cardinality(changed) > 0 then array['/'] || changed else '{}' end) a));
  end loop;
end $$;

revoke all on function helix.write_inbox() from public, anon, authenticated, service_role;
revoke all on procedure helix.install_inbox(text, text[], text[], text[]) from public, anon, authenticated, service_role;
