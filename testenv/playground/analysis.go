package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/testenv"
)

// analysisActs tell what becomes of a row in memory_synthesis_jobs.
var analysisActs = []act{
	{"Ada has five conversations analysed, with no key set: nothing leaves the project", analysed},
}

// talks are what she has analysed. What two of them say of work is the same; one tells of nothing.
var talks = []struct{ id, text string }{
	{"monday", "Whenever my manager calls me in without a word of why, I get terribly anxious. I could not eat before it."},
	{"tuesday", "We compared two offers for the new printer, and the second is cheaper by forty euros a month."},
	{"wednesday", "My manager asked me into her office again and I was anxious all the way down the corridor. It turned out to be the holiday plan."},
	{"thursday", "When I am that tense I go for a long run along the river, and it calms me down."},
	{"friday", "I am training for the marathon in May: my goal is to finish it in under four hours."},
}

const analysisPatience = 30 * time.Second

// analysis is a row of memory_synthesis_jobs.
type analysis struct {
	status, provider, summary string
	took                      int64
	failure                   *string
}

func analysed(s *stage) error {
	for _, order := range []struct{ kind, wants, from string }{
		{"emotional_patterns", "trigger", "monday"},
		{"prospective_self", "goal", "friday"},
	} {
		if err := s.analyse(order.kind, order.wants, order.from); err != nil {
			return fmt.Errorf("%s: %w", order.kind, err)
		}
	}
	return nil
}

// analyse orders an analysis of the talks, and checks that it finds a pattern in one of them.
func (s *stage) analyse(kind, wants, from string) error {
	id := uuid.NewString()
	conversations := make([]map[string]any, len(talks))
	for i, talk := range talks {
		conversations[i] = map[string]any{"id": talk.id, "text": talk.text, "timestamp": time.Now().UTC().AddDate(0, 0, i-len(talks))}
	}
	s.out.line("   ada     inserts        a job: %s, %d conversations", kind, len(talks))
	if err := s.phone.insert(s, "memory_synthesis_jobs", map[string]any{"id": id, "synthesis_type": kind, "conversations": conversations}); err != nil {
		return err
	}
	var job analysis
	err := testenv.Poll(s.ctx, analysisPatience, 20*time.Millisecond, "wait for memory_synthesis_jobs", func() (bool, error) {
		err := s.watcher.conn.QueryRow(s.ctx, `select status, coalesce(provider, ''), coalesce(summary, ''), coalesce(execution_time_ms, 0), error::text
			from public.memory_synthesis_jobs where id = $1`, id).Scan(&job.status, &job.provider, &job.summary, &job.took, &job.failure)
		if err == nil && job.status == "failed" {
			err = errors.New(*job.failure)
		}
		return job.status == "done", err
	})
	if err != nil {
		return err
	}
	s.out.line("   helixd  answers        %s, %d ms", job.provider, job.took)
	s.out.line("     %s", s.out.dim(fit(job.summary, 76)))
	return s.evidence(id, job, wants, from)
}

// evidence shows the patterns of a job, and checks whom they cite.
func (s *stage) evidence(id string, job analysis, wants, from string) error {
	rows, err := s.watcher.conn.Query(s.ctx, `select p.pattern_type, p.description, p.evidence, p.confidence
		from public.memory_patterns p where job_id = $1 order by confidence desc, p.id`, id)
	if err != nil {
		return err
	}
	var diff differences
	found := false
	var typ, description string
	var evidence []string
	var confidence float64
	_, err = pgx.ForEachRow(rows, []any{&typ, &description, &evidence, &confidence}, func() error {
		s.out.line("   + %-18s %3.0f%%  shown by %s", typ, confidence*100, strings.Join(evidence, ", "))
		s.out.line("     %s", s.out.dim(fit(description, 76)))
		for _, cited := range evidence {
			diff.check(cited+" is one of hers", true, slices.ContainsFunc(talks, func(talk struct{ id, text string }) bool { return talk.id == cited }))
			diff.check("tuesday, which tells of nothing, is cited", false, cited == "tuesday")
		}
		found = found || typ == wants && slices.Contains(evidence, from)
		return nil
	})
	if err != nil {
		return err
	}
	diff.check("a "+wants+" is found in "+from+"'s", true, found)
	diff.check("the provider says that it is local", true, strings.HasPrefix(job.provider, "local"))
	var sent int
	if err := s.admin.QueryRow(s.ctx, "select coalesce(sum(requests), 0)::int from helix.usage").Scan(&sent); err != nil {
		return err
	}
	diff.check("requests to providers", 0, sent)
	return diff.err("memory_patterns")
}
