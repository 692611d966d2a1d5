package mem

import (
	"bytes"
	"testing"
)

const at = 0x10000

func space() *Space {
	s := NewSpace()
	s.Map(Area{Start: at, End: at + 4*PageSize, Prot: Read | Write})
	return s
}

// faults calls f and returns the fault it ends with.
func faults(f func()) (fault *Fault) {
	defer func() { fault, _ = recover().(*Fault) }()
	f()
	return nil
}

func TestNumbersOfAllSizesAcrossPages(t *testing.T) {
	for _, watched := range []bool{false, true} {
		s := space()
		s.Watch(watched)
		for off := uint64(PageSize - 9); off < PageSize+9; off++ {
			s.Store64(at+off, 0x1122334455667788)
			if v := s.Load64(at + off); v != 0x1122334455667788 {
				t.Errorf("%#x: %#x", off, v)
			}
			s.Store32(at+off, 0xaabbccdd)
			s.Store16(at+off+2, 0x0102)
			s.Store8(at+off, 0xff)
			if v := s.Load64(at + off); v != 0x112233440102ccff {
				t.Errorf("%#x: %#x", off, v)
			}
			if a, b, c := s.Load8(at+off), s.Load16(at+off), s.Load32(at+off); a != 0xff || b != 0xccff || c != 0x0102ccff {
				t.Errorf("%#x: %#x %#x %#x", off, a, b, c)
			}
		}
	}
}

func TestAccessesThatAreNotAllowedFault(t *testing.T) {
	s := space()
	s.Protect(at+PageSize, at+2*PageSize, Read)
	s.Map(Area{Start: at + 8*PageSize, End: at + 9*PageSize, Prot: 0})
	for name, c := range map[string]struct {
		do   func()
		want *Fault
	}{
		"a load of nothing":          {func() { s.Load8(8) }, &Fault{Addr: 8}},
		"a store to what is read":    {func() { s.Store32(at+PageSize, 1) }, &Fault{Addr: at + PageSize, Write: true, Mapped: true}},
		"a store half of which may":  {func() { s.Store64(at+PageSize-4, 1) }, &Fault{Addr: at + PageSize + 3, Write: true, Mapped: true}},
		"a load past the end":        {func() { s.Load64(at + 4*PageSize - 4) }, &Fault{Addr: at + 4*PageSize + 3}},
		"a load of what is closed":   {func() { s.Load8(at + 8*PageSize) }, &Fault{Addr: at + 8*PageSize, Mapped: true}},
		"code where there is none":   {func() { s.Fetch(at, make([]byte, 4)) }, &Fault{Addr: at, Fetch: true, Mapped: true}},
		"a probe of what is read":    {func() { s.Probe(at+PageSize-4, 8) }, &Fault{Addr: at + PageSize + 3, Write: true, Mapped: true}},
		"a load of what may be read": {func() { s.Load64(at + PageSize) }, nil},
	} {
		got := faults(c.do)
		if (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
		if got != nil && got.Error() == "" {
			t.Errorf("%s says nothing", name)
		}
	}
	if v := s.Load64(at + PageSize - 4); v != 0 {
		t.Errorf("a store that faulted left %#x", v)
	}
}

func TestASnapshotIsRestoredAnyNumberOfTimes(t *testing.T) {
	s := space()
	s.Store64(at, 1)
	snapshot := s.Snapshot()
	for round := range uint64(3) {
		if v := s.Load64(at); v != 1 {
			t.Fatalf("round %d starts with %d", round, v)
		}
		s.Store64(at, 2+round)
		s.Store64(at+PageSize, 3)
		s.Map(Area{Start: at + 16*PageSize, End: at + 17*PageSize, Prot: Read | Write})
		s.Store64(at+16*PageSize, 4)
		s.Unmap(at+2*PageSize, at+3*PageSize)
		inner := s.Snapshot()
		s.Store64(at, 9)
		s.Restore(inner)
		if v := s.Load64(at); v != 2+round {
			t.Errorf("the inner snapshot has %d", v)
		}
		s.Restore(snapshot)
		if a, b := s.Load64(at), s.Load64(at+PageSize); a != 1 || b != 0 {
			t.Errorf("restored to %d and %d", a, b)
		}
		if faults(func() { s.Load8(at + 16*PageSize) }) == nil {
			t.Error("what was mapped after the snapshot is still there")
		}
		if f := faults(func() { s.Load8(at + 2*PageSize) }); f != nil {
			t.Error("what was unmapped after the snapshot is not there again")
		}
	}
}

func TestAStoreAfterARestoreCopiesAgain(t *testing.T) {
	s := space()
	s.Store64(at, 1)
	snapshot := s.Snapshot()
	for range 3 {
		allocated := testing.AllocsPerRun(1, func() {
			for i := range uint64(4) {
				s.Store64(at+i*PageSize, 7)
			}
			s.Restore(snapshot)
		})
		if v := s.Load64(at); v != 1 {
			t.Fatalf("restored to %d", v)
		}
		if allocated > 8 {
			t.Errorf("%v allocations for pages that could be used again", allocated)
		}
	}
}

func TestClonesAreIndependent(t *testing.T) {
	s := space()
	snapshot := s.Snapshot()
	s.Store64(at, 1)
	c := s.Clone()
	s.Store64(at, 2)
	c.Store64(at+8, 3)
	if a, b := c.Load64(at), s.Load64(at+8); a != 1 || b != 0 {
		t.Errorf("the clone has %d, the original %d", a, b)
	}
	s.Restore(snapshot)
	s.Store64(at+PageSize, 5)
	if v := c.Load64(at); v != 1 {
		t.Errorf("a page that the clone has was used again: %d", v)
	}
}

func TestFilesAreSharedAndPrivate(t *testing.T) {
	f := NewFile("file", bytes.Repeat([]byte("0123456789abcdef"), 300))
	one, other := NewSpace(), NewSpace()
	for _, s := range []*Space{one, other} {
		s.Map(Area{Start: at, End: at + 4*PageSize, Prot: Read | Write, File: f, Offset: PageSize})
	}
	one.Store8(at, 'x')
	if one.Load8(at) != 'x' || other.Load8(at) != '0' || f.Data()[PageSize] != '0' {
		t.Error("a store reached the file")
	}
	if v := one.Load64(at + PageSize); v != 0 {
		t.Errorf("past its end the file has %#x", v)
	}
	one.Discard(at, at+PageSize)
	if one.Load8(at) != '0' {
		t.Error("a discarded page is not the file's")
	}
}

func TestAWatchedSpaceTellsAll(t *testing.T) {
	s := space()
	s.Store32(at, 5)
	s.Watch(true)
	s.Load32(at)
	s.Store32(at, 6)
	s.Store64(at+PageSize-4, 7)
	want := []Access{{Addr: at, Before: 5, Size: 4}, {Addr: at, Before: 5, After: 6, Size: 4, Write: true}, {Addr: at + PageSize - 4, After: 7, Size: 8, Write: true}}
	if got := s.Log(); len(got) != len(want) || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("%+v, want %+v", got, want)
	}
	s.Forget()
	s.Watch(false)
	s.Load32(at)
	if len(s.Log()) != 0 {
		t.Error("it is watched still")
	}
}

func TestCodeThatChangesIsNoticed(t *testing.T) {
	s := NewSpace()
	s.Map(Area{Start: at, End: at + PageSize, Prot: Read | Write | Exec})
	s.Store8(at+5, 0x90)
	s.Fetch(at, make([]byte, 15))
	before := s.CodeVersion()
	s.Store8(at+5, 0xcc)
	if s.CodeVersion() == before {
		t.Error("a store to code went unnoticed")
	}
	before = s.CodeVersion()
	s.Map(Area{Start: at + 8*PageSize, End: at + 9*PageSize, Prot: Read | Write})
	if s.CodeVersion() != before {
		t.Error("mapping data changed the code")
	}
	s.Unmap(at, at+PageSize)
	if s.CodeVersion() == before {
		t.Error("unmapping code went unnoticed")
	}
}

func TestAStackGrows(t *testing.T) {
	s := NewSpace()
	const top = 0x7ffffffff000
	s.Map(Area{Start: top - PageSize, End: top, Prot: Read | Write, Grows: true})
	s.Store64(top-3*PageSize, 1)
	if a, _ := s.Area(top - 3*PageSize); a.Start != top-3*PageSize {
		t.Errorf("the stack starts at %#x", a.Start)
	}
	if faults(func() { s.Store64(top-2*stackRoom, 1) }) == nil {
		t.Error("it grows without end")
	}
}

func TestGapsAndExtensions(t *testing.T) {
	s := space()
	if got := s.Gap(PageSize, at+4*PageSize); got != at-PageSize {
		t.Errorf("the gap below is at %#x", got)
	}
	if got := s.Gap(PageSize, at+8*PageSize); got != at+7*PageSize {
		t.Errorf("the gap above is at %#x", got)
	}
	if !s.Extend(at+4*PageSize, at+5*PageSize) || s.Extend(at+4*PageSize, at+6*PageSize) {
		t.Error("only an end can be moved")
	}
	if s.Protect(at+4*PageSize, at+8*PageSize, Read) {
		t.Error("what is not mapped was protected")
	}
}

func TestBytesAndStrings(t *testing.T) {
	s := space()
	long := bytes.Repeat([]byte("a"), PageSize)
	if !s.WriteAt(append(long, "bc\x00"...), at+100) {
		t.Fatal("not written")
	}
	if got, ok := s.String(at+100+PageSize-1, 100); !ok || got != "abc" {
		t.Errorf("%q", got)
	}
	if got, ok := s.String(at+100, 5); !ok || got != "aaaaa" {
		t.Errorf("%q", got)
	}
	if _, ok := s.String(8, 5); ok {
		t.Error("a string where nothing is")
	}
	s.Protect(at, at+PageSize, 0)
	b := make([]byte, 4)
	if s.ReadAt(b, at+100) || s.WriteAt(b, at+100) || !s.Peek(b, at+100) || string(b) != "aaaa" || !s.Poke([]byte("zz"), at+100) {
		t.Error("protection is for programs, not for who prepares them")
	}
	if s.Peek(b, 8) || s.Poke(b, 8) {
		t.Error("there is nothing")
	}
	if w, ok := s.Word(at + PageSize + 96); !ok || w&0xff != 'a' {
		t.Errorf("%#x", w)
	}
}
