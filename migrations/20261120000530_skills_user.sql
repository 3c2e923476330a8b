-- An account takes its skills along, where the table was adopted: alone in its
-- transaction, since it locks auth.users; helix.add_user_fkey says more.

do $$
begin
  call helix.add_user_fkey('skills');
end $$;
