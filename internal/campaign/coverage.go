package campaign

import (
	"encoding/binary"
	"hash/fnv"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// Coverage is how much of the interleavings of a target was seen: pairs of places in the source at
// which two goroutines accessed the same memory, lock or channel one after the other, and on which
// something depends. A pair that was seen in one order only is an interleaving that is still to be
// found, or that something orders.
type Coverage struct {
	Pairs int // that were seen
	Both  int // of them, in both orders
}

// The two lowest bits of a pair's key are the orders in which it was seen.
const (
	inOrder   = 1
	reversed  = 2
	bothWays  = inOrder | reversed
	orderBits = 3
)

// pairKeys are the pairs of a unit, whose sites are the numbers of one build, by what stands there.
// Places are hashed by names and lines, so that two builds of the same sources agree.
func pairKeys(pairs []uint64, site func(uint32) (trace.Site, bool)) []uint64 {
	var keys []uint64
	for _, p := range pairs {
		first, ok := site(uint32(p >> 32))
		second, too := site(uint32(p))
		if !ok || !too {
			continue
		}
		a, b, order := placeHash(&first), placeHash(&second), uint64(inOrder)
		switch {
		case a == b:
			order = bothWays
		case a > b:
			a, b, order = b, a, reversed
		}
		keys = append(keys, mixed(a, b)&^orderBits|order)
	}
	return keys
}

func placeHash(s *trace.Site) uint64 {
	h := fnv.New64a()
	for _, part := range []string{s.Package, s.Function, filepath.Base(s.File), strconv.Itoa(s.Line), strconv.Itoa(s.Column), s.Kind.String()} {
		h.Write([]byte(part))
		h.Write([]byte{0})
	}
	return h.Sum64()
}

func mixed(a, b uint64) uint64 {
	h := fnv.New64a()
	h.Write(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, a), b))
	return h.Sum64()
}

// A pairSet is what was seen of a target.
type pairSet map[uint64]uint64 // keys without their orders, and these

// add adds pairs, and returns how many are new, or new in their order.
func (s pairSet) add(keys []uint64) (fresh int) {
	for _, key := range keys {
		base, order := key&^orderBits, key&orderBits
		if was := s[base]; was|order != was {
			s[base] = was | order
			fresh++
		}
	}
	return fresh
}

// keys are the pairs with their orders, sorted.
func (s pairSet) keys() []uint64 {
	all := make([]uint64, 0, len(s))
	for base, order := range s {
		all = append(all, base|order)
	}
	slices.Sort(all)
	return all
}

func (s pairSet) coverage() (c Coverage) {
	for _, order := range s {
		if c.Pairs++; order == bothWays {
			c.Both++
		}
	}
	return c
}

// A Growth is how far the coverage of a target was at a time.
type Growth struct {
	At   time.Time
	Runs int
	Coverage
}

// maxGrowth is how many points of its growth a target has; when there are more, every second goes.
const maxGrowth = 64

// grown adds a point, if there is something new in it.
func grown(all []Growth, now Growth) []Growth {
	if n := len(all); n > 0 && all[n-1].Coverage == now.Coverage {
		return all
	}
	if len(all) >= maxGrowth {
		half := all[:0]
		for i := 0; i < len(all); i += 2 {
			half = append(half, all[i])
		}
		all = half
	}
	return append(all, now)
}
