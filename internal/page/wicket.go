package page

import (
	"reflect"
	"sync/atomic"
)

// A Wicket is a gate for data that is not on pages but in an object of the program, beside the
// wicket, of which every access is a call. It is here for its assembly; package wicket has the
// protocol, and says what the word means.
type Wicket struct {
	_ [0]atomic.Uint64 // so that Word is aligned where words have 32 bits

	Word    uint64
	Holder  uintptr // the g in a section that writes; 0: none
	Wanters uint32  // accesses outside of sections, and WicketTrusting: see package wicket
	Site    uint32  // the lower half of the return address of what began the last section
}

// Steps are what StepIn and StepInToRead come to where a section or an access is in the way. Package wicket sets them.
// The site is where the section begins; 0: unknown.
var Steps struct {
	In, ToRead func(w *Wicket, bits uint64, site uintptr)
}

// SiteOf returns the return address whose lower half is noted. The text of a program is less than 4 GiB, so it is
// the one with that half that is nearest to this function.
func (w *Wicket) SiteOf() uintptr { return SiteNear(atomic.LoadUint32(&w.Site)) }

// SiteNear returns the return address with a lower half.
func SiteNear(half uint32) uintptr { return nearest(half, reflect.ValueOf(Setup).Pointer()) }

func nearest(half uint32, pc uintptr) uintptr { return pc + uintptr(int64(int32(half-uint32(pc)))) }

// WicketInUse are the bits of a word that are zero if no section is running.
const WicketInUse = 1<<30 - 1

// WicketClosed are those that are zero if no section is running that writes.
const WicketClosed = 3

// WicketReader is what a section that reads adds to a word.
const WicketReader = 1 << 18

// WicketTrusting is the bit of Wanters that says that sections begin without a locked instruction.
const WicketTrusting = 1

// WicketTrust says of all wickets at once whether sections of those that trust may begin so. What is not
// WicketTrustHolds has them all begin by a locked instruction. Package wicket says what else it means.
var WicketTrust atomic.Uint32

// WicketTrustHolds is the value that WicketTrust begins with.
const WicketTrustHolds = 0
