package reactors

import "testing"

func TestSnapshot(t *testing.T) {
	parse := func(text string) *snapshot {
		t.Helper()
		s, err := parseSnapshot(text)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, bad := range []string{"", "1:2", "1:x:", "1:2:x", "::"} {
		if s, err := parseSnapshot(bad); err == nil {
			t.Errorf("parseSnapshot(%q) = %v", bad, s)
		}
	}
	t.Run("Sees", func(t *testing.T) {
		s := parse("10:20:10,15")
		for xid, want := range map[uint32]bool{3: true, 9: true, 10: false, 11: true, 15: false, 19: true, 20: false, 21: false} {
			if s.sees(xid) != want {
				t.Errorf("sees(%d) = %v", xid, !want)
			}
		}
		// The stream has 32 bits of a transaction's number: 2^32 + 5 comes after 2^32 - 5.
		wrapped := parse("4294967290:4294967301:4294967291")
		for xid, want := range map[uint32]bool{4294967290: true, 4294967291: false, 4294967295: true, 4: true, 5: false, 100: false} {
			if wrapped.sees(xid) != want {
				t.Errorf("after the wrap-around, sees(%d) = %v", xid, !want)
			}
		}
	})
	t.Run("CoveredBy", func(t *testing.T) {
		s := parse("10:20:12,14")
		for later, want := range map[string]bool{
			"20:20:": true, "12:20:12": true, "12:30:12,14,25": true, "25:30:25": true,
			"10:20:10": false, "12:19:": false, "13:25:13": false,
		} {
			if s.coveredBy(parse(later)) != want {
				t.Errorf("covered by %s: %v", later, !want)
			}
		}
	})
}
