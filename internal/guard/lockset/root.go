package lockset

import (
	"slices"

	"golang.org/x/tools/go/ssa"
)

// A Root is a function in which a goroutine comes into the program, or begins: what it calls is done by that
// goroutine.
type Root struct {
	Func *ssa.Function
	// Started: a go statement starts the function.
	Started bool
	// Outside: code that is not at hand calls the function.
	Outside bool
}

// Roots returns the roots from whose calls the context is reached. What a function hands to a sync.Once, or to
// other code that is done with it when it returns, is run by the function. One that is neither started nor called from
// outside is a root too if nothing is seen to call it.
func (ctx *Context) Roots() []Root {
	var all []Root
	seen := make(map[*Context]bool)
	var from func(*Context)
	from = func(ctx *Context) {
		ctx.visitCallers(func(c *Context) (further bool) {
			if seen[c] {
				return false
			}
			seen[c] = true
			_, started := c.call.(*ssa.Go)
			r := Root{c.fn, started, c.entry.fromOutside}
			switch {
			case !started && !r.Outside && len(c.callers) > 0:
			case !started && !r.Outside && c.caller != nil:
				from(c.caller)
			case !slices.Contains(all, r):
				all = append(all, r)
			}
			return true
		})
	}
	from(ctx)
	return all
}

// IsEntry reports whether code outside alone is known to enter the function as the context has it.
func (ctx *Context) IsEntry() bool { return ctx.entry.fromOutside && len(ctx.callers) == 0 }
