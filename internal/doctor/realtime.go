package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/helixd/helixd/internal/phoenix"
	"github.com/helixd/helixd/migrations"
	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/reactors/outbound"
)

var (
	noRealtimePublication = Kind{"missing", Warn}
	notMember             = Kind{"not-member", Warn}
	columnList            = Kind{"column-list", Warn}

	noRealtime      = Kind{"no-realtime", Info}
	policiesMissing = Kind{"missing", Warn}

	joinRefused    = Kind{"join-refused", Fail}
	notSent        = Kind{"not-sent", Fail}
	notSeen        = Kind{"not-seen", Fail}
	ownRefused     = Kind{"own-topic-refused", Fail}
	othersAreOpen  = Kind{"others-topic-open", Fail}
	secretRejected = Kind{"jwt-secret-rejected", Warn}
)

var realtimeChecks = []Check{
	{"realtime-publication", []Kind{noRealtimePublication, notMember, columnList}, schema, lookAtRealtimePublication},
	{"realtime-policies", []Kind{noRealtime, policiesMissing}, database, lookAtRealtimePolicies},
	{"realtime", []Kind{notSet, noRealtime, noAnswer, keyRejected, joinRefused, notSent, notSeen, ownRefused, othersAreOpen, secretRejected}, database, lookAtRealtime},
}

func lookAtRealtimePublication(ctx context.Context, d *Doctor) ([]Finding, error) {
	there, err := list[bool](ctx, d, "select puballtables from pg_publication where pubname = 'supabase_realtime'")
	if err != nil {
		return nil, err
	}
	var all, missing []string
	for _, t := range migrations.Tables {
		if t.Realtime {
			all = append(all, t.Name)
		}
	}
	if len(there) == 0 {
		return []Finding{noRealtimePublication.found("Run:", "create publication supabase_realtime for table only public."+strings.Join(all, ", only public.")+";",
			"there is no publication supabase_realtime: postgres_changes does not show results")}, nil
	}
	published, err := rowsOf[struct {
		Table string
		Whole bool
	}](ctx, d, `select t.tablename, r.prattrs is null from pg_publication_tables t join pg_publication p using (pubname)
		left join pg_publication_rel r on r.prpubid = p.oid and r.prrelid = to_regclass(format('%I.%I', t.schemaname, t.tablename))
		where pubname = 'supabase_realtime' and schemaname = 'public'`)
	if err != nil {
		return nil, err
	}
	members := map[string]bool{}
	var found []Finding
	for _, t := range published {
		members[t.Table] = true
	}
	for _, name := range all {
		if !members[name] {
			missing = append(missing, "public."+name)
		}
	}
	if missing != nil {
		found = append(found, notMember.found("Run as the publication's owner:", "alter publication supabase_realtime add table only "+strings.Join(missing, ", only ")+";",
			"postgres_changes does not show changes of %s", strings.Join(missing, ", ")))
	}
	for _, t := range published {
		for _, name := range all {
			if t.Table == name && !t.Whole {
				found = append(found, columnList.found("Run as the publication's owner:", fmt.Sprintf("alter publication supabase_realtime drop table only public.%s; alter publication supabase_realtime add table only public.%[1]s;", name),
					"publication supabase_realtime has a column list for public.%s: apps do not see all of a result", name))
			}
		}
	}
	if found == nil {
		return fine("publication supabase_realtime has all %d tables that it must", len(all)), nil
	}
	return found, nil
}

const noRealtimeRemedy = "Switch Realtime on for the project; until then apps see results when they select them."

func lookAtRealtimePolicies(ctx context.Context, d *Doctor) ([]Finding, error) {
	var there bool
	if err := d.pool.QueryRow(ctx, "select to_regclass('realtime.messages') is not null and to_regprocedure('realtime.send(jsonb, text, text, boolean)') is not null").Scan(&there); err != nil {
		return nil, err
	}
	if !there {
		return []Finding{noRealtime.found(noRealtimeRemedy, "", "the project has no realtime.send: results are not broadcast")}, nil
	}
	lacks, err := reactors.LacksBroadcastPolicies(ctx, d.pool)
	if err != nil {
		return nil, err
	}
	if lacks {
		return []Finding{policiesMissing.found("Start helixd run, or restart it (each start makes them); or run as an administrator:", strings.TrimSpace(reactors.BroadcastPolicies),
			"policies on realtime.messages are missing: users do not receive their private broadcasts, or may send")}, nil
	}
	return fine("users receive on their own topic only, and nobody sends on helix:*"), nil
}

const realtimeRemedy = "Check SUPABASE_URL, that Realtime is on for the project, and its logs (dashboard → Logs → Realtime)."

// event is what the round trip broadcasts.
const event = "helixd_doctor"

// lookAtRealtime goes the way of a result: a row in realtime.messages, written by
// realtime.send, has to reach a client on its private channel.
//
// The service key passes the policies, so with it alone the round trip shows that
// Realtime runs, reads the database's messages and takes the key. With the
// project's JWT secret a made-up user joins, as an app does: then the policies are
// shown as well, and that another one's topic is refused.
func lookAtRealtime(ctx context.Context, d *Doctor) ([]Finding, error) {
	if !d.project() {
		return []Finding{notSet.found(supabaseRemedy, "", "the round trip through Realtime was not tried: SUPABASE_URL or SUPABASE_SERVICE_ROLE_KEY is not set")}, nil
	}
	var there bool
	if err := d.pool.QueryRow(ctx, "select to_regprocedure('realtime.send(jsonb, text, text, boolean)') is not null").Scan(&there); err != nil {
		return nil, err
	}
	if !there {
		return []Finding{noRealtime.found(noRealtimeRemedy, "", "the project has no realtime.send: results are not broadcast")}, nil
	}
	client, err := phoenix.Dial(ctx, phoenix.Options{URL: d.SupabaseURL, Key: d.ServiceKey, HTTP: d.client()})
	var status *phoenix.StatusError
	switch {
	case errors.As(err, &status) && (status.Status == http.StatusUnauthorized || status.Status == http.StatusForbidden):
		return []Finding{keyRejected.found(supabaseRemedy, "", "Realtime refuses SUPABASE_SERVICE_ROLE_KEY: %v", status)}, nil
	case err != nil:
		return []Finding{noAnswer.found(realtimeRemedy, "", "Realtime: %v", err)}, nil
	}
	defer client.Close()
	user, token, as := uuid.NewString(), "", "the service role, which passes the policies"
	if _, ok := readToken(d.ServiceKey); ok {
		token = d.ServiceKey
	}
	if d.JWTSecret != "" {
		as = "a user on their own topic, and another one's is refused"
		if token, err = signToken(d.JWTSecret, user, d.Now()); err != nil {
			return nil, err
		}
	}
	channel, err := client.Join(ctx, "helix:"+user, phoenix.JoinOptions{Private: true, AccessToken: token})
	var refused *phoenix.RefusedError
	switch {
	case errors.As(err, &refused) && d.JWTSecret != "" && aboutToken(refused.Reason):
		return []Finding{secretRejected.found("Set SUPABASE_JWT_SECRET to the project's legacy JWT secret (dashboard → Project Settings → JWT Keys), or unset it.", "",
			"Realtime refuses a token that was signed with SUPABASE_JWT_SECRET: %s", d.said(refused, token))}, nil
	case errors.As(err, &refused) && d.JWTSecret != "":
		return []Finding{ownRefused.found("See check realtime-policies; or run as an administrator:", strings.TrimSpace(reactors.BroadcastPolicies),
			"a user may not join their own topic: %s", d.said(refused, token))}, nil
	case errors.As(err, &refused):
		return []Finding{joinRefused.found("Check SUPABASE_SERVICE_ROLE_KEY, and that private channels are allowed (dashboard → Realtime → Settings).", "",
			"Realtime refuses the service key's join: %s", d.said(refused, token))}, nil
	case err != nil:
		return []Finding{noAnswer.found(realtimeRemedy, "", "Realtime does not answer a join")}, nil
	}
	took, found, err := d.roundTrip(ctx, channel, user)
	if found != nil || err != nil {
		return found, err
	}
	if d.JWTSecret != "" {
		other, err := client.Join(ctx, "helix:"+uuid.NewString(), phoenix.JoinOptions{Private: true, AccessToken: token})
		if err == nil {
			_ = other.Leave(ctx)
			return []Finding{othersAreOpen.found("Run as an administrator:", strings.TrimSpace(reactors.BroadcastPolicies),
				"a user may join the topic of another, and sees their results")}, nil
		}
		if !errors.As(err, &refused) {
			return nil, errors.New("Realtime does not answer the join of another user's topic")
		}
	}
	return fine("a broadcast came back in %s, to %s", took.Round(100*time.Microsecond), as), nil
}

// said are the server's words, readable, and without the key or a token, which it was sent.
func (d *Doctor) said(e *phoenix.RefusedError, token string) string {
	const most = 200
	if text := outbound.Clean(outbound.Clean(e.Reason, token, len(e.Reason)), d.ServiceKey, most); text != "" {
		return text
	}
	return "it does not say why"
}

// aboutToken reports whether a refusal is of the token and not of the policies.
func aboutToken(reason string) bool {
	return strings.Contains(reason, "Jwt") || strings.Contains(reason, "JWT") || strings.Contains(strings.ToLower(reason), "token")
}

// patience is how long a broadcast may take: a few milliseconds as a rule.
const patience = 5 * time.Second

// roundTrip sends a broadcast in SQL and waits until the channel hears it.
func (d *Doctor) roundTrip(ctx context.Context, channel *phoenix.Channel, user string) (time.Duration, []Finding, error) {
	nonce := uuid.NewString()
	began := time.Now()
	if _, err := d.pool.Exec(ctx, "select realtime.send(jsonb_build_object('nonce', $1::text), $2::text, $3::text, true)", nonce, event, "helix:"+user); err != nil {
		return 0, nil, err
	}
	// What it wrote goes again where this role may delete it; else with Realtime's
	// partition, in three days.
	defer func() {
		_, _ = d.pool.Exec(context.WithoutCancel(ctx), "delete from realtime.messages where topic = $1", "helix:"+user)
	}()
	var written int
	if err := d.pool.QueryRow(ctx, "select count(*) from realtime.messages where topic = $1", "helix:"+user).Scan(&written); err != nil {
		return 0, nil, err
	}
	if written == 0 {
		return 0, []Finding{notSent.found("See the warning of: select realtime.send('{}', 'x', 'helix:x', true); it may lack a right on realtime.messages. Run as an administrator:",
			"grant select, insert on realtime.messages to "+d.user(ctx)+";", "realtime.send wrote no message")}, nil
	}
	wait, cancel := context.WithTimeout(ctx, min(patience, d.Timeout/2))
	defer cancel()
	for {
		b, err := channel.Receive(wait)
		if err != nil {
			return 0, []Finding{notSeen.found("Look at the project's Realtime logs (dashboard → Logs → Realtime): does it read the database? Its slot is in select * from pg_replication_slots.", "",
				"the channel was joined, and a broadcast that realtime.send wrote did not come back")}, nil
		}
		var payload struct {
			Nonce string `json:"nonce"`
		}
		if b.Event == event && json.Unmarshal(b.Payload, &payload) == nil && payload.Nonce == nonce {
			return time.Since(began), nil, nil
		}
	}
}
