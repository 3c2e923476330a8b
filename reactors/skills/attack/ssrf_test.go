package attack_test

import (
	"crypto/sha256"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/helixd/helixd/reactors/sandbox"
	"github.com/helixd/helixd/reactors/skills/host"
	"github.com/helixd/helixd/reactors/skills/host/broker"
	"github.com/helixd/helixd/reactors/skills/host/broker/brokertest"
	"github.com/helixd/helixd/reactors/skills/rights"
)

// fetchAll tells how each of the input's URLs ended: with a code, or "reached".
const fetchAll = `export default async ({ urls }) => {
  const ends = []
  for (const url of urls) {
    try { ends.push('reached: ' + await (await fetch(url)).text()) } catch (e) { ends.push(String(e.code ?? e)) }
  }
  return ends
}`

// TestScriptReachesNoPrivateAddress has a script with the capability for every
// name try the addresses that are not the Internet's. A server that stands for
// what is inside counts who came.
func TestScriptReachesNoPrivateAddress(t *testing.T) {
	internet := brokertest.New(t)
	var visitors atomic.Int64
	listener, err := net.Listen("tcp", "127.0.0.2:0") // not the address that stands for the Internet
	if err != nil {
		t.Fatal(err)
	}
	inside := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { visitors.Add(1) }))
	inside.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			visitors.Add(1)
		}
	}
	inside.Listener.Close() //nolint:errcheck // another takes its place
	inside.Listener = listener
	inside.StartTLS()
	t.Cleanup(inside.Close)
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}

	public := internet.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if to := r.URL.Query().Get("to"); to != "" {
			http.Redirect(w, r, to, http.StatusFound)
			return
		}
		w.Write([]byte("hello")) //nolint:errcheck // the client's failure is the test's
	}), "public.example")[0]
	_, publicPort, err := net.SplitHostPort(public)
	if err != nil {
		t.Fatal(err)
	}
	may := []rights.Capability{}
	allow := func(name string, ports ...string) {
		for _, p := range ports {
			capability, err := rights.Parse("network:https:" + name + ":" + p)
			if err != nil {
				t.Fatal(err)
			}
			may = append(may, capability)
		}
	}
	allow("public.example", "443", publicPort)
	// Names of others may resolve to anything.
	for name, addresses := range map[string][]string{
		"loopback.example": {"127.0.0.2"}, "loopback6.example": {"::1"}, "mapped.example": {"::ffff:127.0.0.2"},
		"metadata.example": {"169.254.169.254"}, "ten.example": {"10.0.0.1"}, "home.example": {"192.168.1.1"}, "docker.example": {"172.17.0.1"},
		"carrier.example": {"100.64.0.1"}, "nothing.example": {"0.0.0.0"}, "unique.example": {"fd00:ec2::254"}, "link.example": {"fe80::1"},
		"nat64.example": {"64:ff9b::7f00:2"}, "both.example": {internet.Permitted.String(), "127.0.0.2"},
	} {
		internet.Name(name, addresses...)
		allow(name, "443", port)
	}
	// The second answer is another, as if between a check and a connection.
	internet.Name("rebinding.example", internet.Permitted.String())
	internet.Name("rebinding.example", "127.0.0.2")
	allow("rebinding.example", port)

	refused := []string{string(broker.InvalidRequest), string(broker.HostNotAllowed), string(broker.AddressForbidden)}
	forbidden := []string{string(broker.AddressForbidden)}
	attempts := map[string][]string{
		"http://public.example/": refused, "file:///etc/passwd": refused, "gopher://127.0.0.2:" + port: refused, "//127.0.0.2:" + port: refused,
		"https://user:password@public.example:" + publicPort: refused, "https://public.example@127.0.0.2:" + port: refused,
		"https://public.example:" + publicPort + "\\@127.0.0.2:" + port: refused,
		"https://127.0.0.2:" + port:                                     refused, "https://localhost:" + port: refused, "https://localhost.:" + port: refused,
		"https://[::1]:" + port: refused, "https://[::ffff:127.0.0.2]:" + port: refused, "https://[fe80::1%25lo]:" + port: refused,
		"https://2130706434:" + port: refused, "https://0x7f000002:" + port: refused, "https://0177.0.0.2:" + port: refused, "https://127.2:" + port: refused,
		"https://127.0.0.2.:" + port: refused, "https://①②⑦.⓪.⓪.②:" + port: refused, "https://0:" + port: refused, "https://169.254.169.254/latest/meta-data/": refused,
		"https://other.example/": refused, "https://public.example:" + port: refused,
		"https://rebinding.example:" + port: append(forbidden, string(broker.NetworkError)),
	}
	for _, name := range []string{"loopback", "loopback6", "mapped", "ten", "home", "docker", "carrier", "nothing", "unique", "link", "nat64", "both"} {
		attempts["https://"+name+".example:"+port+"/"] = forbidden
	}
	attempts["https://metadata.example/latest/meta-data/"] = forbidden
	for _, to := range []string{"http://public.example/", "https://127.0.0.2:" + port, "https://[::1]:" + port, "https://localhost:" + port,
		"https://loopback.example:" + port, "https://metadata.example/", "file:///etc/passwd", "//2130706434:" + port, "https://other.example/"} {
		attempts["https://"+public+"/?to="+url.QueryEscape(to)] = refused
	}

	pool := newPool(t, t.TempDir())
	services := host.New(nil, host.Options{Broker: internet.Broker})
	run := services.Run(host.Subject{Run: uuid.New(), User: uuid.New(), May: rights.NewSet(may...)}, nil)
	fetch := func(urls ...string) (ends []string) {
		input, err := json.Marshal(map[string]any{"urls": urls})
		if err != nil {
			t.Fatal(err)
		}
		result, err := pool.Run(t.Context(), sandbox.Call{
			Tenant: "attacker", Input: input, Limits: sandbox.DefaultLimits, Now: time.Now(), Host: run,
			Program: sandbox.Program{Kind: sandbox.KindJavaScript, SHA256: sha256.Sum256([]byte(fetchAll)), Code: writes(fetchAll)},
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(result.Output, &ends); err != nil {
			t.Fatal(err)
		}
		return ends
	}
	if ends := fetch("https://" + public + "/"); ends[0] != "reached: hello" {
		t.Fatalf("the Internet is not there: %v", ends)
	}
	for target, want := range attempts {
		t.Run(target, func(t *testing.T) {
			if end := fetch(target)[0]; !slices.Contains(want, end) {
				t.Errorf("it ended with %s, want one of %v", end, want)
			}
		})
	}
	if n := visitors.Load(); n > 0 {
		t.Errorf("%d connections came inside", n)
	}
}
