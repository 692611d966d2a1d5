package rt

// MarkedSlots is how many slots have marks in the shadow.
const MarkedSlots = markedSlots

// SkipSlots makes the next run begin as if so many slots were in use.
func SkipSlots(n uint32) { s.slots = n }

// SetPast makes the next run begin as if the ones before had come so far, and had not
// touched memory.
func SetPast(past uint32) { s.shadow = shadow{past: past} }

// Numbers returns the number of a frame and that of its caller's.
func Numbers(f Frame) (number, caller uint32) { return f.id, f.caller }
