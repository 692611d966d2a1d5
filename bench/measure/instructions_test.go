package measure

import (
	"strings"
	"testing"
)

// TestInstructionsOfCalledFunctionsAreNotTheCallers: a line behind a call has the cost of what was called.
func TestInstructionsOfCalledFunctionsAreNotTheCallers(t *testing.T) {
	counts, err := readCallgrind(strings.NewReader(`# callgrind format
version: 1
events: Ir

fl=(1) a.go
fn=(1) pkg.caller
10 5
+1 2
cfn=(2) pkg.called.abi0
calls=3 20
12 900
fi=(2) b.go
13 4
fe=(1)

fn=(2)
20 300
-1 6

fn=(1)
* 1
summary: 318
totals: 318
`))
	if err != nil {
		t.Fatal(err)
	}
	if caller, called := counts.Per(1, "pkg.caller"), counts.Per(3, ".called"); caller != 12 || called != 102 {
		t.Errorf("the caller executes %v and what it calls %v, want 12 and 102: %v", caller, called, counts)
	}
}

func TestACostThatIsNoNumberIsAnError(t *testing.T) {
	if counts, err := readCallgrind(strings.NewReader("fn=(1) f\n1 many\n")); err == nil {
		t.Errorf("read %v", counts)
	}
}
