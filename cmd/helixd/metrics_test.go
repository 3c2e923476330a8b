package main_test

import (
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/helixd/helixd/reactors/llm/llmtest"
	"github.com/helixd/helixd/testenv"
)

// metrics are a scrape.
type metrics map[string]*dto.MetricFamily

func scrape(t testing.TB, at string) metrics {
	t.Helper()
	code, body := fetch(t, at+"/metrics", "")
	if code != 200 {
		t.Fatalf("/metrics: %d %s", code, body)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	all, err := parser.TextToMetricFamilies(strings.NewReader(body + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// value is the sum of a metric's series that have these labels ("name", "value", ...);
// of a histogram, of its observations. One that is not there is NaN.
func (m metrics) value(t testing.TB, name string, labels ...string) float64 {
	t.Helper()
	family := m[name]
	if family == nil {
		return math.NaN()
	}
	sum, found := 0.0, false
	for _, series := range family.Metric {
		has := map[string]string{}
		for _, l := range series.Label {
			has[l.GetName()] = l.GetValue()
		}
		fits := true
		for i := 0; i < len(labels); i += 2 {
			fits = fits && has[labels[i]] == labels[i+1]
		}
		if fits {
			found = true
			sum += series.GetCounter().GetValue() + series.GetGauge().GetValue() + float64(series.GetHistogram().GetSampleCount())
		}
	}
	if !found {
		return math.NaN()
	}
	return sum
}

// documented are the metrics of docs/metrics.md, each as "type {labels}".
func documented(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(helixd_[a-z_]+)` \\| ([a-z]+) \\| ([^|]*)\\|").FindAllStringSubmatch(string(text), -1) {
		labels := strings.FieldsFunc(row[3], func(r rune) bool { return r == '`' || r == ',' || r == ' ' })
		slices.Sort(labels)
		all[row[1]] = fmt.Sprint(row[2], labels)
	}
	return all
}

// TestMetrics: every metric is documented as it is, and tells of the work what the
// database does.
func TestMetrics(t *testing.T) {
	t.Parallel()
	db := testenv.NewOn(t, testenv.StartCluster(t, testenv.Options{Settings: map[string]string{"max_slot_wal_keep_size": "4GB"}}))
	admin := migrated(t, db)
	user := db.NewUser(t).ID
	app := db.AsUser(t, user)
	provider := llmtest.New(t)
	p := start(t, db.URL("postgres"), []string{"HELIX_HTTP=127.0.0.1:0", "EMBEDDINGS_URL=" + provider.URL, "EMBEDDINGS_API_KEY=" + llmtest.Key,
		"HELIX_EMBEDDINGS_PRICE=openai=0.02"}, "run", "--slot", db.SlotName("metrics"))
	at := p.http(t)
	until(t, "it to lead", func() bool { _, body := fetch(t, at+"/readyz", ""); return body == "leading" })

	// One row that a trigger refuses, one message that is not helixd's, and broadcasts
	// that fail, among what is well.
	exec1(t, admin, `create function refuse() returns trigger language plpgsql as $$ begin
		if new.data ->> 'text' = 'bad' then raise exception 'no'; end if; return new; end $$;
		create trigger refuse before insert on sync_entities for each row execute function refuse()`)
	exec1(t, app, `insert into sync_state (entity_type, entity_id, device_id, data, vector_clock)
		select 'note', gen_random_uuid(), 'phone', jsonb_build_object('text', case n when 50 then 'bad' else 'good' end), '{"phone": 1}' from generate_series(1, 100) n`)
	exec1(t, app, "select pg_logical_emit_message(true, 'helix', '{}'); insert into memories (content) select 'a walk by the sea ' || n from generate_series(1, 20) n")
	until(t, "all of it", func() bool {
		return get[bool](t, admin, `select (select count(*) = 99 from sync_entities) and (select count(*) = 1 from helix.dead_letters)
			and not exists (select from memories where embedding is null)`)
	})
	exec1(t, admin, "alter table realtime.messages add constraint none check (false) not valid")
	exec1(t, app, `insert into sync_state (entity_type, entity_id, device_id, data, vector_clock) values ('note', $1, 'phone', '{"text": "unheard"}', '{"phone": 1}')`, note)
	until(t, "the last row", func() bool { return get[int](t, admin, "select count(*)::int from sync_entities") == 100 })

	var m metrics
	same := func(name, sql string, labels ...string) {
		t.Helper()
		var want, got float64
		until(t, name+" to be what Postgres says", func() bool {
			want = get[float64](t, admin, "select ("+sql+")::float8")
			m = scrape(t, at)
			got = m.value(t, name, labels...)
			return math.Abs(got-want) < 1e-9 && want > 0
		})
	}
	same("helixd_apply_changes_total", "select changes from helix.checkpoints")
	same("helixd_apply_transactions_total", "select transactions from helix.checkpoints")
	same("helixd_commit_to_apply_seconds", "select transactions from helix.checkpoints")
	same("helixd_stream_flushed_lsn_bytes", "select lsn - '0/0' from helix.checkpoints")
	same("helixd_dead_letters_written_total", "select count(*) from helix.dead_letters", "reactor", "sync")
	same("helixd_dead_letters", "select count(*) from helix.dead_letters", "reactor", "sync")
	same("helixd_provider_tokens_total", "select sum(input_tokens) from helix.usage_totals", "purpose", "embedding", "direction", "input")
	same("helixd_provider_cost_dollars_total", "select sum(cost_usd) from helix.usage_totals", "purpose", "embedding")
	same("helixd_provider_cost_today_dollars", "select sum(cost_usd) from helix.usage_totals", "purpose", "embedding")
	same("helixd_provider_requests_total", fmt.Sprint("select ", provider.Count()), "outcome", "ok")
	same("helixd_slot_active", "select count(*) from pg_replication_slots where active and database = current_database()")
	sent := get[float64](t, admin, "select count(*)::float8 from realtime.messages")
	for name, holds := range map[string]bool{
		"broadcasts are those that are there, and those that failed": m.value(t, "helixd_broadcasts_total") == sent+m.value(t, "helixd_broadcast_failures_total"),
		"some failed":                           m.value(t, "helixd_broadcast_failures_total") > 0,
		"one marker was none":                   m.value(t, "helixd_markers_ignored_total") == 1,
		"a reactor's own writes are withheld":   m.value(t, "helixd_loop_drops_total") > 0,
		"sync was halved":                       m.value(t, "helixd_reactor_runs_total", "reactor", "sync", "outcome", "poison") >= 6,
		"and ran":                               m.value(t, "helixd_reactor_runs_total", "reactor", "sync", "outcome", "done") >= 8,
		"jobs were worked":                      m.value(t, "helixd_job_runs_total", "outcome", "done") > 0,
		"each has a duration":                   m.value(t, "helixd_job_runs_total") == m.value(t, "helixd_job_duration_seconds"),
		"it leads":                              m.value(t, "helixd_state", "state", "leading") == 1 && m.value(t, "helixd_state") == 1,
		"nothing is in flight":                  m.value(t, "helixd_stream_in_flight_bytes") == 0,
		"what was received is all that is done": m.value(t, "helixd_stream_received_lsn_bytes") >= m.value(t, "helixd_stream_flushed_lsn_bytes"),
		"no repair":                             m.value(t, "helixd_repairs_total") == 0,
		"one worker":                            m.value(t, "helixd_workers") == 1 && m.value(t, "helixd_standbys") == 0,
		"the publication is well":               m.value(t, "helixd_publication_ok") == 1,
		"the leader gives signs":                m.value(t, "helixd_leader_heartbeat_age_seconds") < 10,
		"the log is safe":                       m.value(t, "helixd_slot_safe_wal_bytes") > 3<<30,
	} {
		if !holds {
			t.Errorf("it does not hold that %s", name)
		}
	}

	t.Run("the documentation has each, and no other", func(t *testing.T) {
		scraped := map[string]string{}
		for name, family := range m {
			if strings.HasPrefix(name, "helixd_") {
				labels := []string{}
				for _, l := range family.Metric[0].Label {
					labels = append(labels, l.GetName())
				}
				slices.Sort(labels)
				scraped[name] = fmt.Sprint(strings.ToLower(family.GetType().String()), labels)
			}
		}
		docs := documented(t)
		for _, name := range slices.Sorted(maps.Keys(docs)) {
			if scraped[name] != docs[name] {
				t.Errorf("%s is documented as %s, and is %q", name, docs[name], scraped[name])
			}
		}
		for _, name := range slices.Sorted(maps.Keys(scraped)) {
			if docs[name] == "" {
				t.Errorf("%s is not documented", name)
			}
		}
	})
	t.Run("no label names a user", func(t *testing.T) {
		if _, body := fetch(t, at+"/metrics", ""); strings.Contains(body, user) || strings.Contains(body, user[:8]) {
			t.Error("the user's id is in the metrics")
		}
	})
	t.Run("promtool has nothing to say", func(t *testing.T) {
		path, err := exec.LookPath("promtool")
		if err != nil {
			t.Skip("no promtool: install Prometheus (apt-get install prometheus)")
		}
		_, body := fetch(t, at+"/metrics", "")
		check := exec.CommandContext(t.Context(), path, "check", "metrics")
		check.Stdin = strings.NewReader(body + "\n")
		if out, err := check.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%v\n%s", err, out)
		}
	})
	t.Run("a database that cannot be read leaves nothing stale", func(t *testing.T) {
		exec1(t, admin, "alter table helix.usage_totals rename to elsewhere")
		until(t, "postgres_up to be 0", func() bool { m = scrape(t, at); return m.value(t, "helixd_postgres_up") == 0 })
		for _, name := range []string{"helixd_slot_lag_bytes", "helixd_dead_letters", "helixd_publication_ok"} {
			if m[name] != nil {
				t.Errorf("%s is there", name)
			}
		}
		if m["helixd_apply_changes_total"] == nil {
			t.Error("what the process counts is gone")
		}
	})
}
