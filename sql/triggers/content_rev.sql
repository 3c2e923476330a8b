-- A change of a wide column that the stream leaves out: a listed counter tells of
-- it. The triggers fire only where a statement sets such a column.
create or replace function helix.bump_content_rev() returns trigger
language plpgsql security invoker set search_path = '' as $$
begin
  new.content_rev := old.content_rev + 1;
  return new;
end $$;
revoke all on function helix.bump_content_rev() from public, anon, authenticated, service_role;
