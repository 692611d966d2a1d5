package sharing

import (
	"math/rand/v2"
	"strings"
)

// A Palette is what the programs of one package may use. What a program does to an object
// concerns all programs of its package: one that takes the address of a field lets every use of
// a pointer be one of that field. With everything in one package next to nothing could be
// protected, and there would be nothing to try. So programs whose seeds are neighbours have a
// package and a palette to themselves, of some features and not of others.
type Palette uint32

const (
	addresses   Palette = 1 << iota // of numbers that a lock guards
	parts                           // pointers to structs in objects
	sliced                          // slices of arrays in objects
	slicedBytes                     // and of arrays of bytes
	copies                          // objects and nodes copied as a whole
	functions                       // function values, closures, interfaces
	goroutines                      // other goroutines, which are waited for
	channels
	panics
	gotos
	aliases    // a second name for the object with the lock
	otherLocks // locks that are taken by a method, or reached by pointers
	generics
	linked             // a list whose nodes have their lock elsewhere
	elements           // objects in slices and maps, with and without a lock of their own
	crowds             // goroutines that run side by side
	shadows            // names that mean something else for a while
	bags               // an object with slices, whose elements its lock guards
	bagNames           // other names for these slices
	within             // objects with a lock within others, by both names
	everything Palette = 1<<iota - 1
)

// neighbours is how many programs have a palette in common.
const neighbours = 25

// paletteOf returns the palette of a seed. One in eight has everything.
func paletteOf(seed uint64) Palette {
	rng := rand.New(rand.NewPCG(seed/neighbours, 0x9a1e))
	if rng.IntN(8) == 0 {
		return everything
	}
	var p Palette
	for f := Palette(1); f < everything; f <<= 1 {
		if rng.IntN(4) == 0 {
			p |= f
		}
	}
	return p
}

func (g *gen) has(f Palette) bool { return g.palette&f == f }

// needs says what the palette must have for a text that has one of these in it.
var needs = []struct {
	text    string
	feature Palette
}{
	{"&x.n", addresses}, {"keep(", addresses}, {"kept", addresses}, {"field()", addresses}, {"*int", addresses}, {"point(", addresses},
	{"self()", parts}, {"&x.s", parts}, {"&gs", parts}, {"&e.s", parts}, {"assign(", parts},
	{"[:", sliced}, {"view()", slicedBytes}, {"double(", sliced}, {"sort.", sliced}, {"slices.", sliced}, {"at(x.list", sliced},
	{"copied", copies}, {"*e = *f", copies}, {"x.any = x.s", copies},
	{"hook(", functions}, {"x.f", functions}, {"adder", functions}, {"summer", functions}, {"func(", functions}, {"(*S)", functions},
	{"y.", aliases}, {"both(", aliases}, {"y, ", aliases}, {":= y;", aliases}, {"x.each", functions},
	{"&lhead", addresses}, {"*lhead", copies}, {"lstep", functions},
	{"x.rows", elements}, {"x.ents", elements}, {"x.last", elements}, {"x.grid", elements},
	{"alias", bagNames}, {"spread(", bagNames}, {"lent(", bagNames}, {"&b.", bagNames},
	{"elsewhere(", goroutines}, {"last(", generics}, {"put(x.m", generics}, {"box.", generics}, {"change(", generics},
}

// fits reports whether a text has nothing that is not on the palette.
func (g *gen) fits(text string) bool {
	for _, n := range needs {
		if !g.has(n.feature) && strings.Contains(text, n.text) {
			return false
		}
	}
	return true
}

// of returns one of the texts that fit the palette, and the first if none does.
func (g *gen) of(list ...string) string {
	var fit []string
	for _, text := range list {
		if g.fits(text) {
			fit = append(fit, text)
		}
	}
	if len(fit) == 0 {
		return list[0]
	}
	return fit[g.Pick(len(fit))]
}
