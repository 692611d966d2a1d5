//go:build linux && amd64

package interrupt

import (
	"reflect"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/x86"
)

// readers are operations that only read what their first operand says.
var readers = map[x86.Op]bool{
	x86.CMP: true, x86.TEST: true, x86.BT: true, x86.LEA: true, x86.NOP: true, x86.MUL: true, x86.IMUL: true, x86.DIV: true, x86.IDIV: true,
	x86.UCOMISD: true, x86.COMISD: true, x86.PREFETCH: true, x86.JMP: true, x86.CALL: true, x86.PUSH: true,
}

// TestInstructionsAreDecoded compares with another decoder, on all code of this program: nothing has
// another length, and nothing that writes memory is taken for something that does not.
func TestInstructionsAreDecoded(t *testing.T) {
	if !Supported() {
		t.Fatal("not supported")
	}
	known, all := 0, 0
	f, entry := describe(reflect.ValueOf(plain).Pointer())
	functions(header(), f, entry, func(f *funcData, entry, end uintptr) {
		if !f.isGo() || t.Failed() {
			return
		}
		for code := codeOf(entry, end); len(code) > 0; {
			var other x86.Inst
			if x86.Decode(code, &other) != nil {
				break
			}
			all++
			if in, ok := decode(code); ok {
				known++
				a := other.Args[0]
				stores := a.Place == x86.Memory && !readers[other.Op] || other.Op == x86.XCHG && other.Args[1].Place == x86.Memory
				jumps := (other.Op == x86.JMP || other.Op == x86.JCC) && other.Args[0].Place == x86.Relative
				if in.length != int(other.Len) || stores && in.stores == 0 || in.jumps != (jumps && !in.leaves) || in.jumps && in.target != int(other.Imm) || other.EndsBlock() && !jumps != in.leaves {
					t.Errorf("%s: % x: %v is %+v", nameOf(header(), f), code[:other.Len], other, in)
				}
			}
			code = code[other.Len:]
		}
	})
	if known < all*99/100 || known == 0 {
		t.Errorf("of %d instructions %d are known", all, known)
	}
	t.Logf("of %d instructions %d are known", all, known)
}
