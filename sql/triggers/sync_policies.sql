-- A policy is read with the writes that it is about; the inbox tells of it as of
-- any client table.
call helix.install_guard('sync_policies',
  fixed => '{entity_type}',
  client => '{strategy,options,created_at}',
  results => '{}',
  required => '{id,user_id,entity_type}',
  limits => '{"entity_type": [1, 200], "options": 16384}',
  rules => array[
    ['strategy', $$new.strategy not in ('last_write_wins', 'merge', 'manual')$$, 'strategy is not last_write_wins, merge or manual'],
    ['options', $$jsonb_typeof(new.options) <> 'object'$$, 'options is not an object; send {"arrays": "set"}, or {}'],
    ['options', $$not case jsonb_typeof(new.options -> 'arrays')
        when 'string' then new.options ->> 'arrays' in ('atomic', 'set', 'by_id')
        when 'object' then (select count(*) <= 100 and coalesce(bool_and(a.value in ('"atomic"', '"set"', '"by_id"')), true)
          from jsonb_each(case jsonb_typeof(new.options -> 'arrays') when 'object' then new.options -> 'arrays' end) a)
        else new.options -> 'arrays' is null end$$,
      'options.arrays is neither atomic, set or by_id nor an object of at most 100 of them; send {"arrays": {"tags": "set"}}']]);

call helix.install_inbox('sync_policies', '{insert,delete}', '{entity_type}');
call helix.install_inbox('sync_policies', '{update}', '{entity_type}', '{strategy,options}');
