-- The column guard of sync_conflicts: a client sets the resolution of an open
-- manual conflict, and nothing else. The inbox tells helixd of it.

create or replace function helix.guard_sync_conflicts() returns trigger
language plpgsql security invoker set search_path = '' as $$
declare
  changed pg_catalog.text;
begin
  if pg_has_role(current_user, 'service_role', 'member') or pg_has_role(current_user,
      (select c.relowner from pg_catalog.pg_class c where c.oid = tg_relid), 'member') then
    return new;
  end if;
  select n.key into changed
  from jsonb_each(to_jsonb(new) - 'resolution') n
  where n.value is distinct from to_jsonb(old) -> n.key
  limit 1;
  if changed is not null then
    raise exception 'sync_conflicts.% cannot be changed by a client', changed
      using errcode = 'insufficient_privilege', hint = 'Set resolution, and nothing else.';
  end if;
  if new.resolution is distinct from old.resolution and (old.resolved or old.strategy <> 'manual') then
    raise exception 'sync_conflicts.resolution cannot change: this conflict is %',
      case when old.resolved then 'resolved' else 'not a manual one' end
      using errcode = 'insufficient_privilege';
  end if;
  if new.resolution is null or new.resolution is not distinct from old.resolution then
    return new;
  end if;
  if jsonb_typeof(new.resolution) <> 'object'
    or new.resolution - array['winner', 'data', 'deleted'] <> '{}'
    or new.resolution ? 'winner' and (new.resolution - 'winner' <> '{}'
      or new.resolution -> 'winner' not in ('0', '1'))
    or new.resolution ? 'deleted' and jsonb_typeof(new.resolution -> 'deleted') <> 'boolean'
    or not new.resolution ? 'winner' and not new.resolution ? 'data'
      and new.resolution -> 'deleted' is distinct from 'true' then
    raise exception 'resolution must be exactly one of {"winner": 0}, {"winner": 1}, {"data": {...}} and {"deleted": true}'
      using errcode = 'check_violation', column = 'resolution',
      hint = 'winner is the place in versions; data replaces both, and deleted: true removes the entity.';
  end if;
  -- As sync_state.data: see there.
  if pg_column_size(new.resolution) <= 16777216 and exists (
    select from jsonb_array_elements(jsonb_path_query_array(new.resolution, 'strict $.** ? (@.type() == "number")')) n
    where length(n::pg_catalog.text) > 100) then
    raise exception 'resolution has a number of more than 100 digits'
      using errcode = 'check_violation', column = 'resolution', hint = 'Send it as a string.';
  end if;
  if pg_column_size(new.resolution) > 16777216 or octet_length((new.resolution -> 'data')::pg_catalog.text) > 16777216 then
    raise exception 'resolution is too large; at most 16 MB of data is possible'
      using errcode = 'check_violation', column = 'resolution';
  end if;
  return new;
end $$;

create or replace trigger a_helix_guard before update on public.sync_conflicts
  for each row execute function helix.guard_sync_conflicts();

revoke all on function helix.guard_sync_conflicts() from public, anon, authenticated, service_role;

call helix.install_inbox('sync_conflicts', '{update}', '{id}', '{resolution}');
