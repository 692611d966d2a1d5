package draw

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

// condition says a predicate that holds, or does not.
func (w *phrasing) condition(c conditionOnWay) string {
	e, holds := c.predicate, c.holds
	for e.Op == ir.OpNot {
		e, holds = e.Args[0], !holds
	}
	either := func(yes, no string) string {
		if holds {
			return yes
		}
		return no
	}
	switch e.Op {
	case ir.OpBadAddress:
		if w.names.Frees {
			return w.value(e.Args[0]) + either(" points to no memory that is in use", " points to memory that is in use")
		}
		return w.value(e.Args[0]) + either(" is nil", " is not nil")
	case ir.OpRaced:
		return "another " + w.names.actor() + " changed " + w.dataIn(e) + " meanwhile"
	case ir.OpEq, ir.OpNe:
		holds = holds == (e.Op == ir.OpEq)
		if e.Args[1].Op == ir.OpConst && e.Args[1].Size == 8 && e.Args[1].Value.Uint() == 0 {
			return w.value(e.Args[0]) + either(" is 0 or nil", " is neither 0 nor nil")
		}
		x, y := w.pair(w.later(e.Args[0], e.Args[1]))
		return x + either(" equals ", " differs from ") + y
	case ir.OpSameText:
		x, y := w.pair(w.later(e.Args[0], e.Args[1]))
		return x + either(" equals ", " differs from ") + y
	case ir.OpLt:
		x, y := w.pair(e.Args[0], e.Args[1])
		return x + either(" is less than ", " is not less than ") + y
	case ir.OpLe:
		x, y := w.pair(e.Args[0], e.Args[1])
		return x + either(" is at most ", " is more than ") + y
	case ir.OpExtract:
		if part := w.partOf(e); part.Kind == ir.PartPresence && part.Name != "" {
			return part.Name + either(" has the key", " does not have the key")
		}
	}
	return w.value(e) + either(" is true", " is false")
}

// dataIn lists the data that an expression was computed from, each once.
func (w *phrasing) dataIn(e *ir.Expr) string {
	const most = 4
	var all []string
	for _, l := range e.Loads() {
		if data := dataOf(l.Label.Instr); !slices.Contains(all, data) {
			all = append(all, data)
		}
	}
	if len(all) > most {
		all = append(all[:most], "other data")
	}
	return strings.Join(all, " or ")
}

// value says what an expression is: itself, if that can be said in few words, or else what it is
// computed from.
func (w *phrasing) value(e *ir.Expr) string {
	if text, ok := w.simple(e); ok {
		return text
	}
	if e.HasLoads() {
		return "what is computed from " + strings.ReplaceAll(w.dataIn(e), " or ", " and ")
	}
	return "a value of the " + w.names.actor() + "'s own"
}

// simple says an expression in few words, if that can be done.
func (w *phrasing) simple(e *ir.Expr) (string, bool) {
	const most = 4 // operators in a row that can be read
	return w.upTo(e, most)
}

// upTo is simple for expressions with at most so many operators.
func (w *phrasing) upTo(e *ir.Expr, operators int) (string, bool) {
	switch e.Op {
	case ir.OpLoad:
		return w.name(e), true
	case ir.OpConst:
		return constant(e.Value)
	case ir.OpRegister:
		return variable(e)
	case ir.OpExtract:
		return w.part(e)
	case ir.OpConcat:
		return w.text(e)
	case ir.OpConvert:
		return w.upTo(e.Args[0], operators)
	case ir.OpNeg:
		x, ok := w.upTo(e.Args[0], operators-1)
		return "-" + x, ok && operators > 0
	case ir.OpAdd, ir.OpSub, ir.OpMul, ir.OpDiv, ir.OpRem, ir.OpAnd, ir.OpOr, ir.OpXor, ir.OpAndNot, ir.OpShl, ir.OpShr:
		x, ok := w.operand(e.Args[0], operators-1)
		y, too := w.operand(e.Args[1], operators-1)
		return x + " " + e.Op.Symbol() + " " + y, ok && too && operators > 0
	case ir.OpEq, ir.OpNe, ir.OpLt, ir.OpLe, ir.OpNot, ir.OpSameText, ir.OpBadAddress:
		if operators == 0 {
			return "", false
		}
		return "whether " + w.condition(conditionOnWay{e, true}), true
	}
	return "", false // no operation that the source has a word for
}

// operand is upTo for what stands beside an operator.
func (w *phrasing) operand(e *ir.Expr, operators int) (string, bool) {
	text, ok := w.upTo(e, operators)
	if len(e.Args) == 2 && ir.OpAdd <= e.Op && e.Op <= ir.OpLe {
		text = "(" + text + ")"
	}
	return text, ok
}

// part says what some bytes of a reading are.
func (w *phrasing) part(e *ir.Expr) (string, bool) {
	part := w.partOf(e)
	if part.Kind == ir.PartUnnamed {
		return "", false
	}
	name := w.name(e.Args[0])
	switch part.Kind {
	case ir.PartWhole:
		return name, true
	case ir.PartField:
		return name + part.Name, true
	case ir.PartLength:
		return "the length of " + name + part.Name, true
	case ir.PartPresence:
		return "whether " + part.Name + " has the key", part.Name != ""
	}
	return "", false
}

// partOf is what the front end says of some bytes of a load.
func (w *phrasing) partOf(e *ir.Expr) ir.Part {
	if e.Args[0].Op != ir.OpLoad || w.names.Part == nil {
		return ir.Part{}
	}
	return w.names.Part(e.Args[0].Label.Instr, e.Offset, e.Size)
}

// text says a constant text: an address and a length.
func (w *phrasing) text(e *ir.Expr) (string, bool) {
	if len(e.Args) != 2 || e.Args[0].Op != ir.OpSymbol || e.Args[1].Op != ir.OpConst || w.names.Text == nil {
		return "", false
	}
	text, ok := w.names.Text(e.Args[0].Name)
	if n := e.Args[1].Value.Uint(); ok && n < uint64(len(text)) {
		text = text[:n]
	}
	return strconv.Quote(text), ok
}

// constant says a constant: a number, or an empty text.
func constant(v ir.Value) (string, bool) {
	const word, text = 8, 16
	switch {
	case !v.Known:
		return "", false
	case v.Size <= word:
		return strconv.FormatInt(v.Int(), 10), true
	case v.Size == text && bytes.Equal(v.Append(nil), make([]byte, text)):
		return `""`, true
	}
	return "", false
}

// temporary is what go/ssa calls values that the source has no name for.
var temporary = regexp.MustCompile(`^[tr]?\d+$`)

// variable is a register that the source has a name for.
func variable(e *ir.Expr) (string, bool) {
	if e.Context == nil || int(e.Reg) >= len(e.Context.Func.RegNames) {
		return "", false
	}
	name := e.Context.Func.RegNames[e.Reg]
	return name, name != "" && !temporary.MatchString(name)
}
