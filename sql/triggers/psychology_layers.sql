call helix.install_guard('psychology_layers',
  fixed => '{layer_number}',
  client => '{data,created_at}',
  results => '{layer_name,decay_rate,last_updated,initial_strength,last_reinforced,decay_model,decay_params}',
  required => '{id,user_id,layer_number}',
  limits => '{"data": 1048576}',
  rules => array[['layer_number', 'new.layer_number not between 1 and 7', 'layer_number is not one of the seven']],
  finish => $$if tg_op = 'INSERT' and new.layer_name is null then
    new.layer_name := ('{Narrative Core,Emotional Memory,Relational Memory,Prospective Self,Integration,Transformation,Purpose Engine}'::text[])[new.layer_number];
  end if;$$);

-- Whoever writes data reinforces the layer; helixd does not write it.
call helix.install_inbox('psychology_layers', '{insert,update}', '{layer_number}', '{data}');
call helix.install_inbox('psychology_layers', '{delete}', '{layer_number}');
