-- The column guard of sync_conflicts: a client sets the resolution of an open
-- manual conflict, and nothing else.

create or replace function helix.guard_sync_conflicts() returns trigger
language plpgsql security invoker set search_path = '' as $$
declare
  changed text;
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
  return new;
end $$;

create or replace trigger a_helix_guard before update on public.sync_conflicts
  for each row execute function helix.guard_sync_conflicts();

revoke all on function helix.guard_sync_conflicts() from public, anon, authenticated, service_role;
