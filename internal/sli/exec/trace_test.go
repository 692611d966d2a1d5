package exec_test

import (
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/sli/exec"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
	"github.com/cofferdam-go/cofferdam/internal/sli/slitest"
)

func TestMemoryIsWhatTheNearestEventSays(t *testing.T) {
	l := exec.NewLog([]exec.Event{
		{Seq: 1, G: 1, Kind: exec.KindLoad, Addr: 64, Size: 4, Before: []byte{1, 2, 3, 4}},
		{Seq: 2, G: 1, Kind: exec.KindStore, Addr: 65, Size: 2, Before: []byte{2, 3}, After: []byte{7, 8}},
		{Seq: 3, G: 2, Kind: exec.KindStore, Addr: 64, Size: 1, Before: []byte{1}, After: []byte{9}},
	})
	for at, want := range map[uint64]uint64{1: 0x04030201, 2: 0x04030201, 3: 0x04080701, 4: 0x04080709} {
		if v := exec.MemoryAt(l, 64, 4, at); !v.Known || v.Uint() != want {
			t.Errorf("before %d: %#x, want %#x", at, v.Uint(), want)
		}
	}
	if v := exec.MemoryAt(l, 68, 4, 4); v.Known {
		t.Errorf("memory that no event has is %v", v)
	}
}

func TestMemoryThatIsNotKnown(t *testing.T) {
	l := exec.NewLog([]exec.Event{
		{Seq: 1, G: 1, Kind: exec.KindAlloc, Addr: 128, Size: 16},
		{Seq: 2, G: 1, Kind: exec.KindStore, Addr: 128, Size: 8},                                        // of something the trace does not say
		{Seq: 3, G: 1, Kind: exec.KindStore, Addr: 256, Size: 1, Map: true},                             // to an element of a map
		{Seq: 4, G: 1, Kind: exec.KindLoad, Addr: 512, Size: 8, Before: []byte{1, 0, 0, 0, 0, 0, 0, 0}}, // known since ever
		{Seq: 5, G: 1, Kind: exec.KindStore, Addr: 640, Size: 8},                                        // over something unknown
	})
	for _, test := range []struct {
		what   string
		addr   uint64
		before uint64
		want   string
	}{
		{"new memory is zero", 136, 5, "0"},
		{"memory before it is allocated", 136, 1, "?"},
		{"a store without its value", 128, 5, "?"},
		{"an element", 256, 5, "?"},
		{"what an earlier load saw", 512, 5, "1"},
		{"what a later load sees", 512, 2, "1"},
		{"before a store without what it replaced", 640, 2, "?"},
	} {
		if got := exec.MemoryAt(l, test.addr, 8, test.before).String(); got != test.want {
			t.Errorf("%s: %s, want %s", test.what, got, test.want)
		}
	}
}

// TestAccessesAreThoseNearestToTheFailure: of many accesses those around an event are kept.
func TestAccessesAreThoseNearestToTheFailure(t *testing.T) {
	var events []exec.Event
	for i := range 20_000 {
		events = append(events, exec.Event{Seq: uint64(i + 1), G: 1, Kind: exec.KindStore, Addr: 64, Size: 8})
	}
	r := exec.NewReplay(&ir.Program{}, exec.NewLog(events), exec.Failure{})
	for range 2 { // the second time from memory
		all := r.NearAccesses(64, 8, 20_000)
		if n := len(all); n < 4000 || n > 8001 || all[n-1].Seq != 20_000 || all[0].Seq != 20_001-uint64(n) {
			t.Errorf("%d accesses from %d to %d", n, all[0].Seq, all[n-1].Seq)
		}
		all = r.NearAccesses(64, 8, 10_000)
		if n := len(all); n != 8000 || all[0].Seq != 6001 || all[n-1].Seq != 14_000 {
			t.Errorf("around 10000, %d accesses from %d to %d", n, all[0].Seq, all[n-1].Seq)
		}
	}
	for addr := range uint64(300) {
		r.NearAccesses(1<<20+addr, 1, 20_000)
	}
	if all := r.NearAccesses(64, 8, 20_000); all[len(all)-1].Seq != 20_000 {
		t.Error("what was forgotten is not asked for again")
	}
}

func TestConstantTextsAreReadThroughTheirSymbol(t *testing.T) {
	b := slitest.NewBuilder()
	b.Constant("text0", "hello, world")
	r := exec.NewReplay(b.Program(), exec.NewLog(nil), exec.Failure{})
	addr := r.Symbol("text0").Uint()
	if got, ok := r.Text(addr+7, 5); !ok || string(got) != "world" {
		t.Errorf("a part of the text is %q, %v", got, ok)
	}
	for _, bad := range []uint64{addr + 8, 4711} {
		if got, ok := r.Text(bad, 5); ok {
			t.Errorf("at %#x there is %q", bad, got)
		}
	}
}
