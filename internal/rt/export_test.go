package rt

import "github.com/cofferdam-go/cofferdam/internal/rt/race"

// MarkedSlots is how many slots have marks in the shadow.
const MarkedSlots = race.MarkedSlots

// SkipSlots makes the next run begin as if so many slots were in use.
func SkipSlots(n uint32) { s.races.Slots = n }

// SetPast makes the next run begin as if the ones before had come so far, and had not
// touched memory.
func SetPast(past uint32) { s.races = race.Detector{Past: past} }

// Numbers returns the number of a frame and that of its caller's.
func Numbers(f Frame) (number, caller uint32) { return f.id, f.caller }

// Shared is what the following functions load. They stand for hooks in the standard library,
// which calls them.
var Shared *int

func LoadForLibrary[T any](T) bool {
	R(Shared, 0)
	return false
}

func CompareForLibrary(a, b int) int {
	R(Shared, 0)
	return a - b
}

// Overdue reports whether the watchdog has seen that a run takes too long, whose goroutines are in
// hooks all the time.
func Overdue() bool { return overdue.Load() }

// KindOf is the kind of a type, as entries of maps have it.
func KindOf[T any]() uint8 { return kindOf[T]() }

// LoadAndCallBack stands for a function of the standard library that accesses memory of its own, and calls the
// program back.
func LoadAndCallBack(own *int, f func()) {
	R(own, 0)
	f()
}
