package structures

import "github.com/cofferdam-go/cofferdam/isolate"

// The stack is linked.

type stockStack struct {
	top *stockFrame
}

type stockFrame struct {
	value uint64
	below *stockFrame
}

func (s *stockStack) Read(uint64) (uint64, bool) {
	if s.top == nil {
		return 0, false
	}
	return s.top.value, true
}

func (s *stockStack) Insert(_, value uint64) bool {
	s.top = &stockFrame{value, s.top}
	return true
}

func (s *stockStack) Delete(uint64) (uint64, bool) {
	f := s.top
	if f == nil {
		return 0, false
	}
	s.top = f.below
	return f.value, true
}

type stackRoot struct {
	top isolate.Ref[frame]
}

type frame struct {
	value uint64
	below isolate.Ref[frame]
}

func (s *stackRoot) read(uint64) (uint64, bool) {
	f := isolate.Follow(s, s.top)
	if f == nil {
		return 0, false
	}
	return f.value, true
}

func (s *stackRoot) insert(g isolate.Guard, _, value uint64) bool {
	f, ref := fresh[stackRoot, frame](g, s)
	f.value, f.below = value, s.top
	s.top = ref
	return true
}

func (s *stackRoot) remove(g isolate.Guard, _ uint64) (uint64, bool) {
	f := isolate.Follow(s, s.top)
	if f == nil {
		return 0, false
	}
	s.top = f.below
	value := f.value
	isolate.Free(g, f)
	return value, true
}
