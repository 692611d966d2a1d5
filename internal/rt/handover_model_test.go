package rt_test

import (
	"fmt"
	"strings"
	"testing"
)

// This file is a model of the hand-over of the token between goroutines under control, those
// outside, and the watchdog: an explicit state machine, of which all states of small programs
// are enumerated. It shares no code with the package.
//
// A program is some goroutines, each a sequence of operations on two unbuffered channels.
// Those of rewritten code are hooks, those of other code are native; a goroutine that was
// never under control does all natively. What a program does without control is known: a
// program takes part only if it always comes to its end then. Under control it must do the
// same: no state is called a deadlock, from every state that can be reached the end can, and
// what has a hook is done by the goroutine that has the token.
//
// The machine may be as slow as it likes: the watchdog can take the token at any moment from
// a goroutine that is in its own code.

// A modelOp is an operation of a program.
type modelOp uint8

const (
	hookedSend0 modelOp = iota
	hookedRecv0
	hookedSend1
	hookedRecv1
	nativeSend0
	nativeRecv0
	nativeSend1
	nativeRecv1
	systemCall
	modelOps
)

func (o modelOp) hooked() bool { return o <= hookedRecv1 }

// meets reports whether one operation is the other side of another.
func (o modelOp) meets(p modelOp) bool {
	return o != systemCall && p != systemCall && o%4/2 == p%4/2 && o%2 != p%2
}

func (o modelOp) String() string {
	return [...]string{"send0", "recv0", "send1", "recv1", "native send0", "native recv0", "native send1", "native recv1", "system call"}[o]
}

// A modelMode is what a goroutine is doing.
type modelMode uint8

const (
	modelReady     modelMode = iota // parked, and can be given the token
	modelRunning                    // has the token, or was never under control
	modelArriving                   // found that it has the token, and is about to take it
	modelWaiting                    // as running, but natively
	modelParked                     // its operation is not possible
	modelOutside                    // has lost the token
	modelStuck                      // as outside, but waits natively
	modelReturning                  // is to be adopted
	modelEnded
)

const modelGoroutines = 3

// A modelState is one of the machine. The last goroutine was never under control.
type modelState struct {
	pc    [modelGoroutines]uint8
	mode  [modelGoroutines]modelMode
	token int8 // the goroutine that has it, or one of these:
}

const (
	tokenFree     = -1 // those that could take it wait for what is outside
	tokenDeadlock = -2 // the run was ended
	tokenOver     = -3
	tokenTwice    = -4 // a goroutine did without it what the holder alone may
)

// A modelVariant is a way to hand over. The zero value is that of the package.
type modelVariant struct {
	// keepsToken has the watchdog look only whether others are ready or have lost the
	// token: not whether one that is parked could go on with one that waits natively.
	keepsToken bool
	// takesInTwo has a goroutine that has found that it has the token take it later.
	takesInTwo bool
	// losesStrays has a goroutine that lost the token do the plain operation.
	losesStrays bool
	// blind has what waits natively not be seen from under control.
	blind bool
}

type modelProgram [modelGoroutines][]modelOp

const modelForeign = modelGoroutines - 1

func (p *modelProgram) String() string {
	var all []string
	for i, ops := range p {
		name := fmt.Sprintf("goroutine %d", i+1)
		if i == modelForeign {
			name = "outside"
		}
		all = append(all, fmt.Sprintf("%s: %v", name, ops))
	}
	return strings.Join(all, "; ")
}

// op returns the operation that goroutine i is at.
func (p *modelProgram) op(s *modelState, i int) (_ modelOp, ok bool) {
	if int(s.pc[i]) == len(p[i]) {
		return 0, false
	}
	return p[i][s.pc[i]], true
}

// next calls visit with every state that can follow s.
func (p *modelProgram) next(s modelState, v modelVariant, visit func(modelState)) {
	if s.token <= tokenDeadlock {
		return
	}
	for i := range p {
		p.step(s, v, i, visit)
	}
	switch t := s.token; {
	case t == tokenFree:
		p.idle(s, v, visit)
	case s.mode[t] == modelRunning || s.mode[t] == modelWaiting || s.mode[t] == modelArriving:
		if p.evicts(&s, v) {
			s.mode[t] = map[modelMode]modelMode{modelRunning: modelOutside, modelWaiting: modelStuck, modelArriving: modelArriving}[s.mode[t]]
			p.dispatch(s, v, visit)
		}
	}
}

// evicts reports whether the watchdog takes the token.
func (p *modelProgram) evicts(s *modelState, v modelVariant) bool {
	for i, m := range s.mode[:modelForeign] {
		if i != int(s.token) && (m == modelReady || m == modelReturning || m == modelOutside || m == modelStuck) {
			return true
		}
	}
	return !v.keepsToken && !v.blind && p.poll(*s, func(modelState) {})
}

// poll has goroutines that are parked go on that are awaited natively, and reports whether
// there are any.
func (p *modelProgram) poll(s modelState, visit func(modelState)) bool {
	found := false
	for i, m := range s.mode[:modelForeign] {
		if m == modelParked {
			found = p.meet(s, i, visit, modelWaiting, modelStuck) || found
		}
	}
	return found
}

// step is what goroutine i may do by itself.
func (p *modelProgram) step(s modelState, v modelVariant, i int, visit func(modelState)) {
	op, more := p.op(&s, i)
	switch s.mode[i] {
	case modelRunning, modelOutside:
		switch own := s.mode[i] == modelOutside; {
		case i == modelForeign && !more:
			s.mode[i] = modelEnded
			visit(s)
		case own && (!more || op.hooked()) && !v.losesStrays:
			if s.mode[i] = modelReturning; s.token == tokenFree {
				s.mode[i], s.token = modelRunning, int8(i)
			}
			visit(s)
		case own && (!more || op.hooked()):
			s.token = tokenTwice
			visit(s)
		case i == modelForeign || own || !(!more || op.hooked()):
			p.native(s, i, visit)
		case v.takesInTwo:
			s.mode[i] = modelArriving
			visit(s)
		default:
			p.hook(s, v, i, visit)
		}
	case modelArriving:
		if s.token != int8(i) {
			s.token = tokenTwice
			visit(s)
			return
		}
		p.hook(s, v, i, visit)
	case modelWaiting, modelStuck:
		if op == systemCall {
			p.done(&s, i)
			visit(s)
		}
	}
}

// done has goroutine i go on after its operation.
func (p *modelProgram) done(s *modelState, i int) {
	s.pc[i]++
	switch s.mode[i] {
	case modelWaiting:
		s.mode[i] = modelRunning
	case modelStuck:
		s.mode[i] = modelOutside
	case modelParked:
		s.mode[i] = modelReady
	}
}

// native is a native operation of goroutine i.
func (p *modelProgram) native(s modelState, i int, visit func(modelState)) {
	if p.meet(s, i, visit, modelWaiting, modelStuck) {
		return
	}
	if s.mode[i] == modelOutside {
		s.mode[i] = modelStuck
	} else {
		s.mode[i] = modelWaiting
	}
	visit(s)
}

// meet does goroutine i's operation with every other goroutine that waits in one of two ways
// for it, and reports whether there is one.
func (p *modelProgram) meet(s modelState, i int, visit func(modelState), modes ...modelMode) bool {
	op, _ := p.op(&s, i)
	met := false
	for j := range p {
		other, more := p.op(&s, j)
		if j == i || !more || s.mode[j] != modes[0] && s.mode[j] != modes[1] || !op.meets(other) {
			continue
		}
		after := s
		p.done(&after, i)
		p.done(&after, j)
		visit(after)
		met = true
	}
	return met
}

// hook is a hook of goroutine i, which has the token; or its end.
func (p *modelProgram) hook(s modelState, v modelVariant, i int, visit func(modelState)) {
	s.mode[i] = modelRunning
	if _, more := p.op(&s, i); !more {
		s.mode[i] = modelEnded
		p.dispatch(s, v, visit)
		return
	}
	// Any other that is ready may go first.
	for j, m := range s.mode[:modelForeign] {
		if m == modelReady {
			after := s
			after.mode[i], after.mode[j], after.token = modelReady, modelRunning, int8(j)
			visit(after)
		}
	}
	met := p.meet(s, i, visit, modelParked, modelParked)
	if !v.blind {
		met = p.meet(s, i, visit, modelWaiting, modelStuck) || met
	}
	if !met {
		s.mode[i] = modelParked
		p.dispatch(s, v, visit)
	}
}

// outsiders reports whether something is outside.
func (p *modelProgram) outsiders(s *modelState) bool {
	for i, m := range s.mode {
		if m == modelOutside || m == modelStuck || m == modelReturning || m == modelArriving && int8(i) != s.token {
			return true
		}
	}
	return s.mode[modelForeign] != modelEnded
}

// dispatch gives the token away.
func (p *modelProgram) dispatch(s modelState, v modelVariant, visit func(modelState)) {
	given, ended := false, true
	for i, m := range s.mode[:modelForeign] {
		ended = ended && m == modelEnded
		if m == modelReady || m == modelReturning {
			after := s
			after.mode[i], after.token = modelRunning, int8(i)
			visit(after)
			given = true
		}
	}
	switch {
	case given:
		return
	case ended:
		s.token = tokenOver
	case !v.blind && p.poll(s, func(after modelState) { p.dispatch(after, v, visit) }):
		return
	case p.outsiders(&s):
		s.token = tokenFree
	default:
		s.token = tokenDeadlock
	}
	visit(s)
}

// idle is what happens while those that could take the token wait for what is outside.
func (p *modelProgram) idle(s modelState, v modelVariant, visit func(modelState)) {
	moved := false
	p.dispatch(s, v, func(after modelState) {
		if after != s {
			moved = true
			visit(after)
		}
	})
	if !moved && !p.active(&s) {
		s.token = tokenDeadlock
		visit(s)
	}
}

// active reports whether something outside may go on by itself.
func (p *modelProgram) active(s *modelState) bool {
	for i, m := range s.mode {
		op, _ := p.op(s, i)
		if m == modelOutside || m == modelArriving || (m == modelStuck || m == modelWaiting) && op == systemCall || i == modelForeign && m == modelRunning {
			return true
		}
	}
	return false
}

// check enumerates the states of the program under control, and returns one from which it
// cannot come to its end, and how many there are.
func (p *modelProgram) check(v modelVariant) (bad *modelState, states int) {
	start := modelState{token: 0}
	start.mode[0], start.mode[modelForeign] = modelRunning, modelRunning
	number := map[modelState]int{start: 0}
	all := []modelState{start}
	var before [][]int // the states that each can be reached from
	before = append(before, nil)
	for i := 0; i < len(all); i++ {
		p.next(all[i], v, func(s modelState) {
			n, ok := number[s]
			if !ok {
				n = len(all)
				number[s] = n
				all = append(all, s)
				before = append(before, nil)
			}
			before[n] = append(before[n], i)
		})
	}
	good := make([]bool, len(all))
	var todo []int
	for i, s := range all {
		if s.token == tokenOver {
			good[i] = true
			todo = append(todo, i)
		}
	}
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, j := range before[i] {
			if !good[j] {
				good[j] = true
				todo = append(todo, j)
			}
		}
	}
	for i := range all {
		if !good[i] {
			return &all[i], len(all)
		}
	}
	return nil, len(all)
}

// ends reports whether the program always comes to its end without control.
func (p *modelProgram) ends(pc [modelGoroutines]uint8) bool {
	over, moved := true, false
	for i := range p {
		if int(pc[i]) == len(p[i]) {
			continue
		}
		over = over && i == modelForeign
		op := p[i][pc[i]]
		if op == systemCall {
			after := pc
			after[i]++
			if moved = true; !p.ends(after) {
				return false
			}
			continue
		}
		for j := range i {
			if int(pc[j]) == len(p[j]) || !op.meets(p[j][pc[j]]) {
				continue
			}
			after := pc
			after[i]++
			after[j]++
			if moved = true; !p.ends(after) {
				return false
			}
		}
	}
	return over || moved
}

// modelSequences returns the sequences of at most n operations from some.
func modelSequences(n int, from, to modelOp) [][]modelOp {
	all := [][]modelOp{nil}
	for first := 0; n > 0; n-- {
		last := len(all)
		for _, s := range all[first:last] {
			for op := from; op < to; op++ {
				all = append(all, append(s[:len(s):len(s)], op))
			}
		}
		first = last
	}
	return all
}

// modelPrograms calls visit with every program of at most two operations a goroutine that
// always comes to its end without control.
func modelPrograms(visit func(*modelProgram)) {
	controlled, foreign := modelSequences(2, hookedSend0, modelOps), modelSequences(2, nativeSend0, modelOps)
	for _, a := range controlled {
		for _, b := range controlled {
			for _, f := range foreign {
				p := modelProgram{a, b, f}
				if p.balanced() && p.ends([modelGoroutines]uint8{}) {
					visit(&p)
				}
			}
		}
	}
}

// balanced reports whether the program sends as often as it receives. No other can end.
func (p *modelProgram) balanced() bool {
	var n [4]int
	for _, ops := range p {
		for _, op := range ops {
			if op != systemCall {
				n[op%4]++
			}
		}
	}
	return n[0] == n[1] && n[2] == n[3]
}

// TestTheHandOverLosesNothing enumerates all states of all small programs.
func TestTheHandOverLosesNothing(t *testing.T) {
	programs, states := 0, 0
	modelPrograms(func(p *modelProgram) {
		bad, n := p.check(modelVariant{})
		programs++
		states += n
		if bad != nil {
			t.Fatalf("%v: from %+v the end cannot be reached", p, *bad)
		}
	})
	t.Logf("%d programs, %d states", programs, states)
}

// TestWrongHandOversAreCaught: the model has to tell the variants from the right one.
func TestWrongHandOversAreCaught(t *testing.T) {
	for _, v := range []modelVariant{{keepsToken: true}, {takesInTwo: true}, {losesStrays: true}, {blind: true}} {
		var caught *modelProgram
		var state modelState
		modelPrograms(func(p *modelProgram) {
			if caught == nil {
				if bad, _ := p.check(v); bad != nil {
					caught, state = p, *bad
				}
			}
		})
		if caught == nil {
			t.Errorf("%+v passes for right", v)
			continue
		}
		t.Logf("%+v: %v, in %+v", v, caught, state)
	}
}
