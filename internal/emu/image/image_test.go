package image

import (
	"bytes"
	"encoding/binary"
	"os"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/emu/mem"
)

const example = "../../../examples/binary/bin/toctou.O2"

func file(t *testing.T, change func([]byte) []byte) *mem.File {
	t.Helper()
	data, err := os.ReadFile(example)
	if err != nil {
		t.Fatal(err)
	}
	return mem.NewFile(example, change(data))
}

func TestAProgramIsWhereItsFileSays(t *testing.T) {
	space := mem.NewSpace()
	f := file(t, func(b []byte) []byte { return b })
	im, err := Load(space, f, example, ProgramBase)
	if err != nil {
		t.Fatal(err)
	}
	first := make([]byte, 64)
	if !space.ReadAt(first, im.Base) || !bytes.Equal(first, f.Data()[:64]) {
		t.Error("the file does not begin at its base")
	}
	if a, ok := space.Area(im.Entry); !ok || a.Prot&mem.Exec == 0 || a.Prot&mem.Write != 0 {
		t.Errorf("it starts in %+v", a)
	}
	if a, ok := space.Area(im.End - 1); !ok || a.Prot&mem.Write == 0 {
		t.Errorf("it ends in %+v", a)
	}
	if !im.Dynamic() || im.Go {
		t.Errorf("%+v", im)
	}
}

func TestTheStackHoldsWhatAProgramIsTold(t *testing.T) {
	space := mem.NewSpace()
	im, err := Load(space, file(t, func(b []byte) []byte { return b }), example, ProgramBase)
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 300<<10) // more than the stack is large
	sp := im.Stack(space, &Start{Args: []string{"name", long}, Env: []string{"A=b"}, User: 7})
	word := func(i uint64) uint64 {
		v, ok := space.Word(sp + 8*i)
		if !ok {
			t.Fatalf("there is no word %d", i)
		}
		return v
	}
	text := func(i uint64) string {
		s, _ := space.String(word(i), 1<<20)
		return s
	}
	if sp%16 != 0 || word(0) != 2 || text(1) != "name" || text(2) != long || word(3) != 0 || text(4) != "A=b" || word(5) != 0 {
		t.Errorf("at %#x: %d arguments, %q, %q", sp, word(0), text(1), text(4))
	}
	told := map[uint64]uint64{}
	for i := uint64(6); word(i) != 0; i += 2 {
		told[word(i)] = word(i + 1)
	}
	const headers, entry, user = 3, 9, 11
	if told[entry] != im.Entry || told[user] != 7 || told[headers] != im.Base+64 {
		t.Errorf("%v", told)
	}
}

func TestWhatIsNoProgramIsNamed(t *testing.T) {
	for want, change := range map[string]func([]byte) []byte{
		"script":    func([]byte) []byte { return []byte("#!/bin/sh\n") },
		"no ELF":    func([]byte) []byte { return []byte("text") },
		"cut off":   func(b []byte) []byte { return b[:100] },
		"only x86":  func(b []byte) []byte { binary.LittleEndian.PutUint16(b[18:], 183); return b },
		"not a pro": func(b []byte) []byte { binary.LittleEndian.PutUint16(b[16:], 1); return b },
	} {
		if _, err := Load(mem.NewSpace(), file(t, change), "it", ProgramBase); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
