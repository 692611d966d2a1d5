package tolerate

import (
	"math/bits"
	"strings"
)

// A Class is a way in which the accesses of a section and of careless code can
// interleave so that the section is not atomic. Capitals are the section's
// accesses, small letters the careless ones, x is either: RrwX is a section that
// reads, careless code that reads and writes what depends on it, and then any
// access of the section.
type Class uint8

const (
	XwR  Class = 1 << iota // I: the section reads what careless code wrote
	WrW                    // II: careless code reads an intermediate value
	RXwW                   // III: the section overwrites what careless code wrote, having read before
	RrwR                   // IVa: the section only reads, and careless code updates
	WrwX                   // IVb: the section begins with a write, and careless code updates
	RrwX                   // IVc: both update what they have read: no order of the two explains the result
)

// all is every class, in the order of the paper, with its number.
var all = [...]struct {
	class           Class
	number, pattern string
}{
	{XwR, "I", "XwR"},
	{WrW, "II", "WrW"},
	{RXwW, "III", "RXwW"},
	{RrwR, "IVa", "RrwR"},
	{WrwX, "IVb", "WrwX"},
	{RrwX, "IVc", "RrwX"},
}

// String returns the number of the class and its pattern, such as "IVc RrwX".
func (c Class) String() string {
	for _, a := range all {
		if a.class == c {
			return a.number + " " + a.pattern
		}
	}
	return "no race"
}

// Classes is a set of classes: those that a race may be of, as far as the values
// at the end of the section tell. Reads leave no trace in values, so the set
// seldom has one member, and WrW never shows at all.
type Classes uint8

// Has reports whether the class is in the set.
func (cs Classes) Has(c Class) bool { return cs&Classes(c) != 0 }

// Only returns the class if the set has a single one.
func (cs Classes) Only() (c Class, ok bool) {
	return Class(cs), bits.OnesCount8(uint8(cs)) == 1
}

// String lists the numbers: "I, III, IVb or IVc".
func (cs Classes) String() string {
	var numbers []string
	for _, a := range all {
		if cs.Has(a.class) {
			numbers = append(numbers, a.number)
		}
	}
	switch n := len(numbers); n {
	case 0:
		return "no race"
	case 1:
		return numbers[0]
	default:
		return strings.Join(numbers[:n-1], ", ") + " or " + numbers[n-1]
	}
}

// classify returns what can have happened, given what the section and what
// careless code did to the variable.
//
// A section that left the variable as it found it counts as one that read it: had
// it written the same value back, nobody could tell the difference.
//
// For a section that changed the variable the paper names III, IVb and IVc. I is
// among them too: a section that writes, is written over and reads again (WwR)
// leaves the same three values behind as WrwR.
func classify(ours, theirs, blind bool) Classes {
	switch {
	case !theirs:
		return 0 // or WrW
	case !ours:
		return Classes(XwR | RrwR)
	case blind:
		return Classes(XwR | WrwX)
	default:
		return Classes(XwR | RXwW | WrwX | RrwX)
	}
}

// MarshalText makes a set readable where it is a key in JSON.
func (cs Classes) MarshalText() ([]byte, error) { return []byte(cs.String()), nil }
