-- Whoever writes data reinforces the layer, in the same transaction: the row
-- itself shows it, and no repair can do it again. One that sets last_reinforced
-- too, as a restore does, means what it says.
do $$
declare
  written constant text := case (select atttypid from pg_catalog.pg_attribute
    where attrelid = 'public.psychology_layers'::regclass and attname = 'last_updated')
    when 'timestamp'::regtype then 'now() at time zone ''utc''' else 'now()' end;
  reinforced constant text := case (select atttypid from pg_catalog.pg_attribute
    where attrelid = 'public.psychology_layers'::regclass and attname = 'last_reinforced')
    when 'timestamp'::regtype then 'now() at time zone ''utc''' else 'now()' end;
begin
  call helix.install_guard('psychology_layers',
    fixed => '{layer_number}',
    client => '{data,created_at}',
    results => '{layer_name,decay_rate,last_updated,initial_strength,last_reinforced,decay_model,decay_params}',
    required => '{id,user_id,layer_number}',
    limits => '{"data": 1048576}',
    rules => array[['layer_number', 'new.layer_number not between 1 and 7', 'layer_number is not one of the seven']],
    finish => format($finish$if tg_op = 'INSERT' then
    if new.layer_name is null then
      new.layer_name := ('{Narrative Core,Emotional Memory,Relational Memory,Prospective Self,Integration,Transformation,Purpose Engine}'::pg_catalog.text[])[new.layer_number];
    end if;
  elsif new.data is distinct from old.data and new.last_reinforced is not distinct from old.last_reinforced then
    new.initial_strength := 1;
    new.decay_rate := 1;
    new.last_reinforced := %s;
    new.last_updated := %s;
  end if;$finish$, reinforced, written));
end $$;

-- helixd tells of it, and makes the layers that are missing.
call helix.install_inbox('psychology_layers', '{insert,update}', '{layer_number}', '{data}');
call helix.install_inbox('psychology_layers', '{delete}', '{layer_number}');
