call helix.install_guard('synthesis_settings',
  fixed => '{}',
  client => '{memory_limit,min_confidence,min_cluster_size,enabled,created_at}',
  results => '{}',
  required => '{id,user_id}',
  rules => array[
    ['memory_limit', 'new.memory_limit not between 1 and 100000', 'memory_limit is not between 1 and 100000'],
    ['min_confidence', 'new.min_confidence not between 0 and 1', 'min_confidence is not between 0 and 1'],
    ['min_cluster_size', 'new.min_cluster_size not between 2 and 1000', 'min_cluster_size is not between 2 and 1000']]);

call helix.install_inbox('synthesis_settings', '{insert,delete}');
call helix.install_inbox('synthesis_settings', '{update}', '{}', '{memory_limit,min_confidence,min_cluster_size,enabled}');

-- A job is ordered once: another analysis is another row.
call helix.install_guard('memory_synthesis_jobs',
  fixed => '{synthesis_type,conversations,time_range}',
  client => '{created_at}',
  results => '{status,progress,analysis,summary,layer,provider,input_tokens,output_tokens,execution_time_ms,error,finished_at}',
  required => '{id,user_id,synthesis_type}',
  limits => '{"conversations": 16777216}',
  rules => array[
    ['synthesis_type', $$new.synthesis_type not in ('emotional_patterns', 'prospective_self', 'relational_memory', 'narrative_coherence',
        'full_synthesis', 'relational_dynamics', 'narrative_themes')$$,
      'synthesis_type is not emotional_patterns, prospective_self, relational_memory, narrative_coherence or full_synthesis'],
    ['conversations', $$jsonb_typeof(new.conversations) <> 'array'$$, 'conversations is not an array: send [{"id", "text", "timestamp"}]'],
    ['conversations', $$case jsonb_typeof(new.conversations) when 'array' then jsonb_array_length(new.conversations) > 1000 end$$,
      'conversations has more than 1000 entries'],
    ['time_range', 'isempty(new.time_range)', 'time_range is empty']]);

call helix.install_inbox('memory_synthesis_jobs', '{insert,delete}', '{id}');
