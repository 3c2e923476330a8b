-- A secret whose value is in Supabase Vault goes from there with its row, and so
-- with its account. That must not fail where the vault is closed to helixd.
create or replace function helix.forget_secret() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  if to_regclass('vault.secrets') is not null then
    delete from vault.secrets where name = format('helix/%s/%s', old.user_id, old.name);
  end if;
  return null;
exception when insufficient_privilege then
  raise warning 'helixd may not delete from vault.secrets: a secret of a deleted account is left there';
  return null;
end $$;

create or replace trigger helix_forget_secret after delete on helix.secrets
  for each row when (old.ciphertext is null) execute function helix.forget_secret();

revoke all on function helix.forget_secret() from public, anon, authenticated, service_role;
