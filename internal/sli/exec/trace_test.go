package exec_test

import (
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/sli/exec"
	"github.com/cofferdam-go/cofferdam/internal/sli/slitest"
)

func TestMemoryIsWhatTheNearestEventSays(t *testing.T) {
	l := slitest.NewLog([]exec.Event{
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
