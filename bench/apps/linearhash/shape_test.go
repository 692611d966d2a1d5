package linearhash

import (
	"math/rand/v2"
	"testing"
)

func TestShapeShrinksTheWayItGrew(t *testing.T) {
	s := smallest
	var shapes []shape
	for range 5 * segmentSize {
		shapes = append(shapes, s)
		before := s.buckets()
		from, to := s.grow()
		if to != before || s.buckets() != before+1 || from >= to {
			t.Fatalf("%+v grew from bucket %d to bucket %d", shapes[len(shapes)-1], from, to)
		}
	}
	for i := len(shapes) - 1; i >= 0; i-- {
		grown := s
		from, to := s.shrink()
		if s != shapes[i] {
			t.Fatalf("%+v shrank to %+v; it came from %+v", grown, s, shapes[i])
		}
		again := s
		if to2, from2 := again.grow(); from2 != from || to2 != to {
			t.Fatalf("%+v merged %d into %d, and split %d into %d", s, from, to, to2, from2)
		}
	}
}

func TestSplitMovesHashesOnlyToTheNewBucket(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	s := smallest
	for range 1000 {
		before := s
		from, to := s.grow()
		for range 100 {
			h := random.Uint64()
			old, now := before.bucket(h), s.bucket(h)
			if now != old && (old != from || now != to) {
				t.Fatalf("splitting %d into %d moved a hash from %d to %d", from, to, old, now)
			}
			if now >= s.buckets() {
				t.Fatalf("bucket %d of %d", now, s.buckets())
			}
		}
	}
}

func TestShapeIsNeverCrowdedAndSparse(t *testing.T) {
	for s := smallest; s.buckets() < 10*segmentSize; s.grow() {
		for s.entries = range 2 * maxLoad * s.buckets() {
			if s.crowded() && s.sparse() {
				t.Fatalf("%+v is crowded and sparse", s)
			}
		}
	}
}

func TestShapeStaysWithinTheDirectory(t *testing.T) {
	s := smallest
	for s.entries = 1 << 40; s.crowded(); {
		s.grow()
	}
	if s.buckets() != maxSegments*segmentSize {
		t.Errorf("grew to %d buckets; there is room for %d", s.buckets(), maxSegments*segmentSize)
	}
	for s.entries = 0; s.sparse(); {
		s.shrink()
	}
	if s != smallest {
		t.Errorf("shrank to %+v", s)
	}
}
