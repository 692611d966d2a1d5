package ir

// A Part is what some bytes of a value are to the people of the program. A front end says it:
// the engine knows offsets alone.
type Part struct {
	Kind PartKind
	// Name is what Kind says.
	Name string
}

// A PartKind says how a part is named.
type PartKind uint8

const (
	PartUnnamed  PartKind = iota // bytes that the program has no name for
	PartWhole                    // the value itself, as the pointer of a slice stands for the slice
	PartField                    // a field, or a field of a field; its Name begins with a point
	PartLength                   // how many elements there are; Name is of the field that has them, if it is one
	PartPresence                 // whether the key is in the map Name
)
