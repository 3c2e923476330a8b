package main

// replayEffect is what a reactor does with rows that it is given again.
type replayEffect struct {
	Reactor string `json:"reactor"`
	Says    string `json:"says"`
	Work    *int64 `json:"work,omitempty"` // how many it would work for
}

// effect is the same, before it is counted.
type effect struct {
	says  string // with %d for the count
	count string // in SQL, of the rows t; "" where there is nothing to count
}

func effectOf(reactor, table string) effect {
	if e, ok := effects[reactor+" "+table]; ok {
		return e
	}
	return effect{says: "does nothing twice"}
}

var effects = map[string]effect{
	"sync public.sync_state":     {says: "knows the versions that it has seen, and merges none twice"},
	"sync public.sync_conflicts": {says: "carries out decisions that it has not yet"},
	"skills public.skills": {says: "checks the %d that are pending, and keeps schedules",
		count: "count(*) filter (where t.status = 'pending')"},
	"skills public.skill_runs": {says: "runs the %d that are queued; what has begun is not begun again",
		count: "count(*) filter (where t.status = 'queued')"},
	"skills public.skill_grants": {says: "nothing: a grant is audited once"},
	"voice public.voice_recordings": {says: "asks the provider for the %d that are pending, once each; done and failed ones stay",
		count: "count(*) filter (where t.status = 'pending')"},
	"synthesis public.memories": {says: "computes the patterns of %d users again, here and without a provider",
		count: "count(distinct t.user_id)"},
	"synthesis public.synthesis_settings": {says: "computes the patterns of %d users again, here and without a provider",
		count: "count(distinct t.user_id)"},
	"decay public.memories":          {says: "makes retentions and layers that are missing; an access reinforces once"},
	"decay public.psychology_layers": {says: "makes layers that are missing, and tells clients of the others"},
	"analysis public.memory_synthesis_jobs": {says: "begins the %d that it does not know, which may ask the model; no other is asked again",
		count: "count(*) filter (where t.status = 'pending' and not exists (select from helix.analysis_work w where w.job_id = t.id))"},
	"analysis public.privacy_settings": {says: "goes on with what waited for a user who opted out and does no more"},
	"embedding public.memories": {says: "asks for embeddings of the %d that lack one, once each, as it would without a replay",
		count: "count(*) filter (where t.embedding_stale and t.content <> '')"},
	"embedding public.privacy_settings": {says: "goes on with what waited for a user who opted out and does no more"},
}
