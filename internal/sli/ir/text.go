package ir

import (
	"fmt"
	"strings"
)

// String is the function as text, one instruction on a line.
func (f *Func) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "func %s(", f.Name)
	for i, r := range f.Params {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(f.text(r))
	}
	b.WriteByte(')')
	if len(f.Captured) > 0 {
		b.WriteString(" captures")
		for _, r := range f.Captured {
			b.WriteString(" " + f.text(r))
		}
	}
	b.WriteByte('\n')
	for _, bl := range f.Blocks {
		fmt.Fprintf(&b, "b%d:\n", bl.Index)
		for _, in := range bl.Instrs {
			fmt.Fprintf(&b, "\t%s\n", in)
		}
	}
	return b.String()
}

func (f *Func) text(r Reg) string { return fmt.Sprintf("r%d:%d", r, f.RegSizes[r]) }

func (in *Instr) String() string {
	var b strings.Builder
	if in.Dst != 0 {
		fmt.Fprintf(&b, "%s = ", in.Block.Func.text(in.Dst))
	}
	if in.Atomic {
		b.WriteString("atomic ")
	}
	if in.Private {
		b.WriteString("private ")
	}
	if in.Op != Assign {
		b.WriteString(in.Op.String() + " ")
	}
	if in.Sync != SyncNone {
		b.WriteString(in.Sync.String())
	}
	b.WriteString(in.Extern)
	if in.Cause != 0 {
		fmt.Fprintf(&b, "%q if ", in.Cause)
	}
	if in.Operand != nil {
		b.WriteString(in.Operand.String())
	}
	if in.Key != nil {
		fmt.Fprintf(&b, "[%s]", in.Key)
	}
	if in.Writes() && in.Value != nil {
		fmt.Fprintf(&b, " := %s", in.Value)
	}
	switch {
	case in.Callee != nil:
		b.WriteString(in.Callee.Name)
	case in.Target != nil:
		b.WriteString(in.Target.String())
	}
	if in.Method != "" {
		b.WriteString("." + in.Method)
	}
	if len(in.Args) > 0 || in.Op == Call {
		b.WriteByte('(')
		for i, a := range in.Args {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(a.String())
		}
		b.WriteByte(')')
	}
	text := strings.TrimRight(b.String(), " ")
	if in.EndsBlock() {
		for _, s := range in.Block.Succs {
			text += fmt.Sprintf(" b%d", s.Index)
		}
	}
	return text
}

// String is the expression in infix notation.
func (e *Expr) String() string {
	arg := func(i int) string {
		s := e.Args[i].String()
		if len(e.Args[i].Args) > 1 && operators[e.Args[i].Op] != "" {
			return "(" + s + ")"
		}
		return s
	}
	list := func() string {
		var s []string
		for _, a := range e.Args {
			s = append(s, a.String())
		}
		return strings.Join(s, ", ")
	}
	switch e.Op {
	case OpConst:
		return e.Value.String()
	case OpRegister:
		if e.Context != nil && e.Context.Func.regName(e.Reg) != "" {
			return e.Context.Func.regName(e.Reg)
		}
		return fmt.Sprintf("r%d", e.Reg)
	case OpLoad:
		if len(e.Args) > 1 {
			return fmt.Sprintf("load(%s[%s]@%s)", e.Args[0], e.Args[1], e.Label)
		}
		return fmt.Sprintf("load(%s@%s)", e.Args[0], e.Label)
	case OpSymbol:
		return e.Name
	case OpOpaque:
		return "<" + e.Name + ">"
	case OpExtract:
		return fmt.Sprintf("%s[%d:%d]", arg(0), e.Offset, e.Offset+e.Size)
	case OpConcat:
		return "{" + list() + "}"
	case OpConvert:
		return fmt.Sprintf("%s%d(%s)", [...]string{"u", "i", "f"}[e.ResultClass], 8*e.Size, e.Args[0])
	case OpBadAddress:
		return "BadAddr(" + list() + ")"
	case OpSelect:
		return arg(0) + " ? " + arg(1) + " : " + arg(2)
	case OpTrailingZeros, OpLeadingZeros, OpOnesCount, OpSquareRoot:
		return functions[e.Op] + "(" + list() + ")"
	case OpRaced:
		return "Raced(" + list() + ")"
	case OpClosure:
		return "func " + e.Name + "{" + list() + "}"
	case OpCaptured:
		return fmt.Sprintf("%s.captured%d", arg(0), e.Offset)
	case OpNeg, OpInvert, OpNot:
		return operators[e.Op] + arg(0)
	}
	return arg(0) + " " + operators[e.Op] + " " + arg(1)
}
