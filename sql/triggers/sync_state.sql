call helix.install_guard('sync_state',
  fixed => '{entity_type,entity_id,device_id}',
  client => '{data,vector_clock,last_modified,deleted,base_revision,created_at}',
  results => '{}',
  required => '{id,user_id,entity_type,entity_id,device_id}',
  limits => '{"entity_type": [1, 200], "device_id": [1, 200], "vector_clock": 1048576, "data": 16777216}',
  rules => array[
    ['vector_clock', $$jsonb_typeof(new.vector_clock) <> 'object'$$,
      'vector_clock is not an object of counters; send {"deviceA": 3, "deviceB": 1}'],
    ['vector_clock', $$jsonb_path_exists(
      case jsonb_typeof(new.vector_clock -> 'clocks') when 'object' then new.vector_clock -> 'clocks' else new.vector_clock end,
      'strict $.* ? (@.type() != "number" || @ < 0 || @ > 9007199254740991 || @ != @.floor())')$$,
      'vector_clock has a counter that is not a whole number from 0 to 2^53 - 1']]);

call helix.install_inbox('sync_state', '{delete}', '{entity_type,entity_id,device_id}');
