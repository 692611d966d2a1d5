package guard

import (
	"testing"
)

func TestCommentsOnDataThatNameTheLock(t *testing.T) {
	for text, want := range map[string]bool{
		"guarded by mu":                     true,
		"protected by s.mu.":                false, // of which object s is, words do not tell
		"rows must be accessed under mu":    true,
		"mu must be held to read it":        false, // the name stands before the words
		"hold mu while using it":            true,
		"not guarded by mu":                 false,
		"immutable; guarded by mu":          true, // another sentence
		"immutable, never guarded by mu":    false,
		"guarded by other":                  false,
		"the number of rows. guarded by mu": true,
	} {
		if got := namesLock(text, "mu"); got != want {
			t.Errorf("%q names mu: %v", text, got)
		}
	}
	if !namesLock("protected by the lock", "Mutex") {
		t.Error("the lock is not the embedded Mutex")
	}
}

func TestCommentsOnLocksThatCoverData(t *testing.T) {
	for text, want := range map[string]coverage{
		"mu protects rows and size":       coversByName,
		"mu protects size":                coversNothing,
		"protects everything":             coversAll,
		"guards all fields of the struct": coversAll,
		"protects the following":          coversBelow,
		"protects the fields below":       coversBelow,
		"protects:":                       coversBelow,
		"does not protect rows":           coversNothing,
		"mu is a mutex":                   coversNothing,
		"mutex for non-rows fields":       coversNothing,
		"protects non-rows":               coversNothing,
	} {
		if got := coverageOf(text, "rows"); got != want {
			t.Errorf("%q covers rows: %d, want %d", text, got, want)
		}
	}
}

func TestFunctionsThatAskForALock(t *testing.T) {
	for text, want := range map[string]bool{
		"The caller must hold t.mu.":                true,
		"flush is called with the lock held.":       true,
		"flush requires that mu is held":            true,
		"flush takes the lock and must not hold it": false,
		"flush must not be called with mu held":     false,
		"flush writes the rows":                     false,
	} {
		if got := callerHolds(text); got != want {
			t.Errorf("%q asks for a lock: %v", text, got)
		}
	}
	for name, want := range map[string]bool{"flushLocked": true, "flush_locked": true, "flushNoLock": true, "Locked": false, "isLocked": false, "Unlocked": false, "flush": false} {
		if got := isLockedName(name); got != want {
			t.Errorf("%s asks for a lock: %v", name, got)
		}
	}
}

func TestLocksThatAreNamedAfterData(t *testing.T) {
	for _, c := range []struct {
		lock, data string
		want       bool
	}{
		{"connsMu", "conns", true}, {"muConns", "conns", true}, {"lockForConns", "conns", true}, {"connMu", "conns", true},
		{"connsMu", "connsByName", true}, {"mu", "conns", false}, {"idleMu", "conns", false}, {"conns", "conns", false},
		{"rwHTTPConns", "httpConns", true},
	} {
		if got := namedAfter(c.lock, c.data); got != c.want {
			t.Errorf("%s is named after %s: %v", c.lock, c.data, got)
		}
	}
}

func TestAnnotationsThatAreRead(t *testing.T) {
	for text, want := range map[string]string{"+checklocks:mu": "mu", "rows\n+checklocks:parent.mu\n": "parent.mu", "+checklocksread:mu": "mu", "checklocks:mu": "", "see +checklocks:mu": ""} {
		if got := annotation(text); got != want {
			t.Errorf("%q annotates %q, want %q", text, got, want)
		}
	}
	if got := functionAnnotations("+checklocks:a\n+checklocks:b\n"); len(got) != 2 {
		t.Errorf("a function is annotated with %v", got)
	}
}
