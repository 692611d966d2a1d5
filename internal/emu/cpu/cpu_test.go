package cpu

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/emu/mem"
	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/x86"
)

const (
	codeAt = 0x10000
	dataAt = 0x20000
)

// program returns a processor at the beginning of code.
func program(t *testing.T, code string) *CPU {
	t.Helper()
	raw, err := hex.DecodeString(strings.ReplaceAll(code, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	m := mem.NewSpace()
	m.Map(mem.Area{Start: codeAt, End: codeAt + 0x1000, Prot: mem.Read | mem.Exec})
	m.Map(mem.Area{Start: dataAt, End: dataAt + 0x2000, Prot: mem.Read | mem.Write})
	m.Poke(raw, codeAt)
	c := New(m, NewCode())
	c.PC = codeAt
	c.R[x86.RSP] = dataAt + 0x1000
	c.R[x86.RDI] = dataAt
	return c
}

func TestALoopRunsToItsBreakpoint(t *testing.T) {
	// xor eax,eax; mov ecx,10; loop: add rax,rcx; dec ecx; jne loop; int3
	c := program(t, "31c0 b90a000000 4801c8 ffc9 75f9 cc")
	if trap := c.Run(1000); trap.Kind != Breakpoint {
		t.Fatalf("%+v", trap)
	}
	if c.R[x86.RAX] != 55 || c.Count != 33 {
		t.Errorf("rax is %d after %d instructions", c.R[x86.RAX], c.Count)
	}
}

func TestAFaultLeavesEverythingAsItWas(t *testing.T) {
	for name, code := range map[string]string{
		"a load":                       "488b042508000000",
		"an addition to memory":        "48010425 00000100", // to code, which is not written
		"a push":                       "bc08000000 50",
		"a call":                       "bc08000000 e800000000",
		"an exchange":                  "48870425 00000100",
		"a comparison and exchange":    "f0480fb10425 00000100",
		"an increment":                 "48ff0425 00000100",
		"a store of a vector":          "0f110425 00000100",
		"a vector that is not aligned": "0f288701000000",
		"a division by zero":           "31db f7f3",
		"ud2":                          "0f0b",
		"hlt":                          "f4",
	} {
		c := program(t, "48c7c0efcd0000 f9 90 "+code)
		prefix := 0
		if strings.HasPrefix(code, "bc") {
			prefix = 5
		} else if strings.HasPrefix(code, "31db") {
			prefix = 2
		}
		trap := c.Run(100)
		if trap.Kind == Limit || trap.Kind == Breakpoint {
			t.Errorf("%s: %+v", name, trap)
		}
		if c.PC != uint64(codeAt+9+prefix) || c.R[x86.RAX] != 0xcdef || prefix != 2 && c.Flags()&CF == 0 {
			t.Errorf("%s: at %#x, rax %#x, flags %#x", name, c.PC, c.R[x86.RAX], c.Flags())
		}
	}
}

func TestWhatIsMissingIsNamed(t *testing.T) {
	for code, want := range map[string]string{
		"c5f877":            "AVX",        // vzeroupper
		"660f3800c1":        "66 0f 38",   // pshufb
		"0fc7f0":            "rdrand eax", // not in CPUID
		"0fae1425 00000200": "",           // ldmxcsr, which is there
		"d9fe":              "fsin",
	} {
		c := program(t, code)
		c.Mem.Store32(dataAt, 0x1f80)
		trap := c.Run(1)
		if want != "" && (trap.Kind != Missing || !strings.Contains(trap.Text, want)) {
			t.Errorf("%s: %+v, want it to name %s", code, trap, want)
		}
	}
	c := program(t, "0fae1425 00000200")
	c.Mem.Store32(dataAt, 0x7f80)
	if trap := c.Run(1); trap.Kind != Missing || !strings.Contains(trap.Text, "MXCSR") {
		t.Errorf("another rounding mode: %+v", trap)
	}
}

func TestAdvanceStopsBeforeWhatIsVisible(t *testing.T) {
	// mov eax,[rdi]; push rax; lock add [rdi+8],eax; mov [rdi+16],eax; rep movsb; int3
	c := program(t, "8b07 50 f0014708 894710 f3a4 cc")
	c.R[x86.RSI], c.R[x86.RCX] = dataAt+0x100, 3
	var got []Ref
	var ref Ref
	all := func(*Ref) bool { return true }
	trap := Trap{Kind: Visible}
	for trap.Kind == Visible {
		trap = c.Advance(100, &ref, all, true)
		if trap.Kind == Visible {
			got = append(got, ref)
		}
	}
	want := []Ref{
		{Addr: dataAt + 8, Size: 4, Kind: event.AtomicUpdate},
		{Addr: dataAt + 16, Size: 4, Kind: event.Store},
		{Addr: dataAt + 0x100, Size: 3, Kind: event.Load},
	}
	if len(got) != len(want) || trap.Kind != Breakpoint {
		t.Fatalf("%+v, %+v", got, trap)
	}
	for i := range want {
		want[i].Site = got[i].Site
		if got[i] != want[i] {
			t.Errorf("%+v, want %+v", got[i], want[i])
		}
	}
	if site := c.Code.Sites()[got[0].Site]; site.PC != codeAt+3 || site.Inst.Op != x86.ADD {
		t.Errorf("the site is %+v", site)
	}
}

func TestRecordingTellsEveryAccess(t *testing.T) {
	// mov eax,[rdi]; add [rdi],eax; lock xadd [rdi],eax; lock cmpxchg [rdi],ecx; call next; next: ret -> fault
	c := program(t, "8b07 0107 f00fc107 f00fb10f e800000000 58 cc")
	c.Mem.Store32(dataAt, 5)
	c.Record(true)
	if trap := c.Advance(100, nil, nil, false); trap.Kind != Breakpoint {
		t.Fatalf("%+v", trap)
	}
	var kinds []event.Kind
	for _, a := range c.Recorded() {
		kinds = append(kinds, a.Kind)
	}
	want := []event.Kind{event.Load, event.Load, event.Store, event.AtomicUpdate, event.AtomicCompare, event.Store, event.Call, event.Load}
	if len(kinds) != len(want) {
		t.Fatalf("%v, want %v", kinds, want)
	}
	for i := range want {
		if kinds[i] != want[i] {
			t.Errorf("%v, want %v", kinds, want)
			break
		}
	}
	c.Record(false)
	if c.Recording() || len(c.Recorded()) != 0 {
		t.Error("it is recorded still")
	}
}

func TestTheOldFloatingPointUnit(t *testing.T) {
	for name, c := range map[string]struct {
		code string
		want uint64 // as a number of 8 bytes at dataAt+64
	}{
		"1+pi":                  {"d9e8 d9eb dec1 dd5f40", 0x401090fdaa22168c},
		"sqrt(2)":               {"d9e8 d9e8 dec1 d9fa dd5f40", 0x3ff6a09e667f3bcd},
		"2/pi":                  {"d9e8 d9e8 dec1 d9eb def9 dd5f40", 0x3fe45f306dc9c883},
		"3-1 by memory":         {"db07 d8 67 04 dd5f40", 0x4000000000000000},
		"round to even":         {"dd4708 df7f40", 2},
		"truncate":              {"dd4710 dd4f40", ^uint64(2 - 1)},
		"long double and back":  {"dd4708 db7f20 db6f20 dd5f40", 0x4004000000000000},
		"compare into flags":    {"d9e8 d9eb dbf1 0f97c0 48894740", 1},
		"status word":           {"d9e8 d9e4 dfe0 2500450000 48894740", 0},
		"negative and absolute": {"d9e8 d9e0 d9e1 d9e0 dd5f40", 0xbff0000000000000},
		"scale":                 {"d9e8 d9e8 dec1 d9e8 d9fd dd5f40", 0x4010000000000000},
		"remainder":             {"dd4708 d9eb d9f8 dd5f40", 0x3fe487ed5110b461},
	} {
		p := program(t, c.code+" cc")
		p.Mem.Store32(dataAt, 3)
		p.Mem.Store32(dataAt+4, 0x3f800000)
		p.Mem.Store64(dataAt+8, 0x4004000000000000)  // 2.5
		p.Mem.Store64(dataAt+16, 0xc004000000000000) // -2.5
		if trap := p.Run(100); trap.Kind != Breakpoint {
			t.Errorf("%s: %+v", name, trap)
		}
		if got := p.Mem.Load64(dataAt + 64); got != c.want {
			t.Errorf("%s: %#x, want %#x", name, got, c.want)
		}
	}
}

func TestCodeThatIsOverwrittenIsDecodedAgain(t *testing.T) {
	c := program(t, "b801000000 cc")
	c.Run(10)
	c.Mem.Poke([]byte{0xb8, 2}, codeAt)
	c.PC = codeAt
	if c.Run(10); c.R[x86.RAX] != 2 {
		t.Errorf("rax is %d", c.R[x86.RAX])
	}
}

// TestALibraryHasWhatTheFileHas: code of a file is decoded once for several address spaces, but
// not where one of them has changed it, or has another file there.
func TestALibraryHasWhatTheFileHas(t *testing.T) {
	raw := func(n byte) []byte { return append([]byte{0xb8, n, 0, 0, 0, 0xcc}, make([]byte, 4096)...) } // mov eax, n; int3
	file, other := mem.NewFile("one", raw(1)), mem.NewFile("other", raw(7))
	library := NewLibrary()
	execute := func(file *mem.File, change func(*mem.Space)) (*CPU, uint64) {
		m := mem.NewSpace()
		m.Map(mem.Area{Start: codeAt, End: codeAt + 0x1000, Prot: mem.Read | mem.Write | mem.Exec, File: file})
		change(m)
		c := New(m, NewCode())
		c.Code.Share(library)
		c.PC = codeAt
		c.Run(10)
		return c, c.R[x86.RAX]
	}
	same := func(*mem.Space) {}
	if _, got := execute(file, same); got != 1 || len(library.blocks) != 1 {
		t.Errorf("%d, with %d blocks in the library", got, len(library.blocks))
	}
	for key := range library.blocks {
		library.blocks[key].ops[0].imm = 5 // to tell that it is used
	}
	c, got := execute(file, same)
	if got != 5 {
		t.Errorf("the library has 5 there, and %d was executed", got)
	}
	c.Mem.Store8(codeAt+1, 3)
	c.PC = codeAt
	if c.Run(10); c.R[x86.RAX] != 3 {
		t.Errorf("code was changed to 3, and %d was executed", c.R[x86.RAX])
	}
	if _, got := execute(file, func(m *mem.Space) { m.Store8(codeAt+1, 4) }); got != 4 {
		t.Errorf("before it was executed code was changed to 4, and %d was executed", got)
	}
	if _, got := execute(other, same); got != 7 {
		t.Errorf("another file has 7 there, and %d was executed", got)
	}
}

func TestNothingIsAllocatedOnceCodeIsDecoded(t *testing.T) {
	// loop: mov rax,[rdi]; add rax,1; mov [rdi],rax; cmp rax,1000; jb loop; jmp start
	c := program(t, "488b07 4883c001 488907 483de8030000 72ee ebec")
	c.Run(100)
	if n := testing.AllocsPerRun(10, func() { c.Run(10_000) }); n > 1 {
		t.Errorf("%v allocations", n)
	}
}

func TestCPUIDOffersWhatIsExecuted(t *testing.T) {
	_, _, ecx, edx := CPUID(1, 0)
	const sse2, sse3, avx, xsave = 1 << 26, 1, 1 << 28, 1 << 26
	if edx&sse2 == 0 || ecx&(sse3|avx|xsave) != 0 {
		t.Errorf("ecx %#x, edx %#x", ecx, edx)
	}
}

func BenchmarkLoop(b *testing.B) {
	m := mem.NewSpace()
	m.Map(mem.Area{Start: codeAt, End: codeAt + 0x1000, Prot: mem.Read | mem.Exec})
	m.Map(mem.Area{Start: dataAt, End: dataAt + 0x1000, Prot: mem.Read | mem.Write})
	raw, _ := hex.DecodeString("488b074883c0014889074839f072f1ebef")
	m.Poke(raw, codeAt)
	c := New(m, NewCode())
	c.PC, c.R[x86.RDI], c.R[x86.RSI] = codeAt, dataAt, 1<<40
	c.Run(uint64(b.N))
}
