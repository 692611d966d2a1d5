package rule

import "testing"

func TestRulesChooseByName(t *testing.T) {
	for text, names := range map[string]struct{ in, out string }{
		"lock:Account.mu":     {"Account.mu", "Account.mu2"},
		"lock:*.mu":           {"Account.mu", "Account.rw"},
		"var:Account.*":       {"Account.balance", "Bank.total"},
		"package:a.b/c/...":   {"a.b/c/d", "a.b/cd"},
		"package:a.b/*":       {"a.b/c/d", "x/a.b/c"},
		"func:Account.*":      {"Account.deposit", "deposit"},
		"func:main.transf[e]": {"main.transfe", "transfe"},
	} {
		r, err := Parse(text)
		if err != nil || r.String() != text {
			t.Fatalf("%s became %s, %v", text, r, err)
		}
		if !r.matches("other", names.in) || r.matches(names.out) {
			t.Errorf("%s matches %s: %t, and %s: %t", text, names.in, r.matches(names.in), names.out, r.matches(names.out))
		}
	}
	for _, text := range []string{"", "mu", "lock:", "locks:mu", "func:[", "func:a,,func:b"} {
		if _, err := ParseList([]string{text}); err == nil {
			t.Errorf("%q is taken for rules", text)
		}
	}
}

func TestKindsOfRulesNarrowEachOther(t *testing.T) {
	only, err := ParseList([]string{"lock:a.mu,lock:b.mu", "func:f"})
	if err != nil {
		t.Fatal(err)
	}
	skip := []Rule{{OfVariable, "a.x"}}
	for _, c := range []struct {
		kind Kind
		name string
		left bool
	}{{OfLock, "a.mu", false}, {OfLock, "b.mu", false}, {OfLock, "c.mu", true}, {OfFunction, "g", true}, {OfFunction, "f", false}, {OfPackage, "p", false}, {OfVariable, "a.x", true}, {OfVariable, "a.y", false}} {
		if got := LeftOut(only, skip, c.kind, c.name) != ""; got != c.left {
			t.Errorf("%s:%s is left out: %t, want %t", c.kind, c.name, got, c.left)
		}
	}
}
