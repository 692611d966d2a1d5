package randprog

import (
	"fmt"
	"strings"
)

// An objectField is a field, with what the drivers tell of it.
type objectField struct {
	name string
	kind variableKind
	// told are the expressions that tell its value.
	told []string
}

// nodes is a kind of field that plain variables do not have: a list of linked nodes.
const nodes = list + 1

func (g *objectGen) declareFields() {
	for i := range 1 + g.pick(3) {
		f := objectField{name: string(rune('a' + i)), kind: number}
		switch g.pick(7) {
		case 2, 3:
			f.kind, f.told = mapping, []string{`t.%s["x"]`, `t.%s["y"]`, `len(t.%s)`}
		case 4:
			f.kind, f.told = list, []string{`len(t.%s)`, `sum(t.%s)`}
		case 5:
			f.kind, f.told = atomicN, []string{`t.%s.Load()`}
		case 6:
			f.kind, f.told = nodes, []string{`chain(t.%s)`}
		default:
			f.told = []string{`t.%s`}
		}
		for j, e := range f.told {
			f.told[j] = fmt.Sprintf(e, f.name)
		}
		g.fields = append(g.fields, f)
	}
}

func (f *objectField) typeName() string {
	switch f.kind {
	case mapping:
		return "map[string]int"
	case list:
		return "[]int"
	case atomicN:
		return "atomic.Int64"
	case nodes:
		return "*node"
	}
	return "int"
}

// initial is the value that an object begins with, "" for zero.
func (f *objectField) initial() string {
	switch f.kind {
	case mapping:
		return `map[string]int{"x": 1}`
	case list:
		return "[]int{1, 2}"
	case atomicN:
		return ""
	case nodes:
		return "&node{1, &node{2, nil}}"
	}
	return "1"
}

// wait stands where a method may wait.
const wait = "\tWAIT\n"

// waiting is something that a method does in the middle of its work.
func (g *objectGen) waiting() string {
	switch g.pick(10) {
	case 1:
		return "\truntime.Gosched()\n"
	case 2:
		return "\ttime.Sleep(time.Millisecond)\n"
	case 3:
		return "\tt.nothing()\n"
	case 4:
		return "\tdone := make(chan int, 1)\n\tdone <- 1\n\t<-done\n"
	case 5:
		return "\tvar wg sync.WaitGroup\n\twg.Add(1)\n\tgo wg.Done()\n\twg.Wait()\n"
	case 6:
		return "\tt.call(func() { t.nothing() })\n"
	case 7:
		return "\tt.fire()\n"
	case 8:
		return "\tdone := make(chan int, 1)\n\tselect {\n\tcase done <- 1:\n\tcase <-done:\n\t}\n"
	}
	return ""
}

// operationForms are the bodies of methods that work on a field F, with a number K.
var operationForms = map[variableKind][]string{
	mapping: {
		"\tt.F[\"x\"] += K\n",
		"\tv := t.F[\"x\"]\n" + wait + "\tt.F[\"x\"] = v + K\n",
		"\tif _, ok := t.F[\"y\"]; !ok {\n" + wait + "\tt.F[\"y\"] = K\n\t} else {\n\tt.F[\"y\"] += 10\n\t}\n",
		"\tdelete(t.F, \"x\")\n",
		"\tfor k := range t.F {\n\tt.F[k] += K\n\t}\n",
		"\tif t.F == nil {\n\tt.F = map[string]int{}\n\t}\n\tt.F[\"y\"] = K\n",
		"\tm := t.F\n" + wait + "\tm[\"x\"] += K\n",
		"\tif len(t.F) > 1 {\n" + wait + "\tt.F[\"x\"] *= 2\n\t}\n",
		"\ts := 0\n\tfor _, v := range t.F {\n\ts += v\n\t}\n" + wait + "\tt.F[\"y\"] = s + K\n",
		"\tif v := t.F[\"x\"]; v > 0 {\n" + wait + "\tt.F[\"x\"] = v - 1\n\treturn\n\t}\n\tt.F[\"x\"] = K\n",
	},
	list: {
		"\tt.F = append(t.F, K)\n",
		"\told := t.F\n" + wait + "\tt.F = append(old[:len(old):len(old)], K)\n",
		"\tif len(t.F) > 0 {\n" + wait + "\tt.F[0] += K\n\t}\n",
		"\tfor i := range t.F {\n\tt.F[i] += K\n\t}\n",
		"\tt.F = append([]int{K}, t.F...)\n",
		"\tn := len(t.F)\n" + wait + "\tt.F = make([]int, n+K)\n",
		"\tl := t.F\n" + wait + "\tfor i := range l {\n\tl[i] += K\n\t}\n",
		"\tif n := len(t.F); n > 1 {\n\tt.F = t.F[:n-1]\n\t}\n",
		"\tcopy(t.F, []int{K, K})\n",
		"\tif t.F == nil {\n\tt.F = make([]int, 1)\n\t}\n\tt.F[0] = K\n",
	},
	atomicN: {
		"\tt.F.Add(K)\n",
		"\tv := t.F.Load()\n" + wait + "\tt.F.Store(v + K)\n",
		"\tif t.F.Load() == 0 {\n" + wait + "\tt.F.Add(K)\n\t}\n",
		"\tif t.F.Load() > 0 {\n\tt.F.Store(0)\n\t} else {\n\tt.F.Store(K)\n\t}\n",
	},
	nodes: {
		"\tt.F = &node{K, t.F}\n",
		"\tfor n := t.F; n != nil; n = n.next {\n\tn.v += K\n\t}\n",
		"\tif t.F != nil {\n" + wait + "\tt.F = t.F.next\n\t}\n",
		"\tn := t.F\n\tif n != nil && n.next != nil {\n\tn.next = n.next.next\n\t}\n",
		"\tfor p := &t.F; *p != nil; p = &(*p).next {\n\tif (*p).v == K {\n\t*p = (*p).next\n\treturn\n\t}\n\t}\n",
	},
	number: {
		"\tt.F += K\n",
		"\tv := t.F\n" + wait + "\tt.F = v + K\n",
		"\tif t.F > 0 {\n" + wait + "\tt.F -= K\n\t}\n",
		"\tt.setF(t.getF() + K)\n",
		"\tp := &t.F\n\tv := *p\n" + wait + "\t*p = v * 2\n",
		"\tfunc() { t.F += K }()\n",
		"\tdefer func() { t.F += K }()\n" + wait,
		"\tfor range 2 {\n\tt.F += K\n\t}\n",
		"\tv := t.F\n\tswitch {\n\tcase v > 2:\n" + wait + "\tt.F = v - K\n\tdefault:\n\tt.F = v + 5\n\t}\n",
		"\tv, w := t.F, K\n" + wait + "\tt.F, w = w+v, 0\n\t_ = w\n",
		"\tif v := t.F; v >= 0 {\n\tif w := v + K; w > 1 {\n" + wait + "\tt.F = w\n\treturn\n\t}\n\tt.F = 0\n\t}\n",
		"\tt.F *= 2\n\tt.fire()\n",
	},
}

// operation is the body of a method that works on a field.
func (g *objectGen) operation(f objectField) string {
	k := 1 + g.pick(3)
	forms := operationForms[f.kind]
	text := forms[g.pick(len(forms))]
	return strings.NewReplacer("setF", "set"+strings.ToUpper(f.name), "getF", "get"+strings.ToUpper(f.name), "t.F", "t."+f.name, "K", fmt.Sprint(k)).Replace(text)
}
