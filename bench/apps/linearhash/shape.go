package linearhash

// Buckets per segment, segments per part.
const (
	segmentBits = 6
	segmentSize = 1 << segmentBits
	maxSegments = 512
)

// Entries per bucket, on average: beyond maxLoad a bucket is split, below minLoad
// one is merged. They are far enough apart that no key makes a bucket come and go.
const (
	maxLoad = 4
	minLoad = 2
)

// A shape says which buckets a part has: twice `half` would be the next full
// doubling, and the buckets before `split` have been split towards it already.
type shape struct {
	half    uint64 // a power of two
	split   uint64 // the next bucket to be split, less than half
	entries uint64
}

// smallest is the shape of an empty part.
var smallest = shape{half: segmentSize}

// buckets is the number of buckets.
func (s *shape) buckets() uint64 { return s.half + s.split }

// bucket is the bucket of a hash.
func (s *shape) bucket(hash uint64) uint64 {
	b := hash & (s.half - 1)
	if b < s.split {
		b = hash & (2*s.half - 1)
	}
	return b
}

// crowded reports whether there should be one bucket more.
func (s *shape) crowded() bool {
	return s.entries > maxLoad*s.buckets() && s.buckets() < maxSegments*segmentSize
}

// sparse reports whether there should be one bucket less.
func (s *shape) sparse() bool {
	return s.entries < minLoad*s.buckets() && s.buckets() > segmentSize
}

// grow adds a bucket, to, which gets its entries from another.
func (s *shape) grow() (from, to uint64) {
	from, to = s.split, s.buckets()
	if s.split++; s.split == s.half {
		s.half, s.split = 2*s.half, 0
	}
	return from, to
}

// shrink takes the last bucket, from, away, whose entries go to another.
func (s *shape) shrink() (from, to uint64) {
	if s.split == 0 {
		s.half /= 2
		s.split = s.half
	}
	s.split--
	return s.buckets(), s.split
}
