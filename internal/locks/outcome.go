package locks

// An Outcome is what is known of the last result of a function on one of its exits. It is
// how a caller tells the exit with the lock from the one without: a function that returns
// true if it took the lock, or an error if it did not.
type Outcome uint8

const (
	Anything Outcome = iota
	True
	False
	Nil
	NonNil
)

// IsNil is the constant of conditions that compare with nil.
const IsNil = "=nil"

// LearnOutcome adds what an outcome says about the value that it is the outcome of.
func (p Path) LearnOutcome(value Node, o Outcome) Path {
	switch o {
	case True, False:
		return p.Learn(Fact{Condition{Value: value}, o == True})
	case Nil, NonNil:
		return p.Learn(Fact{Condition{value, IsNil}, o == Nil})
	}
	return p
}

// OutcomeOf returns what is known of a value.
func (p Path) OutcomeOf(value Node) Outcome {
	if holds, known := p.Known(Condition{Value: value}); known {
		if holds {
			return True
		}
		return False
	}
	if holds, known := p.Known(Condition{value, IsNil}); known {
		if holds {
			return Nil
		}
		return NonNil
	}
	return Anything
}

// Not returns the outcome of the negation.
func (o Outcome) Not() Outcome {
	switch o {
	case True:
		return False
	case False:
		return True
	}
	return o
}
