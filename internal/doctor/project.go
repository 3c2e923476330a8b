package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/helixd/helixd/reactors/outbound"
)

var (
	notSet         = Kind{"not-set", Info}
	notServiceRole = Kind{"not-service-role", Fail}
	anotherProject = Kind{"another-project", Fail}
	expired        = Kind{"expired", Fail}
	keyInTheClear  = Kind{"in-the-clear", Warn}
	keyRejected    = Kind{"rejected", Fail}
	noAnswer       = Kind{"unreachable", Fail}
)

var projectChecks = []Check{
	{"supabase", []Kind{notSet, notServiceRole, anotherProject, expired, keyInTheClear, keyRejected, noAnswer}, nothing, lookAtSupabase},
	{"storage", []Kind{notSet, keyRejected, noAnswer}, nothing, lookAtStorage},
}

const supabaseRemedy = "Set SUPABASE_URL and SUPABASE_SERVICE_ROLE_KEY (dashboard → Project Settings → API Keys: a secret key, or the legacy service_role)."

// project reports whether there is a key to ask the project's services with.
func (d *Doctor) project() bool { return d.SupabaseURL != "" && d.ServiceKey != "" }

func lookAtSupabase(ctx context.Context, d *Doctor) ([]Finding, error) {
	if !d.project() {
		return []Finding{notSet.found(supabaseRemedy, "", "SUPABASE_URL or SUPABASE_SERVICE_ROLE_KEY is not set: recordings in Storage wait, and Realtime is not tried")}, nil
	}
	if c, ok := readToken(d.ServiceKey); ok {
		switch {
		case c.Role != "service_role":
			return []Finding{notServiceRole.found(supabaseRemedy, "", "SUPABASE_SERVICE_ROLE_KEY is a key of role %q", c.Role)}, nil
		case c.Exp != 0 && d.Now().Unix() > c.Exp:
			return []Finding{expired.found(supabaseRemedy, "", "SUPABASE_SERVICE_ROLE_KEY has expired")}, nil
		}
		for _, of := range []struct{ setting, address string }{{"SUPABASE_URL", d.SupabaseURL}, {"SUPABASE_DB_URL", d.DatabaseURL}} {
			if ref := refOf(of.address); ref != "" && c.Ref != "" && ref != c.Ref {
				return []Finding{anotherProject.found(supabaseRemedy, "", "SUPABASE_SERVICE_ROLE_KEY is of project %s, and %s of %s", c.Ref, of.setting, ref)}, nil
			}
		}
	} else if strings.HasPrefix(d.ServiceKey, "sb_publishable_") {
		return []Finding{notServiceRole.found(supabaseRemedy, "", "SUPABASE_SERVICE_ROLE_KEY is a publishable key")}, nil
	}
	if a, b := refOf(d.SupabaseURL), refOf(d.DatabaseURL); a != "" && b != "" && a != b {
		return []Finding{anotherProject.found(supabaseRemedy, "", "SUPABASE_URL is of project %s, and SUPABASE_DB_URL of %s", a, b)}, nil
	}
	if outbound.InTheClear(d.SupabaseURL) {
		return []Finding{keyInTheClear.found("Set SUPABASE_URL with https.", "", "SUPABASE_URL has http: recordings, the service key with them, can be read on their way")}, nil
	}
	return d.askProject(ctx, "/rest/v1/", "the Data API", nil)
}

func lookAtStorage(ctx context.Context, d *Doctor) ([]Finding, error) {
	if !d.project() {
		return []Finding{notSet.found(supabaseRemedy, "", "recordings with a storage_path wait: SUPABASE_URL or SUPABASE_SERVICE_ROLE_KEY is not set")}, nil
	}
	return d.askProject(ctx, "/storage/v1/bucket", "Storage", func(body []byte) (string, error) {
		var buckets []json.RawMessage
		if err := json.Unmarshal(body, &buckets); err != nil {
			return "", errors.New("its answer is no list of buckets")
		}
		return fmt.Sprintf("; there are %d buckets", len(buckets)), nil
	})
}

// mostAnswer bounds what is read of an answer.
const mostAnswer = 16 << 20

// client is what asks services outside.
func (d *Doctor) client() *http.Client { return outbound.Client(d.HTTP) }

// askProject asks one of the project's services with the service key. read may be nil.
func (d *Doctor) askProject(ctx context.Context, path, service string, read func([]byte) (string, error)) ([]Finding, error) {
	const check = "Check SUPABASE_URL, and that the project is not paused."
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(d.SupabaseURL, "/")+path, nil)
	if err != nil {
		return []Finding{noAnswer.found(check, "", "SUPABASE_URL is no address")}, nil
	}
	req.Header.Set("User-Agent", "helixd") // the gateway refuses secret keys where this is a browser's
	req.Header.Set("apikey", d.ServiceKey)
	if _, ok := readToken(d.ServiceKey); ok { // the others are no tokens
		req.Header.Set("Authorization", "Bearer "+d.ServiceKey)
	}
	began := time.Now()
	resp, err := d.client().Do(req)
	if err != nil {
		return []Finding{noAnswer.found(check, "", "%s does not answer", service)}, nil
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, mostAnswer))
	switch {
	case resp.StatusCode == http.StatusUnauthorized, resp.StatusCode == http.StatusForbidden,
		resp.StatusCode == http.StatusBadRequest && service == "Storage": // so it answers to a bad signature
		return []Finding{keyRejected.found(supabaseRemedy, "", "%s refuses SUPABASE_SERVICE_ROLE_KEY: %d %s", service, resp.StatusCode, http.StatusText(resp.StatusCode))}, nil
	case err != nil || resp.StatusCode != http.StatusOK:
		return []Finding{noAnswer.found(check, "", "%s answers %d %s", service, resp.StatusCode, http.StatusText(resp.StatusCode))}, nil
	}
	more := ""
	if read != nil {
		if more, err = read(body); err != nil {
			return []Finding{noAnswer.found(check, "", "%s: %v", service, err)}, nil
		}
	}
	return fine("%s takes the service key, in %s%s", service, time.Since(began).Round(time.Millisecond), more), nil
}
