package rights

import (
	"cmp"
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// Kind is what a capability is of.
type Kind string

// The kinds of capabilities.
const (
	Network       Kind = "network:https"
	MemoriesRead  Kind = "memories:read"
	MemoriesWrite Kind = "memories:write"
	KV            Kind = "kv"
	Secrets       Kind = "secrets"
	LLM           Kind = "llm"
)

// HTTPS is the port of a network capability that names none.
const HTTPS = 443

// maxText is the length of the longest capability, in bytes: skill_grants holds
// no longer one.
const maxText = 300

// Capability is one thing that a skill may do. Those that mean the same are equal.
//
//	network:https                  https to the hosts of the operator's list
//	network:https:<host>[:<port>]  https to this host, exactly; port 443 if none is named
//	memories:read, memories:write  the memories of the run's own user
//	kv                             the skill's own keys of the run's own user
//	secrets:<name>                 a secret of the run's own user, in header values of requests
//	llm                            the operator's language model, at the cost of the run's own user
type Capability struct {
	Kind Kind
	// Host, in ASCII and lower case, and Port are of Network; without them it is
	// of all hosts of the operator's list, which [Policy.Decide] puts in its place.
	Host string
	Port uint16
	Name string // of a secret
}

// String is the one spelling of the capability, which Parse reads.
func (c Capability) String() string {
	switch {
	case c.Kind == Secrets:
		return "secrets:" + c.Name
	case c.Kind == Network && c.Host != "" && c.Port != HTTPS:
		return fmt.Sprintf("network:https:%s:%d", c.Host, c.Port)
	case c.Kind == Network && c.Host != "":
		return "network:https:" + c.Host
	}
	return string(c.Kind)
}

// Compare orders capabilities by what they are spelled like.
func (c Capability) Compare(d Capability) int {
	return cmp.Or(cmp.Compare(c.Kind, d.Kind), cmp.Compare(c.Host, d.Host), cmp.Compare(c.Port, d.Port), cmp.Compare(c.Name, d.Name))
}

// Parse reads a capability. Its error is an [*Error] with the code Refused.
func Parse(text string) (Capability, error) {
	if len(text) > maxText {
		return Capability{}, refused("a capability is longer than %d bytes", maxText)
	}
	switch Kind(text) {
	case Network, MemoriesRead, MemoriesWrite, KV, LLM:
		return Capability{Kind: Kind(text)}, nil
	}
	if address, ok := strings.CutPrefix(text, "network:https:"); ok {
		host, port, err := ParseHost(address)
		if err != nil {
			return Capability{}, err
		}
		return Capability{Kind: Network, Host: host, Port: port}, nil
	}
	if name, ok := strings.CutPrefix(text, "secrets:"); ok {
		if !IsSecretName(name) {
			return Capability{}, refused("%q names no secret: a name has 1 to 64 of a-z, 0-9, _ and -", text)
		}
		return Capability{Kind: Secrets, Name: name}, nil
	}
	switch {
	case strings.HasPrefix(text, "filesystem:"):
		return Capability{}, refused("%q: no skill gets at files", text)
	case strings.HasPrefix(text, "network:"):
		return Capability{}, refused("%q: a skill reaches named hosts over https only, as in network:https:api.example.com", text)
	}
	return Capability{}, refused("%q is no capability", text)
}

var secretName = regexp.MustCompile(`^[a-z0-9_-]{1,64}$`)

// IsSecretName reports whether a secret can have this name.
func IsSecretName(name string) bool { return secretName.MatchString(name) }

// ParseHost reads host[:port] of a network capability or of the operator's list.
// The host is a full name, so it has a dot and no wildcard, and is no address: an
// address says nothing about whose it is. It is given in ASCII and lower case.
func ParseHost(address string) (host string, port uint16, err error) {
	name, digits, named := strings.Cut(address, ":")
	port = HTTPS
	if named {
		n, err := strconv.ParseUint(digits, 10, 16)
		if err != nil || n == 0 || digits[0] < '1' || digits[0] > '9' {
			return "", 0, refused("%q has no port from 1 to 65535 after its host", address)
		}
		port = uint16(n)
	}
	host, err = Host(name)
	return host, port, err
}

// names is idna.Lookup, and no label may be empty or too long.
var names = idna.New(idna.MapForLookup(), idna.BidiRule(), idna.StrictDomainName(true), idna.VerifyDNSLength(true))

// Host gives a host's name as capabilities have it.
func Host(name string) (string, error) {
	if len(name) > maxText {
		return "", refused("a host's name is longer than %d bytes", maxText)
	}
	if strings.Contains(name, "*") {
		return "", refused("%q has a wildcard: each host is named", name)
	}
	host, err := names.ToASCII(name)
	if err != nil || host[len(host)-1] == '.' {
		return "", refused("%q is no host's name", name)
	}
	if again, err := names.ToASCII(host); err != nil || again != host { // of bytes that are not UTF-8
		return "", refused("%q is no host's name", name)
	}
	dot := strings.LastIndexByte(host, '.')
	last := host[dot+1:]
	switch {
	case dot < 0:
		return "", refused("%q is no full name of a host", name)
	case isNumber(last):
		return "", refused("%q is an address: hosts have names", name)
	case last == "localhost" || last == "local" || last == "internal" || last == "onion" || strings.HasSuffix(host, ".home.arpa"):
		return "", refused("%q is a name of a private network", name)
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return "", refused("%q is an address: hosts have names", name)
	}
	return host, nil
}

// isNumber reports whether a name with this last label is read as an IPv4 address
// by some ("127.1", "0x7f.0.0.1"): the WHATWG URL standard's "ends in a number".
func isNumber(label string) bool {
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}
