package randprog_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/randprog"
)

// constructs are what programs must have, each in at least so many of a thousand.
var constructs = []struct {
	name    string
	text    string // an expression that its text matches
	atLeast int
}{
	{"atomic types", `\.(Store|Add|Swap|Or|CompareAndSwap)\(`, 80},
	{"nested atomics", `CompareAndSwap\(\w+\.Load\(\)|(Add|Swap|Or|Store)\(int64\(.*\.(Load|Add|Swap|Or)\(`, 20},
	{"atomic functions", `atomic\.\w+Int64\(&`, 20},
	{"atomic pointers", `\.Store\(&outer`, 10},
	{"goroutines in a line", `line <- `, 60},
	{"looks beside a line", `(?s)Sleep\(time\.Hour\)\s+line <- \d+\s+select`, 20},
	{"sends", `ch2? <- `, 60},
	{"receives", `:= <-ch`, 30},
	{"selects", `select \{`, 60},
	{"selects of several channels", `case (ch2 <-|<-ch2)`, 15},
	{"selects that store", `case \w+.* = <-ch`, 4},
	{"ranges over channels", `for i := range v\d+ \{`, 4},
	{"map accesses", `m\d\[\d\]`, 60},
	{"map lookups with ok", `ok := m\d`, 3},
	{"ranges over maps", `range m\d`, 3},
	{"ranges over functions", `range upTo`, 30},
	{"returns from ranges over functions", `(?s)range upTo\(2\) \{\s+defer`, 4},
	{"closures", `func\(\) \{\n`, 300},
	{"closures of closures", `func\(\) func\(\) int`, 20},
	{"defers", `defer `, 200},
	{"deferred methods", `defer \w+\.(set|put)\(`, 4},
	{"results that a deferred call changes", `\(n int\) \{`, 5},
	{"recovers", `recover\(\)`, 60},
	{"panics in deferred calls", `panic\(r`, 15},
	{"calls of generic functions", `same\[int\]|twice\(`, 150},
	{"generic types", `\.(put|take)\(`, 15},
	{"method values", `fv\d+ := |\.copied\)`, 15},
	{"method expressions", `\(\*(inner|cell\[int\])\)\.`, 15},
	{"interface methods", `getter\(`, 15},
	{"conversions", `int8\(|uint8\(|float64\(|named\(|\.\(int\)|\[1\]int\(`, 100},
	{"conversions of text", `\[\](byte|rune)\(|string\(rune`, 10},
	{"type switches", `\.\(type\)`, 8},
	{"switches", `switch \S+ \{`, 20},
	{"fallthrough", `fallthrough`, 5},
	{"labels", `continue v\d+`, 4},
	{"assignments to several variables", `(?m)^\s+\S+, \S+ = `, 60},
	{"structs that are copied", `pair\{.*, .*\}`, 15},
	{"sync.Once", `once\d\.Do\(`, 10},
	{"Goexit", `Goexit`, 15},
	{"goroutines of goroutines", `\n\t\t+wg\.Go\(`, 15},
	{"pointers that are stored", ` = new\(int\)`, 4},
	{"loops that poll an atomic variable", `for !flag\.Load\(\) \{`, 15},
	{"loops that poll under a lock", `(?s)for !is \{\s+ready\.Unlock`, 10},
	{"loops that poll a channel", `(?s)for \{\s+select \{\s+case <-(sig|ctx)`, 10},
	{"loops that try for a lock", `for !mu\d\.TryR?Lock|return !mu\d\.TryR?Lock`, 10},
	{"locks that are tried for a few times", `(?s)range 2 \{\s+_ = v\d+\s+if mu\d\.TryR?Lock`, 8},
	{"loops of compare and swap", `(?s)for \{\s+v\d+ := n\d\.Load`, 8},
	{"locks for reading", `\.RLock\(`, 30},
	{"sync.Cond, in a loop", `(?s)for !is \{\s+now\.Wait`, 20},
	{"timers", `time\.AfterFunc\(`, 20},
	{"contexts that are canceled", `ctx\.(Done|Err)\(`, 50},
	{"go statements with arguments", `go func\(n int|go \w+\.(set|put)\(`, 10},
}

// TestEveryConstructIsThere counts what a thousand programs, and a hundred with lines, have, so that a construct is not
// forgotten, nor crowded out by others.
func TestEveryConstructIsThere(t *testing.T) {
	const programs = 1000
	var sources []string
	for seed := range uint64(programs) {
		sources = append(sources, randprog.New("P", seed, randprog.Options{RaceFree: seed%3 == 0, Blocking: seed%4 == 0, TimeAndChance: seed%9 == 0}).Source)
	}
	for seed := range uint64(programs / 10) {
		sources = append(sources, randprog.New("P", seed, randprog.Options{Line: true}).Source)
	}
	for _, c := range constructs {
		expression, n := regexp.MustCompile(c.text), 0
		for _, s := range sources {
			if expression.MatchString(s) {
				n++
			}
		}
		t.Logf("%-40s %4d", c.name, n)
		if n < c.atLeast {
			t.Errorf("%s: in %d of %d programs, want %d", c.name, n, programs, c.atLeast)
		}
	}
}

func TestDrawsGiveTheSameProgramAgain(t *testing.T) {
	for seed := range uint64(60) {
		o := randprog.Options{Blocking: seed%2 == 0}
		p := randprog.New("P", seed, o)
		if again := randprog.Again("P", p.Draws, o); again.Source != p.Source {
			t.Fatalf("seed %d:\n%s\nand again:\n%s", seed, p.Source, again.Source)
		}
		for _, d := range randprog.Smaller(p.Draws) {
			if len(d) > len(p.Draws) || strings.Compare(fmt.Sprint(d), fmt.Sprint(p.Draws)) == 0 {
				t.Fatalf("seed %d: %v is no smaller than %v", seed, d, p.Draws)
			}
		}
	}
}
