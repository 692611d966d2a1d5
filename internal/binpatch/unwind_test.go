package binpatch

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/emu/linux"
	lifting "github.com/cofferdam-go/cofferdam/internal/lift/x86"
	"github.com/cofferdam-go/cofferdam/internal/x86"
)

// whatIsThrown is what the program prints.
const whatIsThrown = `0: 28, 111
1: 1001, 101
2: 2020, 101
3: 3116, 1101
4: 1001, 111
5: 2020, 111
6: 3116, 1111
0
terminated
`

// TestExceptionsLeaveSections: whatever calls of a program with exceptions are put under the
// lock, they are caught, cleaned up after and refused as without; and the lock is released, or
// the other thread would say that it has waited for a second.
func TestExceptionsLeaveSections(t *testing.T) {
	if !dynamic(t) {
		return
	}
	for _, library := range []string{"/lib/x86_64-linux-gnu/libgcc_s.so.1", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"} {
		if _, err := os.Stat(library); err != nil {
			t.Logf("nothing was run: this machine has no %s", library)
			return
		}
	}
	rng := rand.New(rand.NewPCG(7, 7))
	for _, name := range []string{"exceptions.O0", "exceptions.O2"} {
		path := "testdata/" + name
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		image, err := lifting.NewImage(name, data, 0)
		if err != nil {
			t.Fatal(err)
		}
		calls := callsBesideMain(t, data, image)
		if len(calls) < 20 {
			t.Fatalf("%s has %d calls", name, len(calls))
		}
		for round := range 3 {
			var sections []Section
			for _, pc := range calls {
				switch before, _ := (&plan{image: image}).before(pc); {
				case round == 0 || rng.IntN(2) == 0:
					sections = append(sections, Section{[]uint64{pc}, []uint64{pc}})
				case before != 0 && !slices.Contains(calls, before):
					// The call stands in the way of a jump, and is moved without the lock.
					sections = append(sections, Section{[]uint64{before}, []uint64{before}})
				}
			}
			p, err := New(data, image, sections, nil, name, true)
			if err != nil {
				t.Fatal(err)
			}
			object, _ := write(t, p)
			process, out := run(t, path, object)
			if e := process.Exit(); e.Reason != linux.Exited || e.Code != 4 || out != whatIsThrown {
				t.Errorf("%s, %d sections: %+v\n%s", name, len(sections), e, out)
			}
			if runtime.GOOS == "linux" && runtime.GOARCH == "amd64" {
				cmd := exec.Command(path)
				cmd.Env = append(os.Environ(), "LD_PRELOAD="+object)
				if out, _ := cmd.CombinedOutput(); string(out) != whatIsThrown {
					t.Errorf("%s, %d sections, on the processor:\n%s", name, len(sections), out)
				}
			}
		}
	}
}

// callsBesideMain are the calls of a program but for those of the function that waits for the
// other thread, and of the one that calls that.
func callsBesideMain(t *testing.T, data []byte, image *lifting.Image) []uint64 {
	t.Helper()
	f, err := readFile(data)
	if err != nil {
		t.Fatal(err)
	}
	byFunction, waits := map[uint64][]uint64{}, uint64(0)
	for pc := f.text.Vaddr; pc < f.text.Vaddr+f.text.Filesz; {
		var in, stub x86.Inst
		if !image.Decode(pc, &in) {
			pc++
			continue
		}
		at, err := f.frameAt(pc)
		if err != nil {
			t.Fatal(err)
		}
		if in.Op == x86.CALL && at != nil && len(at.rules) > 0 {
			byFunction[at.start] = append(byFunction[at.start], pc)
			if target := in.Target(pc); in.Args[0].Place == x86.Relative && image.Decode(target, &stub) && stub.Op == x86.JMP && importAt(t, f, target+uint64(stub.Len)+uint64(stub.Mem.Disp)) == "pthread_join" {
				waits = at.start
			}
		}
		pc += uint64(in.Len)
	}
	if waits == 0 {
		t.Fatal("no function waits for the other thread")
	}
	delete(byFunction, waits)
	delete(byFunction, f.elf.Entry) // which calls it
	var all []uint64
	for _, calls := range byFunction {
		all = append(all, calls...)
	}
	slices.Sort(all)
	return all
}

// importAt is the name of what the dynamic linker puts into a slot.
func importAt(t *testing.T, f *file, slot uint64) string {
	t.Helper()
	symbols, err := f.elf.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	table, err := f.elf.Section(".rela.plt").Data()
	if err != nil {
		t.Fatal(err)
	}
	for ; len(table) >= 24; table = table[24:] {
		if binary.LittleEndian.Uint64(table) == slot {
			return symbols[binary.LittleEndian.Uint32(table[12:])-1].Name
		}
	}
	return ""
}

// TestFramesAreThoseOfTheProgram: what is read of a program's tables is what they say.
func TestFramesAreThoseOfTheProgram(t *testing.T) {
	data, err := os.ReadFile("testdata/exceptions.O2")
	if err != nil {
		t.Fatal(err)
	}
	f, err := readFile(data)
	if err != nil {
		t.Fatal(err)
	}
	frames, landings, terminates := 0, 0, 0
	for pc := f.text.Vaddr; pc < f.text.Vaddr+f.text.Filesz; pc++ {
		at, err := f.frameAt(pc)
		if err != nil {
			t.Fatalf("%#x: %v", pc, err)
		}
		if at == nil {
			continue
		}
		frames++
		l, err := f.landingAt(at, pc)
		if err != nil {
			t.Fatalf("%#x: %v", pc, err)
		}
		if l.pad != 0 {
			landings++
			if outer, err := f.frameAt(l.pad); err != nil || outer == nil {
				t.Errorf("%#x lands at %#x, which is in no function: %v", pc, l.pad, err)
			}
		}
		if l.ends {
			terminates++
		}
		if !slices.Contains([]byte{ruleFrame, ruleFrameExpr}, at.rules[0]) {
			t.Errorf("%#x: %x", pc, at.rules)
		}
	}
	if frames == 0 || landings == 0 || terminates == 0 {
		t.Errorf("%d instructions in frames, %d that land, %d that may not throw", frames, landings, terminates)
	}
	if at, err := f.frameAt(f.end + 1000); at != nil || err != nil {
		t.Errorf("%+v, %v", at, err)
	}
}

// TestTablesThatAreBrokenAreNotUnderstood: of a program whose tables were cut off or overwritten.
func TestTablesThatAreBrokenAreNotUnderstood(t *testing.T) {
	data, err := os.ReadFile("testdata/exceptions.O2")
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 3))
	refused := 0
	for range 200 {
		broken := bytes.Clone(data)
		f, err := readFile(broken)
		if err != nil {
			t.Fatal(err)
		}
		header := f.elf.Progs[slices.IndexFunc(f.elf.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_GNU_EH_FRAME })]
		for range 20 {
			broken[header.Off+uint64(rng.IntN(1200))] = byte(rng.Uint32())
		}
		for pc := f.text.Vaddr; pc < f.text.Vaddr+f.text.Filesz; pc += 97 {
			at, err := f.frameAt(pc)
			if err == nil && at != nil {
				_, err = f.landingAt(at, pc)
			}
			if err != nil {
				refused++
			}
		}
	}
	if refused == 0 {
		t.Error("everything was understood")
	}
}

func TestNumbersOfTables(t *testing.T) {
	for _, v := range []int64{0, 1, -1, 63, 64, -64, -65, 1 << 20, -1 << 40} {
		f := &file{data: appendSLEB(nil, v), elf: &elf.File{}}
		f.elf.Progs = []*elf.Prog{{ProgHeader: elf.ProgHeader{Type: elf.PT_LOAD, Filesz: uint64(len(f.data))}}}
		if got := (&tableReader{file: f}).sleb(); got != v {
			t.Errorf("%d is read as %d", v, got)
		}
	}
	if text := fmt.Sprint(errFrames); !strings.Contains(text, "exceptions") {
		t.Error(text)
	}
}
