package randprog

import (
	"fmt"
	"strings"
)

// Imports are the packages that a file of programs imports.
var Imports = []string{"context", "fmt", "maps", "math/rand/v2", "runtime", "slices", "strings", "sync", "sync/atomic", "time"}

// File returns a file with programs.
func File(pkg string, all []Program) string {
	var b strings.Builder
	fmt.Fprintf(&b, "package %s\n\nimport (\n", pkg)
	for _, path := range Imports {
		fmt.Fprintf(&b, "\t%q\n", path)
	}
	b.WriteString(")\n" + prelude)
	for _, p := range all {
		b.WriteString("\n" + p.Source)
	}
	return b.String()
}

// prelude are declarations that all programs use.
const prelude = `
var (
	_ sync.Mutex
	_ atomic.Int64
	_ = context.Background
	_ = rand.IntN
	_ = runtime.Goexit
	_ = time.Sleep
	_ = slices.Max[[]int]
	_ = maps.Copy[map[int]int, map[int]int]
)

func show(args ...any) string { return strings.TrimSuffix(fmt.Sprintln(args...), "\n") }

type inner struct{ deep int }

func (i *inner) set(v int)     { i.deep = v }
func (i *inner) get() int      { return i.deep }
func (i inner) copied() int    { return i.deep }

type outer struct {
	inner
	a, b int
	next *outer
}

func (o *outer) sum() int { return o.a + o.b }

type getter interface{ get() int }

type pair struct{ a, b int }

func (p pair) sum() int { return p.a + p.b }

type cell[T any] struct{ held T }

func (c *cell[T]) put(v T)    { c.held = v }
func (c *cell[T]) take() T    { return c.held }
func (c *cell[T]) get() T     { return c.held }
func (c cell[T]) copied() T   { return c.held }

type named int

func unbox(v any) int {
	switch v := v.(type) {
	case int:
		return v
	case string:
		return len(v)
	case pair:
		return v.sum()
	}
	return -1
}

func linked(p *atomic.Pointer[outer]) int {
	if o := p.Load(); o != nil {
		return o.b
	}
	return -1
}

func two(n int) (int, int) { return n, n + 1 }

func same[T any](x T) T { return x }

func bump(p *int) int { *p++; return *p }

func twice[T int | int64](x T) T { return x + x }

func upTo(n int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}
`
