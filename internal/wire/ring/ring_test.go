package ring

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// both returns the two ends of a ring, as two processes have them.
func both(t *testing.T) (program, tool *Ring) {
	t.Helper()
	tool, file, err := Create()
	if err != nil {
		t.Fatal(err)
	}
	program, err = Open(file)
	file.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := program.Close(); err != nil {
			t.Error(err)
		}
		if err := tool.Close(); err != nil {
			t.Error(err)
		}
	})
	return program, tool
}

// listing is what came through a ring, accesses as events without values.
type listing []event.Event

func (l *listing) drain(r *Ring) bool {
	return r.Drain(func(some []event.Access) {
		for _, a := range some {
			*l = append(*l, event.Event{Seq: a.Seq, Kind: a.Kind, Arg: a.After})
		}
	}, func(e *event.Event) {
		c := *e
		c.Before, c.After = bytes.Clone(e.Before), bytes.Clone(e.After)
		*l = append(*l, c)
	})
}

// TestEverythingComesThroughInOrder: accesses and events with values of all lengths, several
// times around the ring, with the reading side behind by different amounts.
func TestEverythingComesThroughInOrder(t *testing.T) {
	program, tool := both(t)
	var got, want listing
	waited := 0
	program.Wait = func() {
		waited++
		if !got.drain(tool) {
			t.Fatal("the ring is full, and there is nothing to read")
		}
	}
	var room []event.Access
	filled := 0
	for seq := uint64(1); seq < 3*slots; seq++ {
		if seq%7 != 0 {
			if filled == len(room) {
				room, filled = program.Accesses(room[:filled]), 0
			}
			room[filled] = event.Access{Seq: seq, Kind: event.Store, Size: 8, After: seq * 3}
			filled++
			want = append(want, event.Event{Seq: seq, Kind: event.Store, Arg: seq * 3})
			continue
		}
		program.Accesses(room[:filled])
		room, filled = nil, 0
		e := event.Event{Seq: seq, G: 3, Kind: event.AtomicUpdate, Site: 4, Frame: 5, Addr: 6, Size: 1 << 20, Arg: seq}
		e.Before = values(int(seq % (event.MaxValue + 1)))
		e.After = values(int(seq / 7 % (event.MaxValue + 1)))
		program.Event(&e)
		want = append(want, e)
		if seq%(slots/3) == 0 {
			got.drain(tool)
		}
	}
	program.Accesses(room[:filled])
	got.drain(tool)
	if got.drain(tool) {
		t.Error("there was more to read after everything was read")
	}
	if waited == 0 {
		t.Error("the ring was never full")
	}
	if len(got) != len(want) {
		t.Fatalf("%d of %d came through", len(got), len(want))
	}
	for i := range want {
		if !same(&want[i], &got[i]) {
			t.Fatalf("the %d-th is %+v, want %+v", i, got[i], want[i])
		}
	}
}

func same(a, b *event.Event) bool {
	return bytes.Equal(a.Before, b.Before) && bytes.Equal(a.After, b.After) && a.Seq == b.Seq && a.G == b.G && a.Kind == b.Kind &&
		a.Site == b.Site && a.Frame == b.Frame && a.Addr == b.Addr && a.Size == b.Size && a.Arg == b.Arg
}

func values(n int) []byte {
	if n == 0 {
		return nil
	}
	return bytes.Repeat([]byte{byte(n)}, n)
}

// TestTheFileIsGone: a tool that is killed leaves no file behind.
func TestTheFileIsGone(t *testing.T) {
	_, file, err := Create()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := os.Stat(file.Name()); !os.IsNotExist(err) {
		t.Errorf("%s: %v", file.Name(), err)
	}
}

func TestWhatIsNoRingIsRefused(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "closed"))
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if _, err := Open(f); err == nil || !strings.Contains(err.Error(), "mapping the events of a run") {
		t.Errorf("%v", err)
	}
}
