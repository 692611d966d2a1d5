package x86

import (
	"debug/elf"
	"os"
	"strings"
	"testing"

	"golang.org/x/arch/x86/x86asm"
)

// otherNames are operations that the judge calls by another name.
var otherNames = map[string]string{
	"cwde": "", "cdq": "", "movs": "", "stos": "", "cmps": "", "lods": "", "scas": "", "nop": "", "movd": "", "movq": "",
	"int1": "icebp", "movsd": "movsd_xmm", "cmpsd": "cmpsd_xmm", "fwait": "", "int3": "", "xchg": "", "pushf": "", "popf": "", "xlat": "", "prefetch": "",
	"call": "", "fld": "", "fstp": "", "fcom": "", "fcomp": "", "movsb": "", "stosb": "", "cmpsb": "", "scasb": "", "lodsb": "",
	"fxsave": "", "fxrstor": "", "jrcxz": "", "xsave": "", "xrstor": "", "xsaveopt": "", "rdtscp": "", "jmp": "", "ret": "",
}

// TestRealCodeIsDecodedAsTheJudgeDoes decodes the code of what is installed with two
// decoders that share nothing. Only known faults of the judge are let pass.
func TestRealCodeIsDecodedAsTheJudgeDoes(t *testing.T) {
	total := 0
	for _, path := range []string{"/bin/sh", "/bin/sed", "/lib/x86_64-linux-gnu/libc.so.6", "/usr/bin/perl", "../../examples/binary/bin/publish.O2"} {
		f, err := elf.Open(path)
		if os.IsNotExist(err) {
			t.Logf("%s is not here", path)
			continue
		}
		if err != nil || f.Machine != elf.EM_X86_64 {
			t.Logf("%s is no program of this kind: %v", path, err)
			continue
		}
		defer f.Close()
		text := f.Section(".text")
		code, err := text.Data()
		if err != nil {
			t.Fatal(err)
		}
		if testing.Short() {
			code = code[:min(len(code), 1<<17)]
		}
		total += judge(t, path, text.Addr, code)
	}
	t.Logf("%d instructions", total)
}

func judge(t *testing.T, path string, base uint64, code []byte) (compared int) {
	var in Inst
	bad := 0
	for pos := 0; pos < len(code); {
		err := Decode(code[pos:], &in)
		theirs, theirErr := x86asm.Decode(code[pos:], 64)
		if err != nil {
			// AVX code, or a table amid the code: where the next instruction begins is
			// not known to either. Code is aligned to 16 bytes after both.
			pos = (pos + 16) &^ 15
			continue
		}
		if theirErr == nil && theirs.Len > 0 && theirs.Op != 0 {
			compared++
			if what := differs(&in, &theirs, base+uint64(pos)); what != "" {
				t.Errorf("%s %#x % x: %s: ours %s (%d), the judge's %s (%d)", path, base+uint64(pos), code[pos:pos+int(in.Len)], what,
					in.Text(base+uint64(pos), nil), in.Len, x86asm.IntelSyntax(theirs, base+uint64(pos), nil), theirs.Len)
				if bad++; bad > 20 {
					t.Fatal("and so on")
				}
			}
		}
		pos += int(in.Len)
	}
	return compared
}

// differs says in what two decodings differ, "" if in nothing that matters.
func differs(in *Inst, theirs *x86asm.Inst, pc uint64) string {
	if int(in.Len) != theirs.Len {
		return "length"
	}
	name := in.mnemonic()
	if other, ok := otherNames[in.Op.String()]; ok {
		name = other
	}
	if name != "" && name != strings.ToLower(theirs.Op.String()) {
		return "operation"
	}
	for _, a := range theirs.Args {
		m, ok := a.(x86asm.Mem)
		if !ok || !hasMemory(in) {
			continue
		}
		// The judge does not sign extend some displacements.
		if int32(m.Disp) != int32(in.Mem.Disp) {
			return "displacement"
		}
		if m.Scale != 0 && m.Index != 0 && m.Scale != in.Mem.Scale {
			return "scale"
		}
		if m.Base != 0 && in.Mem.Base != RIP && !in.Mem.Narrow && int(m.Base-x86asm.RAX) != int(in.Mem.Base) {
			return "base"
		}
		if m.Index != 0 && !in.Mem.Narrow && int(m.Index-x86asm.RAX) != int(in.Mem.Index) {
			return "index"
		}
	}
	if imm, ok := theirs.Args[1].(x86asm.Imm); ok && in.Op != ENTER && in.Args[1].Place == Immediate && in.Size == 8 && int64(imm) != in.Imm {
		return "immediate"
	}
	return ""
}

func hasMemory(in *Inst) bool {
	_, ok := in.HasMemory()
	return ok
}
