package rt

import (
	"unsafe"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// Input and output order what a program does: a goroutine that reads what another has
// written comes after it. As for the race detector all files are one: two names may mean the
// same file, and a folder is changed by what is done to the files in it.

var everyFile uint64

// File is called before the calling goroutine asks the system for something about files, or
// changes some. That is a step, so that the other orders are tried too:
//
//	if _, err := os.Stat(name); err == nil {
//		os.Remove(name) // another goroutine may have done that
//	}
//
// What is printed on standard output is not read by the program, and is no step.
func File(changes bool) {
	c := enterLibrary()
	if c == nil {
		return
	}
	kind := event.FileRead
	if changes {
		kind = event.FileWrite
	}
	op := c.libraryOp(kind, s.objects.at(unsafe.Pointer(&everyFile)))
	if c.step(op) {
		s.emitOp(c, op, 0)
	}
	c.leave()
}

// IOWrite is called before the calling goroutine writes p to a file.
func IOWrite(p []byte) {
	if c := enterLibrary(); c != nil {
		if !c.dying {
			s.completeLast()
			c.touchBuffer(p, event.Load)
			c.ReleaseMerge(&s.objects.at(unsafe.Pointer(&everyFile)).released)
		}
		c.leave()
	}
}

// IORead is called after the calling goroutine has read n bytes into p from a file.
func IORead(p []byte, n int, ok bool) {
	if c := enterLibrary(); c != nil {
		if !c.dying {
			s.completeLast()
			c.touchBuffer(p[:max(n, 0)], event.Store)
			if ok {
				c.acquire(&s.objects.at(unsafe.Pointer(&everyFile)).released)
			}
		}
		c.leave()
	}
}

// touchBuffer is an access to p by the system. It is no step: it happens together with
// something that is outside control anyway.
func (c *goroutine) touchBuffer(p []byte, kind event.Kind) {
	if data := unsafe.Pointer(unsafe.SliceData(p)); len(p) > 0 && !private(data) {
		c.touch(uintptr(data), uintptr(len(p)), kind, c.site())
	}
}
