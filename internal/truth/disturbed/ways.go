package disturbed

import (
	"slices"
	"strings"
)

// A way is how careless code changes the data of a section, or looks at it. In its texts, WRITTEN is what careless code
// writes, and what it sees is v. OBJECT is a new object of the home, whose lock TAKEOTHER takes and GIVEOTHER releases.
type way struct {
	name, text string
	rest       string
	reads      bool     // careless code only looks, and the section leaves WRITTEN there for a moment
	homes      []string // where it is possible; nil: in all of waysIn
	addressed  bool     // not where the data has no address
	kinds      []string // nil: all of kindsOfWays
}

var assigned = way{name: "assigned", text: "\tDATA = WRITTEN\n"}

// looked is a section that careless code looks into.
var looked = shape{name: "looked into", writes: true, text: "\tLOCK()\nENTERS\tDATA = WRITTEN\n\tpause()\n\tDATA = CAREFUL\n\tUNLOCK()\n\treturn false\n"}

// waysIn are homes that differ in how uses of them are written in another way.
var waysIn = []string{"field", "field of a generic type", "embedded lock", "inner struct", "global", "global struct", "element of a slice", "element of a generic type",
	"value in a map", "entry of a variable", "element of an array", "part of an array", "node of a list", "element of a variable", "embedded struct"}

var kindsOfWays = []string{"int", "string", "slice", "pointer", "struct"}

const value = "\tvar v KIND = WRITTEN\n"

var ways = []way{
	{name: "one of two values", text: "\tDATA, _ = WRITTEN, 0\n"},
	{name: "found in a map", text: "\tvar ok bool\n\tDATA, ok = map[int]KIND{1: WRITTEN}[1]\n\t_ = ok\n"},
	{name: "received", text: "\tc := make(chan KIND, 1)\n\tc <- WRITTEN\n\tDATA = <-c\n"},
	{name: "received, if it can be", text: "\tc := make(chan KIND, 1)\n\tc <- WRITTEN\n\tvar ok bool\n\tDATA, ok = <-c\n\t_ = ok\n"},
	{name: "case of a select", text: "\tc := make(chan KIND, 1)\n\tc <- WRITTEN\n\tselect {\n\tcase DATA = <-c:\n\tcase <-never:\n\t}\n"},
	{name: "taken out of an interface", text: value + "\tvar ok bool\n\tDATA, ok = any(v).(KIND)\n\t_ = ok\n"},
	{name: "variable of a range", text: "\tfor _, DATA = range []KIND{WRITTEN} {\n\t}\n"},
	{name: "result of two", text: "\tDATA, _ = twoNN()\n", rest: "func twoNN() (KIND, int) { return WRITTEN, 0 }\n"},
	{name: "before a condition", text: "\tif DATA = (WRITTEN); always {\n\t}\n"},
	{name: "before a loop", text: "\tfor DATA = (WRITTEN); !always; {\n\t}\n"},
	{name: "after a round", text: "\tfor i := 0; i < 1; i, DATA = i+1, (WRITTEN) {\n\t}\n"},
	{name: "before a switch", text: "\tswitch DATA = (WRITTEN); {\n\t}\n"},
	{name: "in a literal", text: "\tfunc() { DATA = WRITTEN }()\n"},
	{name: "in a deferred literal", text: "\tdefer func() { DATA = WRITTEN }()\n"},
	{name: "exchanged", text: value + "\tDATA, v = v, DATA\n\t_ = v\n"},
	{name: "by its address", addressed: true, text: "\tp := &DATA\n\t*p = WRITTEN\n"},
	{name: "by a function that has its address", addressed: true, text: value + "\tassign(&DATA, v)\n"},
	{name: "on a goroutine", text: "\twritten := make(chan bool)\n\tgo func() { DATA = WRITTEN; written <- true }()\n\t<-written\n"},
	{name: "under another lock", text: "\tother.Lock()\n\tdefer other.Unlock()\n\tDATA = WRITTEN\n"},
	{name: "under the lock of another object", homes: []string{"field", "embedded lock", "inner struct", "element of a slice", "value in a map", "node of a list"},
		text: "\ty := OBJECT\n\tTAKEOTHER()\n\tDATA = WRITTEN\n\tGIVEOTHER()\n"},
	{name: "updated", kinds: []string{"int", "string"}, text: "\tDATA += WRITTEN\n"},
	{name: "counted", kinds: []string{"int"}, text: "\tDATA++\n"},
	{name: "updated by a call", kinds: []string{"int", "string"}, text: "\tDATA += same[KIND](WRITTEN)\n"},
	{name: "part of a struct", kinds: []string{"struct"}, homes: without(hasNoAddress...), text: "\tDATA.a = 2\n"},
	{name: "method of it", kinds: []string{"struct"}, homes: without(hasNoAddress...), text: "\tDATA.set(2)\n"},
	{name: "with its struct", homes: []string{"inner struct"}, text: "\tx.in = struct{ f KIND }{WRITTEN}\n"},
	{name: "with its array", homes: []string{"element of an array"}, text: "\tx.a = [3]KIND{1: WRITTEN}\n"},
	{name: "with its element", homes: []string{"part of an array"}, text: "\tx.a[1] = eNN{f: WRITTEN}\n"},
	{name: "with its node", homes: []string{"node of a list"}, text: "\t*x.head.next = nNN{f: WRITTEN}\n"},
	{name: "by another node", homes: []string{"node of a list"}, text: "\tx.head.next = &nNN{f: WRITTEN}\n"},
	{name: "with its slice", homes: []string{"element of a slice"}, text: "\tx.s = []KIND{WRITTEN}\n"},
	{name: "appended", homes: []string{"element of a slice"}, text: "\tx.s = append(x.s[:0], WRITTEN)\n"},
	{name: "appended beside it", homes: []string{"element of a slice"}, text: "\t_ = append(x.s[:0], WRITTEN)\n"},
	{name: "copied", homes: []string{"element of a slice"}, text: "\tcopy(x.s, []KIND{WRITTEN})\n"},
	{name: "cleared", homes: []string{"element of a slice"}, kinds: []string{"int", "struct", "string"}, text: "\tclear(x.s)\n"},
	{name: "in a loop over it", homes: []string{"element of a slice"}, text: "\tfor i := range x.s {\n\t\tx.s[i] = WRITTEN\n\t}\n"},
	{name: "by another name", homes: []string{"element of a slice", "element of a generic type"}, text: "\ts := x.s[:1]\n\ts[0] = WRITTEN\n"},
	{name: "by a function of the library", homes: []string{"element of a slice"}, text: value + "\tx.s = slices.Insert(x.s, 0, v)\n"},
	{name: "with its map", homes: []string{"value in a map"}, text: "\tx.m = map[string]KIND{\"k\": WRITTEN}\n"},
	{name: "deleted", homes: []string{"value in a map"}, kinds: []string{"int", "struct", "string"}, text: "\tdelete(x.m, \"k\")\n"},
	{name: "cleared", homes: []string{"value in a map"}, kinds: []string{"int", "struct", "string"}, text: "\tclear(x.m)\n"},
	{name: "by another name", homes: []string{"value in a map"}, text: "\tm := x.m\n\tm[\"k\"] = WRITTEN\n"},
	{name: "by a function of the library", homes: []string{"value in a map"}, text: value + "\tmaps.Copy(x.m, map[string]KIND{\"k\": v})\n"},

	{name: "loaded", reads: true, text: "\tv := DATA\n"},
	{name: "one of two", reads: true, text: "\tv, _ := DATA, 0\n"},
	{name: "argument", reads: true, text: "\tv := same(DATA)\n"},
	{name: "element", reads: true, text: "\tv := []KIND{DATA}[0]\n"},
	{name: "entry", reads: true, text: "\tv := map[int]KIND{1: DATA}[1]\n"},
	{name: "sent", reads: true, text: "\tc := make(chan KIND, 1)\n\tc <- DATA\n\tv := <-c\n"},
	{name: "sent in a select", reads: true, text: "\tc := make(chan KIND, 1)\n\tselect {\n\tcase c <- DATA:\n\tcase <-never:\n\t}\n\tv := <-c\n"},
	{name: "result of a literal", reads: true, text: "\tv := func() KIND { return DATA }()\n"},
	{name: "result", reads: true, text: "\tv := x.getNN()\n", rest: "\nfunc RECEIVERgetNN() KIND {\nPREPARESENTERS\treturn DATA\n}\n"},
	{name: "by its address", reads: true, addressed: true, text: "\tp := &DATA\n\tv := *p\n"},
	{name: "in an interface", reads: true, text: "\tv, _ := any(DATA).(KIND)\n"},
	{name: "in a struct", reads: true, text: "\tv := struct{ f KIND }{DATA}.f\n"},
	{name: "of a deferred call", reads: true, text: "\tvar v KIND\n\tfunc() {\n\t\tdefer assign(&v, DATA)\n\t}()\n"},
	{name: "of a goroutine", reads: true, text: "\tc := make(chan KIND)\n\tgo func(v KIND) { c <- v }(DATA)\n\tv := <-c\n"},
	{name: "before a condition", reads: true, text: "\tvar v KIND\n\tif w := DATA; always {\n\t\tv = w\n\t}\n"},
	{name: "in a condition", reads: true, kinds: []string{"int", "string", "struct", "pointer"}, text: "\tvar v KIND = CAREFUL\n\tif DATA != v {\n\t\tv = WRITTEN\n\t}\n"},
	{name: "in a loop", reads: true, text: "\tvar v KIND\n\tfor range 1 {\n\t\tv = DATA\n\t}\n"},
	{name: "number of rounds", reads: true, kinds: []string{"int"}, text: "\tv := 0\n\tfor range DATA {\n\t\tv++\n\t}\n"},
	{name: "ranged over", reads: true, kinds: []string{"slice"}, text: "\tvar v KIND\n\tfor _, e := range DATA {\n\t\tv = append(v, e)\n\t}\n"},
	{name: "appended", reads: true, text: "\tv := append([]KIND(nil), DATA)[0]\n"},
	{name: "under another lock", reads: true, text: "\tother.Lock()\n\tv := DATA\n\tother.Unlock()\n"},
	{name: "under the lock of another object", reads: true, homes: []string{"field", "embedded lock", "inner struct", "element of a slice", "value in a map", "node of a list"},
		text: "\ty := OBJECT\n\tTAKEOTHER()\n\tv := DATA\n\tGIVEOTHER()\n"},
	{name: "part of it", reads: true, kinds: []string{"struct"}, text: "\tv := KIND{DATA.a, DATA.a}\n"},
	{name: "method of it", reads: true, kinds: []string{"struct"}, text: "\tn := DATA.get()\n\tv := KIND{n, n}\n"},
	{name: "with its struct", reads: true, homes: []string{"inner struct"}, text: "\tin := x.in\n\tv := in.f\n"},
	{name: "with its array", reads: true, homes: []string{"element of an array"}, text: "\ta := x.a\n\tv := a[1]\n"},
	{name: "in a loop over its array", reads: true, homes: []string{"element of an array"}, text: "\tvar v KIND\n\tfor i, w := range x.a {\n\t\tif i == 1 {\n\t\t\tv = w\n\t\t}\n\t}\n"},
	{name: "with its element", reads: true, homes: []string{"part of an array"}, text: "\te := x.a[1]\n\tv := e.f\n"},
	{name: "with its node", reads: true, homes: []string{"node of a list"}, text: "\tn := *x.head.next\n\tv := n.f\n"},
	{name: "copied", reads: true, homes: []string{"element of a slice"}, text: "\tv := append([]KIND(nil), x.s...)[0]\n"},
	{name: "cloned", reads: true, homes: []string{"element of a slice"}, text: "\tv := slices.Clone(x.s)[0]\n"},
	{name: "in a loop over its slice", reads: true, homes: []string{"element of a slice"}, text: "\tvar v KIND\n\tfor _, v = range x.s {\n\t}\n"},
	{name: "found", reads: true, homes: []string{"value in a map"}, text: "\tv, ok := x.m[\"k\"]\n\t_ = ok\n"},
	{name: "in a loop over its map", reads: true, homes: []string{"value in a map"}, text: "\tvar v KIND\n\tfor _, v = range x.m {\n\t}\n"},
	{name: "cloned", reads: true, homes: []string{"value in a map"}, text: "\tv := maps.Clone(x.m)[\"k\"]\n"},
}

// sees is what follows a way that looks.
const sees, isWritten = "\tseen = isWrittenNN(v)\n", "\nfunc isWrittenNN(a KIND) bool {\n\tvar b KIND = CAREFUL\n\treturn DIFFER\n}\n"

// hasNoAddress are homes in maps.
var hasNoAddress = []string{"value in a map", "entry of a variable"}

// without are the homes of waysIn that are not named.
func without(names ...string) []string {
	return slices.DeleteFunc(slices.Clone(waysIn), func(home string) bool { return slices.Contains(names, home) })
}

// inOtherWays are cases of all ways.
func inOtherWays(number int) []Case {
	var all []Case
	for _, w := range ways {
		section := shapes[0]
		if w.reads {
			section = looked
			w.text, w.rest = w.text+sees, w.rest+isWritten
		}
		w.name = "careless: " + w.name
		for _, h := range homes {
			for _, k := range kinds {
				if w.isIn(h.name) && w.isOf(k.name) && (k.name == "int" || h.name == "field" || len(w.homes) > 0 || len(w.kinds) > 0) {
					all = append(all, newCase(number+len(all), h, section, k, w))
				}
			}
		}
	}
	return all
}

func (w way) isIn(home string) bool {
	if w.homes != nil {
		return slices.Contains(w.homes, home)
	}
	return slices.Contains(waysIn, home) && !(w.addressed && slices.Contains(hasNoAddress, home))
}

func (w way) isOf(kind string) bool {
	if w.kinds != nil {
		return slices.Contains(w.kinds, kind)
	}
	return slices.Contains(kindsOfWays, kind)
}

// ofAnother is an operation on the lock of an object by the name of another one.
func ofAnother(operation string) string { return strings.Replace(operation, "x.", "y.", 1) }
