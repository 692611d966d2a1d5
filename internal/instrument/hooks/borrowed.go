package hooks

import (
	"go/token"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/source"
)

// borrowed are functions of the runtime, and of package time, that programs take by their linker
// names, and what they get instead: clocks that go with the schedule, and random numbers that come
// from the seed.
var borrowed = map[string]string{
	"time.now":            "time.cofferdamNow",
	"time.runtimeNow":     "time.cofferdamNow",
	"time.runtimeNano":    "time.cofferdamNano",
	"runtime.nanotime":    "time.cofferdamNano",
	"runtime.walltime":    "time.cofferdamWall",
	"runtime.rand":        "runtime.cofferdamDraw",
	"runtime.fastrand64":  "runtime.cofferdamDraw",
	"runtime.fastrand":    "runtime.cofferdamDraw32",
	"runtime.cheaprand":   "runtime.cofferdamDraw32",
	"runtime.cheaprand64": "runtime.cofferdamDraw63",
	"runtime.randn":       "runtime.cofferdamDrawBelow",
	"runtime.fastrandn":   "runtime.cofferdamDrawBelow",
	"runtime.cheaprandn":  "runtime.cofferdamDrawBelow",
}

// redirect has the declarations of a file that borrow a function get the other one. It reports
// whether there are any.
//
//	//go:linkname now time.now   ->   //go:linkname now time.cofferdamNow
func (r *rewriter) redirect(edits *source.Edits) (any bool) {
	if r.mode == Library {
		return false
	}
	for _, group := range r.file.Syntax.Comments {
		for _, comment := range group.List {
			fields := strings.Fields(comment.Text)
			if len(fields) != 3 || fields[0] != "//go:linkname" || borrowed[fields[2]] == "" {
				continue
			}
			from := comment.Pos() + token.Pos(strings.LastIndex(comment.Text, fields[2]))
			edits.ReplaceBetween(from, from+token.Pos(len(fields[2])), borrowed[fields[2]])
			any = true
		}
	}
	return any
}
