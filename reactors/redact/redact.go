// Package redact replaces what identifies people before text leaves the project,
// and puts it back into the answer.
//
// It is pure: no I/O, no clock, no randomness. What is found:
//
//   - names, but only those of the lists that are given, as whole words in any spelling of case and accents;
//   - e-mail addresses, also international ones, "jane at example dot com", and %40 for the sign;
//   - telephone numbers with a country code, in the common national forms, or bare after a word such as "phone";
//   - payment cards by issuer prefix and Luhn's checksum, and IBANs by country, length and checksum;
//   - national identity, tax and social security numbers of some thirty countries, by their checksums, and where a
//     checksum is weak or missing only beside a word that names them;
//   - IP addresses of both versions.
//
// What is not found: names that are in no list, postal addresses, dates of birth, user names, number plates,
// passports, bank accounts that are not IBANs, links to profiles, and whatever a description gives away. Letters of
// one script that look like those of another are not taken for them.
//
// Patterns are sought in a folded shadow of the text (see shadow), so that digits of other scripts, invisible
// characters and unusual spaces and dashes hide nothing; they are replaced in the text itself.
package redact

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Kind is a kind of personal data.
type Kind string

// The kinds.
const (
	Name       Kind = "name" // of the lists that are given
	Email      Kind = "email"
	Phone      Kind = "phone"
	Card       Kind = "card"        // Luhn
	IBAN       Kind = "iban"        // checksum
	NationalID Kind = "national_id" // of several countries, by their checksums where they have one
	IP         Kind = "ip"
)

// Literal is no personal data: text that looks like a placeholder before anything was replaced. It is replaced too,
// or Restore could not tell it from ours.
const Literal Kind = "literal"

// kinds are the kinds in the order in which they name what several of them found.
var kinds = []Kind{Email, Card, IBAN, NationalID, IP, Phone, Name}

// Kinds are all the kinds.
func Kinds() []Kind {
	return []Kind{Name, Email, Phone, Card, IBAN, NationalID, IP}
}

// ParseKinds reads "all", "off", or kinds with commas between them.
func ParseKinds(s string) ([]Kind, error) {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "all":
		return Kinds(), nil
	case "off":
		return nil, nil
	}
	var parsed []Kind
	for part := range strings.SplitSeq(s, ",") {
		k := Kind(strings.ToLower(strings.TrimSpace(part)))
		if !slices.Contains(kinds, k) {
			return nil, unknown(k)
		}
		if !slices.Contains(parsed, k) {
			parsed = append(parsed, k)
		}
	}
	return parsed, nil
}

func unknown(k Kind) error {
	var valid []string
	for _, k := range Kinds() {
		valid = append(valid, string(k))
	}
	return fmt.Errorf("redact: no kind %.40q; valid are all, off, or some of %s", string(k), strings.Join(valid, ","))
}

// mostNames bounds the memory that a list takes.
const mostNames = 200_000

// Rules say what is replaced.
type Rules struct {
	Kinds []Kind
	Names []string // for Name; those of one character, or without a letter or digit, are ignored
}

// With are the rules with a user's own names, which are replaced also where no other
// name is.
func (r Rules) With(names []string) Rules {
	switch {
	case len(names) == 0:
		return r
	case !slices.Contains(r.Kinds, Name):
		return Rules{Kinds: append(slices.Clone(r.Kinds), Name), Names: names}
	}
	return Rules{Kinds: r.Kinds, Names: slices.Concat(r.Names, names)}
}

// Redactor finds what Rules name. It is safe for concurrent use.
type Redactor struct {
	finders []finder // in the order of kinds
	names   *names
}

// finder appends what it finds in s[lo:hi]; it may look beyond.
type finder struct {
	kind Kind
	find func(v *view, found []span) []span
}

// span is a place in a shadow.
type span struct {
	lo, hi int
	kind   Kind
}

// New makes a Redactor.
func New(r Rules) (*Redactor, error) {
	for _, k := range r.Kinds {
		if !slices.Contains(kinds, k) {
			return nil, unknown(k)
		}
	}
	if len(r.Names) > mostNames {
		return nil, fmt.Errorf("redact: %d names, at most %d are possible", len(r.Names), mostNames)
	}
	var made Redactor
	for _, k := range kinds {
		if !slices.Contains(r.Kinds, k) {
			continue
		}
		var find func(*view, []span) []span
		switch k {
		case Email:
			find = findEmails
		case Card:
			find = findCards
		case IBAN:
			find = findIBANs
		case NationalID:
			find = findIDs
		case IP:
			find = findIPs
		case Phone:
			find = findPhones
		case Name:
			made.names = newNames(r.Names)
			find = made.names.find
		}
		made.finders = append(made.finders, finder{k, find})
	}
	return &made, nil
}

// reach is more than any pattern and the words that it needs around it are long: what is found anew because something
// beside it was replaced is not further away.
const reach = 512

// place is what is replaced in a text: the bytes from one to before another.
type place struct {
	from, to int
	kind     Kind
}

// find gives all places, in order and apart from each other. What is replaced may free what is beside it: so the
// neighbourhood of everything found is searched again, until nothing is. Every round costs what the last one found,
// hence all of them together are linear. A zero-width space may be one, between two numbers, or none, within a word:
// a text that has any is read both ways.
func (r *Redactor) find(text string) []place {
	readings := []*shadow{newShadow(text, false)}
	if strings.ContainsAny(text, zeroWidthSpaces) {
		readings = append(readings, newShadow(text, true))
	}
	var all []place
	for _, f := range readings[0].literals() {
		all = append(all, readings[0].place(f))
	}
	windows := make([][]span, len(readings))
	for i, sh := range readings {
		for _, p := range all {
			sh.bar(sh.span(p))
		}
		windows[i] = []span{{lo: 0, hi: len(sh.r)}}
	}
	for searched := true; searched; {
		searched = false
		for i, sh := range readings {
			var found []span
			for _, w := range windows[i] {
				found = r.findIn(sh, w.lo, w.hi, found)
			}
			windows[i] = nil
			found = merge(found)
			sh.whole(found)
			for _, f := range merge(found) {
				p := sh.place(f)
				all = append(all, p)
				searched = true
				for j, other := range readings {
					at := other.span(p)
					other.bar(at)
					windows[j] = append(windows[j], span{lo: max(0, at.lo-reach), hi: min(len(other.r), at.hi+reach)})
				}
			}
		}
		for i := range windows {
			windows[i] = merge(windows[i])
		}
	}
	slices.SortFunc(all, func(a, b place) int { return cmp.Compare(a.from, b.from) })
	return all
}

func (r *Redactor) findIn(sh *shadow, lo, hi int, found []span) []span {
	v := view{s: sh.r, lo: lo, hi: hi, sh: sh}
	v.group()
	for _, f := range r.finders {
		n := len(found)
		found = f.find(&v, found)
		for i := n; i < len(found); i++ {
			found[i].kind = f.kind
		}
	}
	return found
}

// merge makes one of those that overlap: were one of two left out, its end would stay in the text. The kind is that
// which comes first in kinds.
func merge(found []span) []span {
	slices.SortFunc(found, func(a, b span) int { return cmp.Compare(a.lo, b.lo) })
	merged := found[:0]
	for _, f := range found {
		if n := len(merged); n > 0 && f.lo < merged[n-1].hi {
			last := &merged[n-1]
			last.hi = max(last.hi, f.hi)
			if slices.Index(kinds, f.kind) < slices.Index(kinds, last.kind) {
				last.kind = f.kind
			}
			continue
		}
		merged = append(merged, f)
	}
	return merged
}
