package tolerate

import (
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cofferdam-go/cofferdam/internal/finding"
)

// A Lock is a lock of this package, a *[Mutex] or an *[RWMutex], or a pointer to a
// struct that embeds one.
type Lock interface {
	sync.Locker
	guard() *guard
}

// A guard is what belongs to a lock. The variables are entered and left by the
// goroutine that holds it.
type guard struct {
	vars atomic.Pointer[[]guarded] // replaced, never modified: a section may be looking
	name atomic.Pointer[string]
	mu   sync.Mutex // held to replace vars
}

// guarded is a *[Var] of any type.
type guarded struct {
	cell   *cell
	shared *overlap // if the variable is guarded by other locks too
}

func (g *guard) add(v guarded) {
	g.mu.Lock()
	defer g.mu.Unlock()
	var vars []guarded
	if old := g.vars.Load(); old != nil {
		vars = slices.Clone(*old)
	}
	vars = append(vars, v)
	g.vars.Store(&vars)
}

// share makes the variable of the cell one that is guarded by several locks.
func (g *guard) share(c *cell, o *overlap) {
	g.mu.Lock()
	defer g.mu.Unlock()
	vars := slices.Clone(*g.vars.Load())
	for i := range vars {
		if vars[i].cell == c {
			vars[i].shared = o
		}
	}
	g.vars.Store(&vars)
}

// enter begins a section: the copies are taken.
func (g *guard) enter() {
	vars := g.vars.Load()
	if vars == nil {
		return
	}
	for i := range *vars {
		if v := &(*vars)[i]; v.shared == nil {
			v.cell.take()
		} else {
			v.shared.enter(v.cell)
		}
	}
}

// leave ends the section: the copies are published. The caller reports what it
// returns when it has released the lock.
func (g *guard) leave() []*race {
	vars := g.vars.Load()
	if vars == nil {
		return nil
	}
	var races []*race
	for i := range *vars {
		v := &(*vars)[i]
		var r *race
		if v.shared != nil {
			r = v.shared.leave(v.cell)
		} else {
			r = v.cell.settle()
		}
		if r != nil {
			races = append(races, r)
		}
	}
	return races
}

func (g *guard) lockName() string {
	if name := g.name.Load(); name != nil {
		return *name
	}
	return ""
}

// callerSite is the first frame outside this package.
func callerSite() finding.Frame {
	frames := callers()
	if len(frames) == 0 {
		return finding.Frame{}
	}
	return frames[0]
}

// callers is the stack without the frames of this package, and of what calls its
// locks for others.
func callers() []finding.Frame {
	pcs := make([]uintptr, 32)
	frames := finding.Frames(pcs[:runtime.Callers(2, pcs)])
	return slices.DeleteFunc(frames, func(f finding.Frame) bool {
		return strings.HasPrefix(f.Function, packagePath+".") ||
			strings.HasPrefix(f.Function, "sync.(*Cond)") || strings.HasPrefix(f.Function, "sync.(*rlocker)")
	})
}

// packagePath is where this package is: instrumented programs have it elsewhere.
var packagePath = reflect.TypeFor[guard]().PkgPath()
