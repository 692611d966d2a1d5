package x86

import (
	"encoding/hex"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

func TestInstructionsReadAsTheManualHasThem(t *testing.T) {
	for _, c := range []struct{ code, want string }{
		{"4889e5", "mov rbp, rsp"},
		{"8b45fc", "mov eax, dword ptr [rbp-0x4]"},
		{"488b0511223344", "mov rax, qword ptr [0x44333218]"},
		{"64488b042528000000", "mov rax, qword ptr fs:[0x28]"},
		{"48b88877665544332211", "mov rax, 0x1122334455667788"},
		{"c7450005000000", "mov dword ptr [rbp], 0x5"},
		{"488d84c880ffffff", "lea rax, [rax+rcx*8-0x80]"},
		{"4a8b04e500f0ffff", "mov rax, qword ptr [r12*8-0x1000]"},
		{"83c0ff", "add eax, -0x1"},
		{"b4ff", "mov ah, 0xff"},
		{"40b4ff", "mov spl, 0xff"},
		{"f00fb10a", "lock cmpxchg dword ptr [rdx], ecx"},
		{"f0480fc70f", "lock cmpxchg16b xmmword ptr [rdi]"},
		{"f348ab", "rep stosq"},
		{"f3a4", "rep movsb"},
		{"f2ae", "repne scasb"},
		{"f3a6", "repe cmpsb"},
		{"f30f1efa", "endbr64"},
		{"f3480f1ec8", "rdsspq rax"},
		{"f390", "pause"},
		{"4190", "xchg r8d, eax"},
		{"f34190", ""},
		{"90", "nop"},
		{"6690", "nop"},
		{"660f1f440000", "nop word ptr [rax+rax]"},
		{"4898", "cdqe"},
		{"6698", "cbw"},
		{"4899", "cqo"},
		{"ff25f6ffffff", "jmp qword ptr [0xffc]"},
		{"74fe", "je 0x1000"},
		{"0f84fafdffff", "je 0xe00"},
		{"0f95c0", "setne al"},
		{"480f44c2", "cmove rax, rdx"},
		{"660f6ec0", "movd xmm0, eax"},
		{"66480f6ec0", "movq xmm0, rax"},
		{"f20f2ac7", "cvtsi2sd xmm0, edi"},
		{"f2480f2cc0", "cvttsd2si rax, xmm0"},
		{"660fd7c0", "pmovmskb eax, xmm0"},
		{"660f73d808", "psrldq xmm0, 0x8"},
		{"0f12c1", "movhlps xmm0, xmm1"},
		{"0fae5c2410", "stmxcsr dword ptr [rsp+0x10]"},
		{"480fae442440", "fxsave64 [rsp+0x40]"},
		{"0faee8", "lfence"},
		{"db6c2410", "fld tbyte ptr [rsp+0x10]"},
		{"dec1", "faddp st(1), st(0)"},
		{"dfe9", "fucomip st(0), st(1)"},
		{"f30fb8c0", "popcnt eax, eax"},
		{"68ffffffff", "push -0x1"},
		{"c8100000", "enter 0x10, 0"},
		{"41ffd4", "call r12"},
		{"67488b00", "mov rax, qword ptr [eax]"},
		{"8ec0", "mov es, ax"},
		{"48a11122334455667788", "mov rax, qword ptr [0x8877665544332211]"},
		{"0f05", "syscall"},
		{"66f20f38f0c0", ""},
		{"c5f877", ""},
	} {
		code, err := hex.DecodeString(c.code)
		if err != nil {
			t.Fatal(err)
		}
		var in Inst
		err = Decode(code, &in)
		if c.want == "" {
			if err == nil {
				t.Errorf("%s: %s, want an error", c.code, in.Text(0x1000, nil))
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v, want %s", c.code, err, c.want)
			continue
		}
		got := in.Text(0x1000, nil)
		if got != c.want || int(in.Len) != len(code) {
			t.Errorf("%s: %s of %d bytes, want %s of %d", c.code, got, in.Len, c.want, len(code))
		}
		if err := Decode(code[:len(code)-1], &in); err != ErrTruncated && c.code != "6690" && c.code != "f390" {
			t.Errorf("%s cut off: %v, want %v", c.code, err, ErrTruncated)
		}
	}
}

func TestPlacesAreNamed(t *testing.T) {
	var in Inst
	if err := Decode([]byte{0xe8, 0, 1, 0, 0}, &in); err != nil {
		t.Fatal(err)
	}
	name := func(addr uint64) string {
		if addr == 0x1105 {
			return "malloc"
		}
		return ""
	}
	if got, want := in.Text(0x1000, name), "call malloc"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestOperationsAndTheirNamesAreInTheSameOrder(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "op.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var constants []string
	ast.Inspect(file, func(n ast.Node) bool {
		if d, ok := n.(*ast.GenDecl); ok && d.Tok == token.CONST {
			for _, s := range d.Specs {
				constants = append(constants, s.(*ast.ValueSpec).Names[0].Name)
			}
		}
		return true
	})
	if len(constants) != len(opNames)+1 {
		t.Fatalf("%d constants and %d names", len(constants)-1, len(opNames))
	}
	for i, name := range opNames {
		if strings.ToUpper(name) != constants[i] {
			t.Fatalf("operation %d is %s and named %s", i, constants[i], name)
		}
		if i > 1 && name <= opNames[i-1] {
			t.Errorf("%s comes after %s", name, opNames[i-1])
		}
	}
}

func TestInstructionsWithEventsAreNotable(t *testing.T) {
	for code, want := range map[string]bool{
		"4889e5": false, "8b45fc": true, "488d4500": false, "50": true, "c3": true, "74fe": false, "f3a4": true, "0f05": true, "f7f1": true, "0f1f00": false, "e800000000": true,
	} {
		raw, err := hex.DecodeString(code)
		if err != nil {
			t.Fatal(err)
		}
		var in Inst
		if err := Decode(raw, &in); err != nil || in.Notable() != want {
			t.Errorf("%s: %t, %v", in.Text(0, nil), in.Notable(), err)
		}
	}
}
