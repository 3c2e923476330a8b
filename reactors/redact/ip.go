package redact

import "net/netip"

// findIPs finds addresses of version 4 and 6, with or without a port, a prefix length, or the brackets of a URL, all
// of which stay. Four numbers with dots are an address even if somebody means a version, unless a "v" stands directly
// before them or there are more than four. Of version 6 an address without digits needs four parts: "a::b" is code.
func findIPs(v *view, found []span) []span {
	for i := range v.groups {
		if hi := v.ip4(i); hi > 0 {
			found = append(found, span{lo: v.groups[i].lo, hi: hi})
		}
	}
	for i := v.lo; i < v.hi; i++ {
		if !isHex(v.s[i]) && v.s[i] != ':' || i > 0 && (isAlnum(v.s[i-1]) || v.s[i-1] == '_') {
			continue
		}
		if hi := v.ip6(i); hi > 0 {
			found = append(found, span{lo: i, hi: hi})
			i = hi - 1
		}
	}
	return found
}

func (v *view) ip4(i int) int {
	if i+3 >= len(v.groups) {
		return 0
	}
	g := v.groups[i : i+4]
	for n, part := range g {
		if part.len() > 3 || n > 0 && (v.s[part.lo-1] != '.' || part.lo-1 != g[n-1].hi) {
			return 0
		}
	}
	lo, hi := g[0].lo, g[3].hi
	switch {
	case v.at(lo-1) == '.' && isDigit(v.at(lo-2)), v.at(hi) == '.' && isDigit(v.at(hi+1)):
		return 0
	case v.at(lo-1) == 'v' && !isLetter(v.at(lo-2)):
		return 0
	}
	if _, err := netip.ParseAddr(string(v.s[lo:hi])); err != nil {
		return 0
	}
	return hi
}

func isHex(r rune) bool { return isDigit(r) || 'a' <= r && r <= 'f' }

const longestIP6 = 45

// ip6 says where the longest address ends that begins at i; 0 if none does.
func (v *view) ip6(i int) int {
	p, end, parts, gap := i, 0, 0, false
	for p-i < longestIP6 {
		switch {
		case v.at(p) == ':' && v.at(p+1) == ':' && !gap:
			gap = true
			if p += 2; !v.wordy(p) {
				end = p
			}
		case v.at(p) == ':' && parts > 0 && v.at(p-1) != ':':
			p++
		case v.at(p) == ':':
			return v.valid6(i, end)
		}
		n := 0
		for n < 4 && isHex(v.at(p+n)) {
			n++
		}
		if n == 0 {
			break
		}
		if v.at(p+n) == '.' {
			if q := v.dotted(p); q > 0 && (parts == 6 || parts < 6 && gap) {
				return v.valid6(i, q)
			}
		}
		if parts++; parts > 8 || v.wordy(p+n) {
			break
		}
		p += n
		if gap || parts == 8 {
			end = p
		}
		if v.at(p) != ':' {
			break
		}
	}
	return v.valid6(i, end)
}

// valid6 gives end if the address s[i:end] is one.
func (v *view) valid6(i, end int) int {
	if end-i < 3 || end-i > longestIP6 {
		return 0
	}
	text := string(v.s[i:end])
	if a, err := netip.ParseAddr(text); err != nil || a.IsUnspecified() || !telling(text) {
		return 0
	}
	return end
}

// dotted says where the digits and dots end that begin at p, if they are an address of version 4.
func (v *view) dotted(p int) int {
	q := p
	for q-p < len("255.255.255.255") && (isDigit(v.at(q)) || v.at(q) == '.' && isDigit(v.at(q+1))) {
		q++
	}
	if a, err := netip.ParseAddr(string(v.s[p:q])); err != nil || !a.Is4() || v.wordy(q) {
		return 0
	}
	return q
}

func (v *view) wordy(i int) bool {
	return isAlnum(v.at(i)) || v.at(i) == '_'
}

// telling says whether what has the form of an address is hardly anything else.
func telling(text string) bool {
	parts := 0
	for i, c := range []byte(text) {
		if '0' <= c && c <= '9' {
			return true
		}
		if c != ':' && (i == 0 || text[i-1] == ':') {
			parts++
		}
	}
	return parts >= 4
}
