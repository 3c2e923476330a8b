-- A phrase's syntax, as package command of reactors/voice parses it. Parts in
-- brackets do not nest. Of the words that must be said there is at least one: else
-- every transcript would be the command.
do $install$
declare
  slot constant text := '\{[A-Za-z_][A-Za-z0-9_]*\}';
  part constant text := format('[^][(){}|[:alnum:]]*(?:[[:alnum:]]|%1$s)(?:[^][(){}|]|%1$s)*', slot);
  syntax constant text := format('^(?:[^][(){}|]|%1$s|\[%2$s(?:\|%2$s)*\]|\(%2$s(?:\|%2$s)*\))*$', slot, part);
  -- Without slots, without what is optional, and without choices one of which is a slot alone.
  needed constant text := $$regexp_replace(regexp_replace(new.phrase, '\[[^]]*\]|\{[^}]*\}', '', 'g'), '\(([^()]*\|)?[^()|[:alnum:]]*(\|[^()]*)?\)', '', 'g')$$;
begin
  call helix.install_guard('voice_commands',
    fixed => '{}',
    client => '{phrase,skill_id,arguments,enabled,created_at}',
    results => '{}',
    required => '{id,user_id,phrase}',
    limits => '{"phrase": [1, 300], "arguments": 16384}',
    rules => array[
      ['phrase', format('new.phrase !~ %L', syntax),
        'phrase is words, {slots}, [optional parts] and (one|or another): a bracket has no partner, nothing in it or brackets in it, or a slot''s name is not of letters, digits and _'],
      ['phrase', $$regexp_replace(new.phrase, '^\s*(\.{3,}|…)|(\.{3,}|…)\s*$', '', 'g') ~ '\.{3}|…'$$,
        'phrase has "..." elsewhere than at its ends: a {slot} stands for words in between'],
      ['phrase', $$(select count(*) > count(distinct s[1]) from regexp_matches(new.phrase, '\{([^}]*)\}', 'g') s)$$,
        'phrase has a slot twice'],
      ['phrase', needed || $$ !~ '[[:alnum:]]'$$, 'phrase has no word that must be said'],
      ['skill_id', $$tg_op = 'INSERT' and new.skill_id is null$$, 'skill_id is null'],
      ['arguments', $$case when jsonb_typeof(new.arguments) <> 'object' then true
          else (select count(*) > 50 or count(*) filter (where jsonb_typeof(a.value) not in ('string', 'number', 'boolean')) > 0
            from jsonb_each(new.arguments) a) end$$,
        'arguments is not an object of at most 50 texts, numbers and booleans: {"name": "text with {slot}"}']],
    finish => $$if new.arguments is not null and exists (select from jsonb_each_text(new.arguments) a,
        regexp_matches(a.value, '\{[A-Za-z_][A-Za-z0-9_]*\}', 'g') s
        where jsonb_typeof(new.arguments -> a.key) = 'string' and strpos(new.phrase, s[1]) = 0) then
    raise exception 'arguments names a slot that phrase does not have'
      using errcode = 'check_violation', column = 'arguments', hint = 'Both change in one update.';
  end if;$$);
end $install$;

create or replace trigger helix_require_runnable before insert or update of skill_id on public.voice_commands
  for each row when (current_user not in ('anon', 'authenticated') or new.user_id = auth.uid()) execute function helix.require_runnable();
