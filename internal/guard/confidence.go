package guard

import "math"

// weights of signs: how much of the remaining doubt each takes away.
var weights = map[Sign]float64{
	Annotated:     0.95,
	CommentOnData: 0.8,
	CommentOnLock: 0.8,
	CommentAbove:  0.6,
	Idiom:         0.6,
	Named:         0.5,
	Below:         0.3,
	Helper:        0.3,
}

// Confidence is how sure it is, from 0 to 1, that the lock guards the data:
//
//	W = 2 × writing sites with the lock    + reading sites with it
//	N = 2 × writing sites without the lock + reading sites without it
//	b = W / (W + N + 1)
//	confidence = (1 − (1−b) × Π (1−s)) × 0.9^distance
//
// over the signs s. A sign that only hints counts s × W/(W+N). The locks of an object's
// owner, and those that stand elsewhere, are often held by chance: each step away takes a
// tenth. A write counts twice because it is for writes that locks are taken. The 1 in b is
// the doubt that one access alone leaves: a single write under a lock is worth 2/3, nine
// of ten reads 9/11.
func (e Evidence) Confidence() float64 {
	w := float64(2*e.WritesWith + e.ReadsWith)
	n := float64(2*e.WritesWithout + e.ReadsWithout)
	doubt := 1 - w/(w+n+1)
	agree := 1.0
	if w+n > 0 {
		agree = w / (w + n)
	}
	for _, s := range e.Signs {
		weight := weights[s]
		if !s.states() {
			weight *= agree
		}
		doubt *= 1 - weight
	}
	return (1 - doubt) * math.Pow(0.9, float64(e.Distance))
}
