package repair

import (
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/sli"
)

// TestWhatASectionDoesIsToldOnce: data by data, and not access by access.
func TestWhatASectionDoesIsToldOnce(t *testing.T) {
	access := func(data string, store bool) *sli.Access { return &sli.Access{Data: data, Store: store} }
	for want, accesses := range map[string][]*sli.Access{
		"reads T.a and T.b":                               {access("T.a", false), access("T.b", false), access("T.a", false)},
		"reads and writes T.n":                            {access("T.n", false), access("T.n", true)},
		"reads and writes T.n, reads T.max, writes T.sum": {access("T.n", false), access("T.max", false), access("T.n", true), access("T.sum", true)},
		"writes memory":                                   {access("", true)},
	} {
		if got := deedsOf(accesses); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
