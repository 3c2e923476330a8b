call helix.install_guard('privacy_settings',
  fixed => '{}',
  client => '{opt_out,redact_names,created_at}',
  results => '{}',
  required => '{id,user_id}',
  rules => array[
    ['opt_out', $$not new.opt_out <@ array['memories.content', 'memory_synthesis_jobs.conversations', 'voice_recordings.audio_data', 'skill_runs.llm']
        or cardinality(new.opt_out) > 4 or array_ndims(new.opt_out) > 1$$,
      'opt_out takes memories.content, memory_synthesis_jobs.conversations, voice_recordings.audio_data and skill_runs.llm'],
    ['redact_names', 'cardinality(new.redact_names) > 1000 or array_ndims(new.redact_names) > 1', 'redact_names has more than 1000 names, or names in lists'],
    ['redact_names', $$exists (select from unnest(new.redact_names) name where name is null or char_length(name) > 100 or btrim(name, E' \t\r\n') = '')$$,
      'redact_names has a name that is empty or has more than 100 characters']]);

call helix.install_inbox('privacy_settings', '{insert,delete}');
call helix.install_inbox('privacy_settings', '{update}', '{}', '{opt_out,redact_names}');
