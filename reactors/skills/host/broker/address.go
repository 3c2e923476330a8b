package broker

import "net/netip"

// special are the addresses below public4 and public6 that are no host's on the
// public Internet: IANA's special-purpose registries, globally reachable or not,
// since nobody has an API there
// (https://www.iana.org/assignments/iana-ipv4-special-registry,
// https://www.iana.org/assignments/iana-ipv6-special-registry), and what clouds
// have beside them.
var special = prefixes(
	"0.0.0.0/8",        // this network (RFC 791)
	"10.0.0.0/8",       // private (RFC 1918)
	"100.64.0.0/10",    // shared, carrier-grade NAT (RFC 6598)
	"127.0.0.0/8",      // loopback (RFC 1122)
	"168.63.129.16/32", // Azure's host, from inside a virtual machine
	"169.254.0.0/16",   // link-local, where clouds keep credentials (RFC 3927)
	"172.16.0.0/12",    // private (RFC 1918)
	"192.0.0.0/24",     // IETF protocol assignments (RFC 6890)
	"192.0.2.0/24",     // documentation (RFC 5737)
	"192.31.196.0/24",  // AS112 (RFC 7535)
	"192.52.193.0/24",  // AMT (RFC 7450)
	"192.88.99.0/24",   // 6to4 relays (RFC 7526)
	"192.168.0.0/16",   // private (RFC 1918)
	"192.175.48.0/24",  // AS112 (RFC 7534)
	"198.18.0.0/15",    // benchmarking (RFC 2544)
	"198.51.100.0/24",  // documentation (RFC 5737)
	"203.0.113.0/24",   // documentation (RFC 5737)
	"224.0.0.0/4",      // multicast (RFC 1112)
	"240.0.0.0/4",      // reserved, and broadcast (RFC 1112, RFC 919)

	"2001::/23",         // IETF protocol assignments: Teredo, ORCHID, benchmarking and more (RFC 2928)
	"2001:db8::/32",     // documentation (RFC 3849)
	"2002::/16",         // 6to4, which holds any IPv4 address (RFC 3056)
	"2620:4f:8000::/48", // AS112 (RFC 7534)
	"3ffe::/16",         // 6bone, given back (RFC 3701)
	"3fff::/20",         // documentation (RFC 9637)
)

// global6 is all that is assigned to hosts of the IPv6 Internet. Outside of it are
// loopback, IPv4-mapped and -compatible addresses, NAT64 (64:ff9b::/96 and
// 64:ff9b:1::/48), discard-only, segment routing (5f00::/16), unique local,
// link-local, site-local and multicast addresses
// (https://www.iana.org/assignments/ipv6-address-space).
var global6 = netip.MustParsePrefix("2000::/3")

func prefixes(texts ...string) (all []netip.Prefix) {
	for _, text := range texts {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

// IsPublic reports whether the address is one that a host of the public Internet
// can have. An IPv4-mapped address is what it maps.
func IsPublic(a netip.Addr) bool {
	if a.Zone() != "" {
		return false
	}
	a = a.Unmap()
	if !a.IsValid() || a.Is6() && !global6.Contains(a) {
		return false
	}
	for _, p := range special {
		if p.Contains(a) {
			return false
		}
	}
	return true
}
