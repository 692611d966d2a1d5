package disturbed

import (
	"slices"
	"strings"
)

// A shape is how a section looks at its data twice. FIRST and LAST are the two looks, which set
// a and b; PAUSE has careless code run.
type shape struct {
	name, text string
	writes     bool
	rest       string
	here       bool // rest has the section itself
}

// isSpecial reports whether a shape asks for what few homes have.
func (s shape) isSpecial() bool {
	return slices.ContainsFunc([]string{"SECOND", "ANOTHER", "THROUGH"}, func(word string) bool { return strings.Contains(s.text, word) })
}

// isFor reports whether a home has what a shape asks for.
func (s shape) isFor(h home) bool {
	return !(s.writes && (h.reading || h.read != "")) && (h.second != "" || !strings.Contains(s.text, "SECOND")) && (h.another != "" || !strings.Contains(s.text, "ANOTHER") && !strings.Contains(s.text, "THROUGH"))
}

var shapes = []shape{
	{name: "plain", text: "\tLOCK()\nENTERS\ta := DATA\n\tpause()\n\tb := DATA\n\tUNLOCK()\n\treturn DIFFER\n"},
	{name: "deferred", text: "\tLOCK()\n\tdefer UNLOCK()\nENTERS\ta := DATA\n\tpause()\n\tb := DATA\n\treturn DIFFER\n"},
	{name: "written", writes: true, text: "\tLOCK()\nENTERS\tDATA = CAREFUL\n\tpause()\n\tvar a KIND = CAREFUL\n\tb := DATA\n\tUNLOCK()\n\treturn DIFFER\n"},
	{name: "written, deferred", writes: true, text: "\tLOCK()\n\tdefer UNLOCK()\nENTERS\tDATA = CAREFUL\n\tpause()\n\tvar a KIND = CAREFUL\n\tb := DATA\n\treturn DIFFER\n"},
	{name: "conditional", text: "\tvar a, b KIND\n\tLOCK()\nENTERS\tif a = DATA; always {\n\t\tpause()\n\t\tb = DATA\n\t}\n\tUNLOCK()\n\treturn DIFFER\n"},
	{name: "loop", text: "\tvar a, b KIND\n\tLOCK()\nENTERS\tfor i := range 3 {\n\t\tswitch i {\n\t\tcase 0:\n\t\t\ta = DATA\n\t\tcase 1:\n\t\t\tpause()\n\t\tdefault:\n\t\t\tb = DATA\n\t\t}\n\t}\n\tUNLOCK()\n\treturn DIFFER\n"},
	{name: "one look in each round", text: "\tvar a, b KIND\n\tLOCK()\nENTERS\tfor i := range 2 {\n\t\tat = i / 2\n\t\tif i == 1 {\n\t\t\tpause()\n\t\t}\n\t\ta, b = b, DATA\n\t}\n\tUNLOCK()\n\treturn DIFFER\n"},
	{name: "beginning of a loop", text: "\tvar a, b KIND\n\tLOCK()\nENTERS\tfor a = DATA; always; {\n\t\tpause()\n\t\tb = DATA\n\t\tbreak\n\t}\n\tUNLOCK()\n\treturn DIFFER\n"},
	{name: "header of a loop", text: "\tvar a, b KIND\n\tLOCK()\nENTERS\tfor i := 0; i < 2; a, b, i = b, DATA, i+1 {\n\t\tif i == 1 {\n\t\t\tpause()\n\t\t}\n\t}\n\tUNLOCK()\n\treturn DIFFER\n"},
	{name: "early return", text: "\tLOCK()\nENTERS\ta := DATA\n\tif !always {\n\t\tUNLOCK()\n\t\treturn false\n\t}\n\tpause()\n\tb := DATA\n\tUNLOCK()\n\treturn DIFFER\n"},
	{name: "helper", text: "\tLOCK()\nENTERS\ta := DATA\n\tpause()\n\tb := x.lookNN()\n\tUNLOCK()\n\treturn DIFFER\n", rest: "func RECEIVERlookNN() KIND {\nPREPARESENTERS\treturn DATA\n}\n"},
	{name: "writing helper", writes: true, text: "\tLOCK()\nENTERS\tx.storeNN(CAREFUL)\n\tpause()\n\tvar a KIND = CAREFUL\n\tb := DATA\n\tUNLOCK()\n\treturn DIFFER\n", rest: "func RECEIVERstoreNN(v KIND) {\nPREPARESENTERS\tDATA = v\n}\n"},
	{name: "logger", text: "\tLOCK()\nENTERS\ta := DATA\n\tfmt.Fprintln(io.Discard, a)\n\tpause()\n\tb := DATA\n\tUNLOCK()\n\treturn DIFFER\n"},
	{name: "printed", text: "\tLOCK()\nENTERS\ta := DATA\n\tfmt.Fprintln(io.Discard, DATA)\n\tpause()\n\tfmt.Fprintln(io.Discard, DATA)\n\tb := DATA\n\tUNLOCK()\n\treturn DIFFER\n"},
	{name: "written, logger", writes: true, text: "\tLOCK()\nENTERS\tDATA = CAREFUL\n\tfmt.Fprintln(io.Discard, DATA)\n\tpause()\n\tvar a KIND = CAREFUL\n\tb := DATA\n\tUNLOCK()\n\treturn DIFFER\n"},
	{name: "interface", text: "\tLOCK()\nENTERS\ta := DATA\n\tpauser.pause()\n\tb := DATA\n\tUNLOCK()\n\treturn DIFFER\n"},
	{name: "written, interface", writes: true, text: "\tLOCK()\nENTERS\tDATA = CAREFUL\n\tpauser.pause()\n\tvar a KIND = CAREFUL\n\tb := DATA\n\tUNLOCK()\n\treturn DIFFER\n"},
	{name: "function value", text: "\tLOCK()\nENTERS\ta := DATA\n\tpauseValue()\n\tb := DATA\n\tUNLOCK()\n\treturn DIFFER\n"},
	{name: "closure", text: "\tvar a, b KIND\n\tLOCK()\nENTERS\ta = DATA\n\tpause()\n\tfunc() { b = DATA }()\n\tUNLOCK()\n\treturn DIFFER\n"},
	{name: "stored closure", text: "\tvar a, b KIND\n\tlook := func() {\n\tENTERS\t\tb = DATA\n\t}\n\tLOCK()\nENTERS\ta = DATA\n\tpause()\n\tlook()\n\tUNLOCK()\n\treturn DIFFER\n"},
	{name: "closure of the section", text: "\tvar a, b KIND\n\tLOCK()\nENTERS\ta = DATA\n\tlook := func() { b = DATA }\n\tpause()\n\tlook()\n\tUNLOCK()\n\treturn DIFFER\n"},
	{name: "closure as an argument", text: "\tvar a, b KIND\n\tLOCK()\nENTERS\ta = DATA\n\tpause()\n\tcall(func() { b = DATA })\n\tUNLOCK()\n\treturn DIFFER\n"},
	{name: "deferred closure", text: "\tvar a, b KIND\n\tfunc() {\n\t\tLOCK()\n\t\tdefer UNLOCK()\n\tENTERS\t\tdefer func() { b = DATA }()\n\t\ta = DATA\n\t\tpause()\n\t}()\n\treturn DIFFER\n"},
	{name: "released in a literal", text: "\tLOCK()\n\tdefer func() {\n\t\tUNLOCK()\n\t\tfmt.Fprint(io.Discard)\n\t}()\nENTERS\ta := DATA\n\tpause()\n\tb := DATA\n\treturn DIFFER\n"},
	{name: "used where it is released", text: "\tvar a, b KIND\n\tfunc() {\n\t\tLOCK()\n\tENTERS\t\tdefer func() {\n\t\t\tb = DATA\n\t\t\tUNLOCK()\n\t\t}()\n\t\ta = DATA\n\t\tpause()\n\t}()\n\treturn DIFFER\n"},
	{name: "writing closure", writes: true, text: "\tset := func(v KIND) {\n\tENTERS\t\tDATA = v\n\t}\n\tLOCK()\nENTERS\tset(CAREFUL)\n\tpause()\n\tvar a KIND = CAREFUL\n\tb := DATA\n\tUNLOCK()\n\treturn DIFFER\n"},
	{name: "method value", text: "\tlook := x.lookNN\n\tLOCK()\nENTERS\ta := DATA\n\tpause()\n\tb := look()\n\tUNLOCK()\n\treturn DIFFER\n", rest: "func RECEIVERlookNN() KIND {\nPREPARESENTERS\treturn DATA\n}\n"},
	{name: "deferred method", text: "\tvar a, b KIND\n\tfunc() {\n\t\tLOCK()\n\t\tdefer UNLOCK()\n\tENTERS\t\tdefer x.lookNN(&b)\n\t\ta = DATA\n\t\tpause()\n\t}()\n\treturn DIFFER\n", rest: "func RECEIVERlookNN(to *KIND) {\nPREPARESENTERS\t*to = DATA\n}\n"},
	{name: "method by interface", text: "\tvar look interface{ lookNN() KIND } = x\n\tLOCK()\nENTERS\ta := DATA\n\tpause()\n\tb := look.lookNN()\n\tUNLOCK()\n\treturn DIFFER\n", rest: "func RECEIVERlookNN() KIND {\nPREPARESENTERS\treturn DATA\n}\n"},
	{name: "another lock", text: "\tLOCK()\nENTERS\ta := DATA\n\tother.Lock()\n\tpause()\n\tother.Unlock()\n\tb := DATA\n\tUNLOCK()\n\treturn DIFFER\n"},
	{name: "in a literal", text: "\tvar a, b KIND\n\tfunc() {\n\t\tLOCK()\n\t\tdefer UNLOCK()\n\tENTERS\t\ta = DATA\n\t\tpause()\n\t\tb = DATA\n\t}()\n\treturn DIFFER\n"},
	{name: "tried", text: "\tif !TRY() {\n\t\treturn false\n\t}\nENTERS\ta := DATA\n\tpause()\n\tb := DATA\n\tUNLOCK()\n\treturn DIFFER\n"},
	{name: "lock in a function", text: "\tdefer x.enterNN()()\nENTERS\ta := DATA\n\tpause()\n\tb := DATA\n\treturn DIFFER\n", rest: "func RECEIVERenterNN() func() {\nPREPARES\tLOCK()\n\treturn UNLOCK\n}\n"},
	{name: "lock in a method", text: "\tx.enterNN()\nENTERS\ta := DATA\n\tpause()\n\tb := DATA\n\tUNLOCK()\n\treturn DIFFER\n", rest: "func RECEIVERenterNN() {\nPREPARES\tLOCK()\n}\n"},
	{name: "section as an argument", text: "\tvar a, b KIND\n\tx.withNN(func() {\nENTERS\t\ta = DATA\n\t\tpause()\n\t\tb = DATA\n\t})\n\treturn DIFFER\n", rest: "func RECEIVERwithNN(do func()) {\nPREPARES\tLOCK()\n\tdefer UNLOCK()\n\tdo()\n}\n", here: true},
	{name: "callee", text: "\tLOCK()\n\tdefer UNLOCK()\n\treturn x.insideNN()\n", rest: "func RECEIVERinsideNN() bool {\nPREPARESENTERS\ta := DATA\n\tpause()\n\tb := DATA\n\treturn DIFFER\n}\n"},
	{name: "given to a function", text: "\tLOCK()\nENTERS\ta := same(DATA)\n\tpause()\n\tb := same(DATA)\n\tUNLOCK()\n\treturn DIFFER\n"},
	{name: "goto", text: "\tvar a, b KIND\n\tLOCK()\nENTERS\ta = DATA\n\tif always {\n\t\tgoto on\n\t}\non:\n\tpause()\n\tb = DATA\n\tUNLOCK()\n\treturn DIFFER\n"},
	{name: "exchanged", writes: true, text: "\tLOCK()\nENTERS\tvar a KIND = CAREFUL\n\tb := a\n\tDATA = a\n\tpause()\n\tb, DATA = DATA, b\n\tUNLOCK()\n\treturn DIFFER\n"},
	{name: "assigned from a function", writes: true, text: "\tLOCK()\nENTERS\tvar a KIND = CAREFUL\n\tDATA = same(a)\n\tpause()\n\tb := DATA\n\tUNLOCK()\n\treturn DIFFER\n"},
	{name: "range over a function", text: "\tvar a, b KIND\n\tLOCK()\nENTERS\ta = DATA\n\tpause()\n\tfor range once {\n\t\tb = DATA\n\t}\n\tUNLOCK()\n\treturn DIFFER\n"},
	{name: "body of a range over a function", text: "\tvar a, b KIND\n\tLOCK()\n\tdefer UNLOCK()\nENTERS\tfor range once {\n\t\ta = DATA\n\t\tpause()\n\t\tb = DATA\n\t}\n\treturn DIFFER\n"},
	{name: "labelled loop", text: "\tvar a, b KIND\n\tLOCK()\nENTERS\nouter:\n\tfor i := range 3 {\n\t\tfor {\n\t\t\tswitch i {\n\t\t\tcase 0:\n\t\t\t\ta = DATA\n\t\t\t\tcontinue outer\n\t\t\tcase 1:\n\t\t\t\tpause()\n\t\t\t\tcontinue outer\n\t\t\t}\n\t\t\tb = DATA\n\t\t\tbreak outer\n\t\t}\n\t}\n\tUNLOCK()\n\treturn DIFFER\n"},
	{name: "panic in a literal", text: "\tvar a, b KIND\n\tLOCK()\nENTERS\tfunc() {\n\t\tdefer func() { recover() }()\n\t\ta = DATA\n\t\tpause()\n\t\tpanic(1)\n\t}()\n\tb = DATA\n\tUNLOCK()\n\treturn DIFFER\n"},
	{name: "after a panic", text: "\tvar a, b KIND\n\tfunc() {\n\t\tLOCK()\n\t\tdefer UNLOCK()\n\tENTERS\t\tdefer func() {\n\t\t\trecover()\n\t\t\tb = DATA\n\t\t}()\n\t\ta = DATA\n\t\tpause()\n\t\tpanic(1)\n\t}()\n\treturn DIFFER\n"},
	{name: "panic that is recovered where the lock is released", writes: true, text: "\tvar a, b KIND = CAREFUL, CAREFUL\n\tfunc() {\n\t\tLOCK()\n\tENTERS\t\tdefer func() {\n\t\t\tif recover() != nil {\n\t\t\t\tb = DATA\n\t\t\t}\n\t\t\tUNLOCK()\n\t\t}()\n\t\tDATA = CAREFUL\n\t\tpause()\n\t\tpanic(1)\n\t}()\n\treturn DIFFER\n"},
	{name: "goroutine of the section", text: "\tvar b KIND\n\tLOCK()\nENTERS\ta := DATA\n\tdone := make(chan bool)\n\tgo func() {\n\t\tpause()\n\t\tb = DATA\n\t\tclose(done)\n\t}()\n\t<-done\n\tUNLOCK()\n\treturn DIFFER\n"},
	{name: "taken again", text: "\tLOCK()\nENTERS\ta := DATA\n\tUNLOCK()\n\tLOCK()\n\ta = DATA\n\tpause()\n\tb := DATA\n\tUNLOCK()\n\treturn DIFFER\n"},
	{name: "under another lock", text: "\tother.Lock()\n\tLOCK()\nENTERS\ta := DATA\n\tpause()\n\tb := DATA\n\tUNLOCK()\n\tother.Unlock()\n\treturn DIFFER\n"},
	{name: "lock as an argument", text: "\tvar a, b KIND\n\thold(LOCKER, func() {\nENTERS\t\ta = DATA\n\t\tpause()\n\t\tb = DATA\n\t})\n\treturn DIFFER\n"},
	{name: "lock in a variable", text: "\tmu := LOCKER\n\tmu.Lock()\nENTERS\ta := DATA\n\tpause()\n\tb := DATA\n\tmu.Unlock()\n\treturn DIFFER\n"},
	{name: "releases in a variable", text: "\tLOCK()\n\trelease := UNLOCK\nENTERS\ta := DATA\n\tpause()\n\tb := DATA\n\trelease()\n\treturn DIFFER\n"},
	{name: "switch", text: "\tvar a, b KIND\n\tLOCK()\nENTERS\tswitch a = DATA; {\n\tcase !always:\n\t\tfallthrough\n\tdefault:\n\t\tpause()\n\t\tb = DATA\n\t}\n\tUNLOCK()\n\treturn DIFFER\n"},
	{name: "type switch", text: "\tvar a, b KIND\n\tLOCK()\nENTERS\tswitch v := any(DATA).(type) {\n\tcase KIND:\n\t\ta = v\n\t\tpause()\n\t\tb, _ = any(DATA).(KIND)\n\t}\n\tUNLOCK()\n\treturn DIFFER\n"},
	{name: "generic function", text: "\tLOCK()\nENTERS\ta := same([]KIND{DATA})[0]\n\tpause()\n\tb := same(map[int]KIND{1: DATA})[1]\n\tUNLOCK()\n\treturn DIFFER\n"},
	{name: "literal for the library", text: "\tvar b KIND\n\tLOCK()\nENTERS\ta := DATA\n\tpause()\n\tslices.ContainsFunc([]int{1}, func(int) bool { b = DATA; return true })\n\tUNLOCK()\n\treturn DIFFER\n"},
	{name: "pause in a literal for the library", text: "\tLOCK()\nENTERS\ta := DATA\n\tslices.ContainsFunc([]int{1}, func(int) bool { pause(); return true })\n\tb := DATA\n\tUNLOCK()\n\treturn DIFFER\n"},
	{name: "each round", text: "\tvar all [2]KIND\n\tLOCK()\nENTERS\tfor i := range all {\n\t\tall[i] = DATA\n\t\tif i == 0 {\n\t\t\tpause()\n\t\t}\n\t}\n\tUNLOCK()\n\ta, b := all[0], all[1]\n\treturn DIFFER\n"},
	{name: "each round, written", writes: true, text: "\tvar a, b KIND = CAREFUL, CAREFUL\n\tLOCK()\nENTERS\tDATA = a\n\tfor i := range 2 {\n\t\tif i == 0 {\n\t\t\tpause()\n\t\t}\n\t\tb = DATA\n\t}\n\tUNLOCK()\n\treturn DIFFER\n"},
	{name: "head of a loop", text: "\tvar a, b KIND\n\tn := 0\n\tLOCK()\nENTERS\tfor b = DATA; n < 2; b = DATA {\n\t\tif n == 0 {\n\t\t\ta = b\n\t\t\tpause()\n\t\t}\n\t\tn++\n\t}\n\tUNLOCK()\n\treturn DIFFER\n"},
	{name: "rounds of rounds", text: "\tvar all [2]KIND\n\tLOCK()\nENTERS\tfor i := range all {\n\t\tfor range 1 {\n\t\t\tall[i] = DATA\n\t\t}\n\t\tif i == 0 {\n\t\t\tpause()\n\t\t}\n\t}\n\tUNLOCK()\n\ta, b := all[0], all[1]\n\treturn DIFFER\n"},
	{name: "once each", text: "\tLOCK()\nENTERS\ta := DATA\n\tpause()\n\tb := SECOND\n\tUNLOCK()\n\treturn DIFFER\n"},
	{name: "once each, deferred", text: "\tLOCK()\n\tdefer UNLOCK()\nENTERS\ta := DATA\n\tpause()\n\tb := SECOND\n\treturn DIFFER\n"},
	{name: "once and twice", text: "\tLOCK()\nENTERS\ta := DATA\n\ta = DATA\n\tpause()\n\tb := SECOND\n\tUNLOCK()\n\treturn DIFFER\n"},
	{name: "once and in a literal", text: "\tLOCK()\nENTERS\ta := DATA\n\tpause()\n\tvar b KIND\n\tfunc() { b = SECOND }()\n\tUNLOCK()\n\treturn DIFFER\n"},
	{name: "once and in each round", text: "\tvar b KIND\n\tLOCK()\nENTERS\ta := DATA\n\tpause()\n\tfor range 2 {\n\t\tb = SECOND\n\t}\n\tUNLOCK()\n\treturn DIFFER\n"},
	{name: "by turns", text: "\tLOCK()\nENTERS\ta := DATA\n\ta = DATA\n\tc := ANOTHER\n\tc = ANOTHER\n\tpause()\n\tb := DATA\n\tb = DATA\n\tUNLOCK()\n\t_ = c\n\treturn DIFFER\n"},
	{name: "by turns, written", writes: true, text: "\tLOCK()\nENTERS\tvar a KIND = CAREFUL\n\tDATA = a\n\tDATA = a\n\tANOTHER = a\n\tANOTHER = a\n\tpause()\n\tb := DATA\n\tb = DATA\n\tUNLOCK()\n\treturn DIFFER\n"},
	{name: "by turns under one name", text: "\tLOCK()\nENTERS\ta := DATA\n\ta = DATA\n\tfirst := e\n\te = d\n\tc := DATA\n\tc = DATA\n\te = first\n\tpause()\n\tb := DATA\n\tb = DATA\n\tUNLOCK()\n\t_, _ = c, ANOTHER\n\treturn DIFFER\n"},
	{name: "twice through all", text: "\tvar a, b KIND\n\tLOCK()\n\tTHROUGH {\n\t\ta = e.f\n\t\ta = e.f\n\t}\n\tpause()\n\tTHROUGH {\n\t\tb = e.f\n\t\tb = e.f\n\t}\n\tUNLOCK()\n\treturn DIFFER\n"},
	{name: "once through all, twice", text: "\tvar a, b KIND\n\tLOCK()\n\tTHROUGH {\n\t\ta = e.f\n\t}\n\tpause()\n\tTHROUGH {\n\t\tb = e.f\n\t}\n\tUNLOCK()\n\treturn DIFFER\n"},
	{name: "rounds through all", text: "\tvar all [2]KIND\n\tLOCK()\n\tfor i := range all {\n\t\tTHROUGH {\n\t\t\tall[i] = e.f\n\t\t\tall[i] = e.f\n\t\t}\n\t\tif i == 0 {\n\t\t\tpause()\n\t\t}\n\t}\n\tUNLOCK()\n\ta, b := all[0], all[1]\n\treturn DIFFER\n"},
	{name: "sections in a loop", text: "\tvar a, b KIND\n\tfor i := range 3 {\n\t\tLOCK()\n\tENTERS\t\tif i == 1 {\n\t\t\ta = DATA\n\t\t\tpause()\n\t\t\tb = DATA\n\t\t}\n\t\tUNLOCK()\n\t}\n\treturn DIFFER\n"},
	{name: "left by continue", text: "\tvar a, b KIND\n\tfor i := range 2 {\n\t\tLOCK()\n\tENTERS\t\ta = DATA\n\t\tif i == 0 {\n\t\t\tUNLOCK()\n\t\t\tcontinue\n\t\t}\n\t\tpause()\n\t\tb = DATA\n\t\tUNLOCK()\n\t}\n\treturn DIFFER\n"},
	{name: "released on two ways", text: "\tLOCK()\nENTERS\ta := DATA\n\tif !always {\n\t\tUNLOCK()\n\t\treturn false\n\t}\n\tpause()\n\tb := DATA\n\tUNLOCK()\n\treturn DIFFER\n"},
	{name: "released for a while", text: "\tLOCK()\nENTERS\tif !always {\n\t\tUNLOCK()\n\t\tLOCK()\n\t}\n\ta := DATA\n\tpause()\n\tb := DATA\n\tUNLOCK()\n\treturn DIFFER\n"},
	{name: "argument of a deferred call", text: "\tvar a, b KIND\n\tfunc() {\n\t\tLOCK()\n\t\tdefer UNLOCK()\n\tENTERS\t\tdefer func(v KIND) { a, b = v, DATA }(DATA)\n\t\tpause()\n\t}()\n\treturn DIFFER\n"},
	{name: "in an if and its else", text: "\tvar a, b KIND\n\tLOCK()\nENTERS\tif a = DATA; !always {\n\t\ta = DATA\n\t} else if pause(); always {\n\t\tb = DATA\n\t}\n\tUNLOCK()\n\treturn DIFFER\n"},
	{name: "callee that calls itself", text: "\tLOCK()\n\tdefer UNLOCK()\nENTERS\ta := DATA\n\tpause()\n\treturn x.differsNN(a, 2)\n", rest: "func RECEIVERdiffersNN(a KIND, n int) bool {\n\tif n > 0 {\n\t\treturn x.differsNN(a, n-1)\n\t}\nPREPARESENTERS\tb := DATA\n\treturn DIFFER\n}\n"},
	{name: "loop without a condition", text: "\tvar a, b KIND\n\tLOCK()\nENTERS\tfor {\n\t\tif a = DATA; always {\n\t\t\tpause()\n\t\t\tb = DATA\n\t\t\tbreak\n\t\t}\n\t}\n\tUNLOCK()\n\treturn DIFFER\n"},
	{name: "channel", text: "\tLOCK()\nENTERS\ta := DATA\n\tselect {\n\tcase <-never:\n\tdefault:\n\t}\n\tpause()\n\tb := DATA\n\tUNLOCK()\n\treturn DIFFER\n"},
}
