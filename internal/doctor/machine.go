package doctor

import (
	"context"
	"io"
	"net/http"
	"strings"

	"github.com/helixd/helixd/reactors/outbound"
)

// Key is a provider's, and what its reactor does without.
type Key struct {
	Name    string // of the service: "deepgram"
	Setting string // of its key
	Value   string
	Without string // what happens: "recordings wait as pending"
	Prefix  string // that each key has; "": any
	// Ask is the address that lists models or projects for nothing, and Header the
	// request's header with the key; "" is a bearer token.
	Ask, Header string
	Local       bool // a service that needs no key has an address
}

var (
	keyMissing   = Kind{"missing", Info}
	keyMalformed = Kind{"malformed", Warn}

	layerMissing  = Kind{"required-missing", Fail}
	layerOptional = Kind{"optional-missing", Info}
	noChild       = Kind{"no-child", Fail}
	isUnsafe      = Kind{"unsafe", Warn}
)

var machineChecks = []Check{
	{"keys", []Kind{keyMissing, keyMalformed, keyRejected, noAnswer}, nothing, lookAtKeys},
	{"sandbox", []Kind{layerMissing, layerOptional, noChild, isUnsafe}, nothing, lookAtSandbox},
}

func lookAtKeys(ctx context.Context, d *Doctor) ([]Finding, error) {
	if len(d.Keys) == 0 {
		return fine("no provider is used"), nil
	}
	var found []Finding
	for _, k := range d.Keys {
		set := "Set " + k.Setting + "."
		switch {
		case k.Value == "" && !k.Local:
			found = append(found, keyMissing.found(set, "", "%s is not set: %s", k.Setting, k.Without))
		case k.Value != "" && (!outbound.ValidKey(k.Value) || strings.TrimSpace(k.Value) != k.Value || strings.ContainsAny(k.Value, " <>\"'")):
			found = append(found, keyMalformed.found(set, "", "%s has spaces, quotes or a placeholder in it", k.Setting))
		case k.Value != "" && !strings.HasPrefix(k.Value, k.Prefix):
			found = append(found, keyMalformed.found(set, "", "%s does not begin with %s, as keys of %s do", k.Setting, k.Prefix, k.Name))
		case d.Ask && k.Ask != "":
			found = append(found, d.askProvider(ctx, k))
		case k.Value == "":
			found = append(found, Fine.found("", "", "%s needs no key; helixd doctor --ask-providers asks it", k.Name))
		default:
			found = append(found, Fine.found("", "", "%s is set; helixd doctor --ask-providers asks %s whether it is valid", k.Setting, k.Name))
		}
	}
	return found, nil
}

// askProvider makes the one request of a key that costs nothing.
func (d *Doctor) askProvider(ctx context.Context, k Key) Finding {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, k.Ask, nil)
	if err != nil {
		return noAnswer.found("Check the address of "+k.Name+".", "", "%s has no address", k.Name)
	}
	switch {
	case k.Header != "":
		name, value, _ := strings.Cut(k.Header, ": ")
		req.Header.Set(name, value+k.Value)
	case k.Value != "":
		req.Header.Set("Authorization", "Bearer "+k.Value)
	}
	if k.Name == "anthropic" {
		req.Header.Set("anthropic-version", "2023-06-01")
	}
	req.Header.Set("User-Agent", "helixd")
	resp, err := d.client().Do(req)
	if err != nil {
		return noAnswer.found("Check the network of this machine, and the address of "+k.Name+".", "", "%s does not answer at %s", k.Name, req.URL.Host)
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, mostAnswer))
	switch {
	case resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden:
		return keyRejected.found("Set "+k.Setting+".", "", "%s refuses the key of %s: %d %s", k.Name, k.Setting, resp.StatusCode, http.StatusText(resp.StatusCode))
	case resp.StatusCode != http.StatusOK:
		return noAnswer.found("Check the network of this machine, and the address of "+k.Name+".", "", "%s answers %d %s", k.Name, resp.StatusCode, http.StatusText(resp.StatusCode))
	}
	return Fine.found("", "", "%s takes the key", k.Name)
}

// layerRemedies are what an operator does for a layer.
var layerRemedies = map[string]string{
	"process":      "Run helixd in a container or unit that does not forbid prctl.",
	"no_new_privs": "Run helixd in a container or unit that does not forbid prctl.",
	"rlimits":      "Raise the hard limits of the unit or container (ulimit -H), such as LimitNOFILE=1024.",
	"seccomp":      "Use a kernel with CONFIG_SECCOMP_FILTER, and a container profile that allows the system call seccomp.",
	"parent_death": "Run helixd in a container or unit that does not forbid prctl.",
	"landlock":     "Use Linux 5.13 or later with landlock in the boot parameter lsm=, and a container profile that allows its system calls.",
	"uid":          "Run helixd as root, which then runs children as nobody; or leave it: the other layers hold.",
	"namespaces":   "Run helixd as root, or run: sysctl -w kernel.unprivileged_userns_clone=1; or leave it: the other layers hold.",
}

func lookAtSandbox(ctx context.Context, d *Doctor) ([]Finding, error) {
	if d.Sandbox == nil {
		return fine("nothing here runs untrusted code"), nil
	}
	var found []Finding
	if d.Unsafe {
		found = append(found, isUnsafe.found("Set HELIX_SANDBOX=required.", "", "HELIX_SANDBOX is unsafe: code of strangers runs even where a required layer is missing"))
	}
	layers, err := d.Sandbox(ctx)
	if err != nil {
		return append(found, noChild.found("Set HELIX_CACHE_DIR to a directory on a disk that is not mounted noexec, and that other users may enter.", "", "no worker child can be started: %v", err)), nil
	}
	var hold []string
	for _, l := range layers {
		switch {
		case l.Active:
			hold = append(hold, l.Name)
		case l.Required:
			found = append(found, layerMissing.found(layerRemedies[l.Name], "", "layer %s does not hold (%s): skills and recordings are not run", l.Name, l.Detail))
		default:
			found = append(found, layerOptional.found(layerRemedies[l.Name], "", "layer %s does not hold (%s)", l.Name, l.Detail))
		}
	}
	return append(found, Fine.found("", "", "layers that hold: %s", strings.Join(hold, ", "))), nil
}
