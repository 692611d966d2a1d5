package guard

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/guard/lockset"
)

// A type may have a lock for one of its uses, and be for one goroutine in all others: a widget to which any goroutine
// may write text, and which its event loop alone may change. By its lock alone such a type cannot be told from one that
// is meant to be shared; by what its setters do, it can.

// writers are the methods of a type that write its fields, and that users of the package can call at any time.
type writers struct {
	careful, careless map[*ssa.Function]bool
}

// isForOne reports whether of the methods of a struct that write its fields, more than two of three do so without any
// lock.
func (c *chooser) isForOne(field *types.Var) bool {
	if c.writers == nil {
		c.countWriters()
	}
	w := c.writers[c.ownerOf[field]]
	return w != nil && len(w.careless) >= leastOften && len(w.careless) > 2*len(w.careful)
}

// countWriters looks at all writes of fields, by the struct that has the field.
func (c *chooser) countWriters() {
	c.writers, c.ownerOf = make(map[*types.Struct]*writers), make(map[*types.Var]*types.Struct)
	for _, v := range c.analysis.Variables {
		for _, s := range v.Sites {
			for _, o := range s.Observations {
				c.countWriter(v.Object, o)
			}
		}
	}
	for _, w := range c.writers {
		for fn := range w.careful {
			delete(w.careless, fn)
		}
	}
}

// countWriter counts the function of an observation, if it is a method that writes a field of its receiver.
func (c *chooser) countWriter(field *types.Var, o lockset.Observation) {
	fn := o.Instr.Parent()
	if o.Base == nil || o.Base.Depth() > 0 || fn.Parent() != nil || !isOfReceiver(o) {
		return
	}
	owner, ok := pointedTo(fn.Params[0].Type()).Underlying().(*types.Struct)
	if !ok || !field.IsField() {
		return
	}
	c.ownerOf[field] = owner
	if o.Kind != Write || !token.IsExported(fn.Name()) || starting.MatchString(fn.Name()) || decoding.MatchString(fn.Name()) {
		return
	}
	w := c.writers[owner]
	if w == nil {
		w = &writers{make(map[*ssa.Function]bool), make(map[*ssa.Function]bool)}
		c.writers[owner] = w
	}
	if len(o.Held) > 0 || o.Unnamed || len(o.OfUnknownObject) > 0 {
		w.careful[fn] = true
	} else {
		w.careless[fn] = true
	}
}
