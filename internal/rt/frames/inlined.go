package frames

import "runtime"

// Inlined calls yield with what stands at a return address, the innermost of the functions
// that were inlined there first, until it returns false. The patched runtime provides it;
// without it the lines of calls in the outer ones are not known.
var Inlined func(pc uintptr, yield func(function, file string, line int) bool)

// at calls yield with what stands at a return address.
func at(pc uintptr, yield func(f runtime.Frame) bool) {
	if Inlined != nil {
		Inlined(pc, func(function, file string, line int) bool {
			return yield(runtime.Frame{Function: function, File: file, Line: line})
		})
		return
	}
	f, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	if !yield(f) || f.Func != nil { // it is not inlined
		return
	}
	if outer := runtime.FuncForPC(f.Entry); outer != nil {
		file, line := outer.FileLine(f.Entry)
		yield(runtime.Frame{Function: outer.Name(), File: file, Line: line})
	}
}

// Frame returns what stands at a return address: of the functions that were inlined there, the
// innermost that is the program's, or the innermost if none is.
func Frame(pc uintptr) runtime.Frame {
	var shown runtime.Frame
	at(pc, func(f runtime.Frame) bool {
		below := isBelowProgram(f)
		if shown.File == "" || !below || PackageOf(shown.Function) == hooksPackage {
			shown = f
		}
		return below
	})
	return shown
}

// all reports whether all functions that were inlined at a return address have a property.
func all(pc uintptr, has func(f runtime.Frame) bool) bool {
	every := true
	at(pc, func(f runtime.Frame) bool {
		every = has(f)
		return every
	})
	return every
}
