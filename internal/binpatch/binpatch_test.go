package binpatch

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/emu/linux"
	lifting "github.com/cofferdam-go/cofferdam/internal/lift/x86"
	"github.com/cofferdam-go/cofferdam/internal/x86"
)

const examples = "../../examples/binary/bin/"

// TestListingsMeanWhatTheySay: the bytes of every line decode to the instruction beside them.
func TestListingsMeanWhatTheySay(t *testing.T) {
	for _, text := range []string{lockCode, loadCode} {
		a := newAssembly()
		a.list(text)
		for _, f := range a.fixes {
			if _, ok := a.labels[f.label]; !ok {
				a.labels[f.label] = len(a.code) + 4096 + 16*len(a.labels) // elsewhere
			}
		}
		if err := a.finish(); err != nil {
			t.Fatal(err)
		}
		names := map[uint64]string{}
		for name, at := range a.labels {
			names[uint64(at)] = name
		}
		pc := uint64(0)
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			if line == "" || strings.HasSuffix(line, ":") {
				continue
			}
			var in x86.Inst
			if err := x86.Decode(a.code[pc:], &in); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			if got := in.Text(pc, func(at uint64) string { return names[at] }); !strings.HasSuffix(line, " "+got) {
				t.Errorf("%s: the bytes are %s", line, got)
			}
			pc += uint64(in.Len)
		}
		if pc != uint64(len(a.code)) {
			t.Errorf("%d bytes of %d were read", pc, len(a.code))
		}
	}
}

// program is an example with its image.
func program(t *testing.T, name string) ([]byte, *lifting.Image) {
	t.Helper()
	data, err := os.ReadFile(examples + name)
	if err != nil {
		t.Fatal(err)
	}
	image, err := lifting.NewImage(name, data, 0)
	if err != nil {
		t.Fatal(err)
	}
	return data, image
}

// run executes a program in the emulator, its threads in turn. preload is loaded into it.
func run(t *testing.T, path, preload string) (*linux.Process, string) {
	t.Helper()
	var out bytes.Buffer
	c := linux.Config{Path: path, Args: []string{"program", "20"}, Stdout: &out, Stderr: &out, Limit: 50_000_000}
	if preload != "" {
		c.Env = []string{"LD_PRELOAD=" + preload}
	}
	p, err := linux.New(c)
	if err != nil {
		t.Fatal(err)
	}
	p.Run()
	return p, out.String()
}

func dynamic(t *testing.T) bool {
	t.Helper()
	if _, err := os.Stat("/lib64/ld-linux-x86-64.so.2"); err != nil {
		t.Log("nothing was run: this machine has no dynamic linker for x86-64")
		return false
	}
	return true
}

// write writes the shared object and the copy of a patch.
func write(t *testing.T, p *Patch) (object, copied string) {
	t.Helper()
	dir := t.TempDir()
	so, err := p.SharedObject()
	if err != nil {
		t.Fatal(err)
	}
	object, copied = filepath.Join(dir, "fix.so"), filepath.Join(dir, "copy")
	if err := os.WriteFile(object, so, 0o755); err != nil {
		t.Fatal(err)
	}
	if p.Traps() > 0 {
		return object, ""
	}
	b, err := p.Copy()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(copied, b, 0o755); err != nil {
		t.Fatal(err)
	}
	return object, copied
}

var toctou = []Section{{[]uint64{0x888, 0x88e}, []uint64{0x888}}, {[]uint64{0x85c}, []uint64{0x85c}}}

func TestAProgramIsPatchedAndAnyOtherIsNot(t *testing.T) {
	if !dynamic(t) {
		return
	}
	data, image := program(t, "toctou.O2")
	p, err := New(data, image, toctou, nil, "toctou.O2", false)
	if err != nil {
		t.Fatal(err)
	}
	if p.Entries() != 2 || p.Traps() != 0 || p.Size() > 2048 {
		t.Errorf("%d entries, %d traps, %d bytes", p.Entries(), p.Traps(), p.Size())
	}
	object, copied := write(t, p)
	for _, c := range []struct {
		path, preload string
		patched       bool
	}{{examples + "toctou.O2", object, true}, {copied, "", true}, {examples + "toctou.O0", object, false}, {examples + "toctou.O2", "", false}} {
		process, out := run(t, c.path, c.preload)
		if e := process.Exit(); e.Reason != linux.Exited || e.Code != 0 || out != "" {
			t.Errorf("%s with %q: %+v %s", c.path, c.preload, e, out)
		}
		at := process.Program().Base + p.Entry()
		raw := make([]byte, 5)
		process.Mem.ReadAt(raw, at)
		if got := p.Timeouts(at, raw) != 0; got != c.patched {
			t.Errorf("%s with %q: patched is %v", c.path, c.preload, got)
		}
	}
}

// TestMuslsProgramsArePatched: its dynamic linker calls initialisers without arguments.
func TestMuslsProgramsArePatched(t *testing.T) {
	if _, err := os.Stat("/lib/ld-musl-x86_64.so.1"); err != nil {
		t.Log("nothing was run: this machine has no dynamic linker of musl")
		return
	}
	const path = "testdata/empty.musl"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	image, err := lifting.NewImage("empty.musl", data, 0)
	if err != nil {
		t.Fatal(err)
	}
	f, err := readFile(data)
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(data, image, []Section{{[]uint64{f.elf.Entry}, []uint64{f.elf.Entry}}}, nil, "empty.musl", false)
	if err != nil {
		t.Fatal(err)
	}
	so, err := p.SharedObject()
	if err != nil {
		t.Fatal(err)
	}
	object := filepath.Join(t.TempDir(), "fix.so")
	if err := os.WriteFile(object, so, 0o755); err != nil {
		t.Fatal(err)
	}
	process, out := run(t, path, object)
	at, raw := process.Program().Base+p.Entry(), make([]byte, 5)
	process.Mem.ReadAt(raw, at)
	if e := process.Exit(); e.Reason != linux.Exited || e.Code != 0 || out != "" || p.Timeouts(at, raw) == 0 {
		t.Errorf("%+v %s; at its entry are %x", e, out, raw)
	}
}

// TestAStaticProgramIsCopied: one without headers that could be spared.
func TestAStaticProgramIsCopied(t *testing.T) {
	const path = "../repair/binfix/testdata/logout.static"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	image, err := lifting.NewImage("logout.static", data, 0)
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(data, image, []Section{{[]uint64{0x4011a4, 0x4011ab, 0x4011ae, 0x4011b0, 0x4011b5}, []uint64{0x4011a4}}}, nil, "logout", false)
	if err != nil {
		t.Fatal(err)
	}
	if p.file.spareHeaders() != nil {
		t.Error("it has headers to spare")
	}
	_, copied := write(t, p)
	process, out := run(t, copied, "")
	if e := process.Exit(); e.Reason != linux.Exited || e.Code != 0 || out != "" {
		t.Errorf("%+v %s", e, out)
	}
	raw := make([]byte, 5)
	process.Mem.ReadAt(raw, p.Entry())
	if p.Timeouts(p.Entry(), raw) == 0 {
		t.Error("the copy is not patched")
	}
	// What stands behind the headers is not overwritten.
	end := binary.LittleEndian.Uint64(data[32:]) + uint64(len(p.file.headers))
	used := bytes.Clone(data)
	used[end+100] = 1
	if p.file.grownHeaders(used) != nil {
		t.Error("the table grew over something")
	}
}

// TestAThreadThatHoldsTheLockForEverIsNotWaitedFor: a section that waits for another thread
// which is at a section itself goes on after a second, and says so.
func TestAThreadThatHoldsTheLockForEverIsNotWaitedFor(t *testing.T) {
	if !dynamic(t) {
		return
	}
	// The barrier of glibc.c is waited for by both threads, each in the section.
	data, image := program(t, "glibc.O2")
	p, err := New(data, image, []Section{{[]uint64{0x913}, []uint64{0x913}}}, nil, "glibc.O2", false)
	if err != nil {
		t.Fatal(err)
	}
	object, _ := write(t, p)
	process, out := run(t, examples+"glibc.O2", object)
	if process.Exit().Reason == linux.Deadlock || !strings.Contains(out, "glibc.O2: a thread waited one second for a section that was added, and goes on without it\n") {
		t.Errorf("%+v: %s", process.Exit(), out)
	}
}

// TestRandomSectionsChangeNothing: whatever instructions are put under the lock, a program
// does what it does without.
func TestRandomSectionsChangeNothing(t *testing.T) {
	if !dynamic(t) {
		return
	}
	rng := rand.New(rand.NewPCG(14, 14))
	traps, entries := 0, 0
	for _, name := range []string{"toctou.O2", "privatize.O0", "thunderbird.O2", "glibc.O0"} {
		data, image := program(t, name)
		starts := instructions(image)
		for range 8 {
			sections := randomSections(rng, image, starts)
			p, err := New(data, image, sections, nil, name, false)
			if err != nil {
				t.Fatalf("%s: %#x: %v", name, sections, err)
			}
			entries, traps = entries+p.Entries(), traps+p.Traps()
			object, copied := write(t, p)
			process, out := run(t, examples+name, object)
			if e := process.Exit(); e.Reason != linux.Exited || e.Code != 0 || out != "" {
				t.Errorf("%s: %#x: %+v %s", name, sections, e, out)
			}
			if copied == "" {
				continue
			}
			process, out = run(t, copied, "")
			if e := process.Exit(); e.Reason != linux.Exited || e.Code != 0 || out != "" {
				t.Errorf("copy of %s: %#x: %+v %s", name, sections, e, out)
			}
		}
	}
	if traps == 0 || traps*2 > entries {
		t.Errorf("%d of %d entries are breakpoints", traps, entries)
	}
}

// instructions are those of the functions of an example, each as far as it goes straight.
func instructions(image *lifting.Image) []uint64 {
	var all []uint64
	for _, start := range image.Functions() {
		for pc := start; ; {
			var in x86.Inst
			if !image.Decode(pc, &in) || pc != start && slices.Contains(image.Functions(), pc) {
				break
			}
			if in.Op != x86.NOP && in.Op != x86.ENDBR64 {
				all = append(all, pc)
			}
			if in.Op == x86.RET || in.Op == x86.HLT {
				break
			}
			pc += uint64(in.Len)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// randomSections are some runs of instructions without calls, which could wait.
func randomSections(rng *rand.Rand, image *lifting.Image, starts []uint64) []Section {
	var all []Section
	for range 1 + rng.IntN(4) {
		i := rng.IntN(len(starts))
		var s Section
		for _, pc := range starts[i:min(len(starts), i+1+rng.IntN(6))] {
			var in x86.Inst
			if image.Decode(pc, &in); in.Op == x86.CALL {
				break
			}
			s.Instructions = append(s.Instructions, pc)
		}
		if len(s.Instructions) > 0 {
			s.Entries = s.Instructions[:1:1]
			if rng.IntN(4) == 0 {
				s.Entries = append(s.Entries, s.Instructions[rng.IntN(len(s.Instructions))])
				slices.Sort(s.Entries)
				s.Entries = slices.Compact(s.Entries)
			}
			all = append(all, s)
		}
	}
	if len(all) == 0 {
		return randomSections(rng, image, starts)
	}
	return all
}
