package compound

// A kind is some data of a compound, and operations on it. Statements are separated by "; ",
// or by lines where they stand in blocks; K is a number, and an operation may wait at WAIT.
type kind struct {
	name   string
	types  string   // that the data needs
	owner  []string // the structs among them
	names  []string // of the fields
	fields []string // their declarations
	made   []string // what a new object has
	told   []string // what tells their values
	setup  string   // what a new object t is given besides
	// writers are operations that fail beside themselves, forms are others.
	writers, forms []string
}

var kinds = []kind{
	{
		name: "pair", names: []string{"x", "y"}, fields: []string{"x, y int"}, made: []string{"x: 3"}, told: []string{"t.x", "t.y"},
		writers: []string{
			"t.x += K; WAIT;t.y += K; return 0",
			"v := t.x; WAIT;t.x = v + K; t.y++; return v",
			"t.SetX(t.X() + K); t.SetY(t.Y() + K); return 0",
			"t.add(K); return t.x",
		},
		forms: []string{
			"return t.X()*100 + t.Y()",
			"v := t.X(); WAIT;return v*100 + t.Y()",
			"v, w := t.both(); return v*100 + w",
			"if t.X() > K {\n\treturn t.Y()\n}; return -1",
			"if t.can(K) {\n\tt.move(K)\n\treturn 1\n}; return 0",
			"if !t.can(K) {\n\treturn 0\n}; WAIT;t.x -= K; t.y += K; return 1",
			"ch := make(chan int, 2); ch <- t.X(); ch <- t.Y(); return <-ch*100 + <-ch",
			"ch := make(chan int, 1); go func() { ch <- t.X() + t.Y() }(); return <-ch",
			"t.move(K); return t.X()",
			"f := func() int { return t.X() }; v := f(); return v*100 + t.Y()",
			"s := struct{ a, b int }{t.X(), t.Y()}; return s.a*100 + s.b",
			"defer t.add(K); return t.X()",
			"switch v := t.X(); {\ncase v > 4:\n\tt.move(K)\n\treturn 2\ncase v > 1:\n\treturn t.Y()\n}; return 0",
			"t.SetX(t.Y() + K); return 0",
			"return t.weigh(t.X(), t.Y())",
			"get := t.X; v := get(); WAIT;return v*100 + t.Y()",
			"defer func() { t.y += K }(); t.x++; return t.x",
			"defer func(v int) { t.SetY(v + K) }(t.X()); return t.Y()",
			"v, w := min(t.X(), t.Y()), max(t.X(), t.Y()); return v*100 + w",
			"for i := range 2 {\n\tif i == 1 {\n\t\treturn t.X()*100 + t.Y()\n\t}\n\tt.add(K)\n}; return 0",
			"p := &t.x; *p += K; WAIT;return *p*100 + t.y",
		},
	},
	{
		name: "list", names: []string{"l"}, fields: []string{"l []int"}, made: []string{"l: []int{1, 2}"}, told: []string{"len(t.l)", "digits(t.l)"},
		types: "func shifted(all []int) []int {\n\tif len(all) == 0 {\n\t\treturn all\n\t}\n\tcopy(all, all[1:])\n\treturn all[:len(all)-1]\n}\n\n" +
			"func turned(all []int) {\n\tfor i := range len(all) / 2 {\n\t\tall[i], all[len(all)-1-i] = all[len(all)-1-i], all[i]\n\t}\n}\n\n",
		writers: []string{
			"t.l = append(t.l, K); return len(t.l)",
			"n := t.Len(); t.push(K); return n",
			"old := t.l; WAIT;t.l = append(old[:len(old):len(old)], K); return 0",
		},
		forms: []string{
			"s := 0; for i := 0; i < t.Len(); i++ {\n\ts = s*10 + t.At(i)\n}; return s",
			"s := 0; for i := 0; i < len(t.l); i++ {\n\ts = s*10 + t.l[i]\n}; return s",
			"s := 0; for _, v := range t.l {\n\ts = s*10 + v\n}; return s",
			"if t.Len() == 0 {\n\treturn -1\n}; return t.pop()",
			"if t.empty() {\n\treturn -1\n}; WAIT;v := t.At(0); t.drop(); return v",
			"s := 0; for t.Len() > 0 {\n\ts += t.pop()\n}; return s",
			"s := 0; for !t.empty() {\n\ts += t.At(0)\n\tt.drop()\n}; return s",
			"if i := t.find(K); i >= 0 {\n\treturn t.At(i)\n}; return -1",
			"if i := t.find(K); i >= 0 {\n\tWAIT;\n\tt.l[i] = 7\n}; return 0",
			"for i := range t.Len() {\n\tt.l[i]++\n}; return 0",
			"if t.Len() < 3 {\n\tt.push(K)\n\treturn 1\n}; return 0",
			"return t.At(t.Len() - t.Len())",
			"ch := make(chan int, 1); ch <- t.Len(); WAIT;return <-ch*10 + t.Len()",
			"if slices.Contains(t.l, K) {\n\treturn slices.Index(t.l, K)\n}; return -1",
			"t.l = slices.Insert(t.l, 0, K); return len(t.l)",
			"slices.SortFunc(t.l, func(v, w int) int { return w - v }); return t.l[0]",
			"t.l = slices.DeleteFunc(t.l, func(v int) bool { return v == K }); return t.Len()",
			"clear(t.l); return t.Len()",
			"rest := t.l[:0]; for _, v := range t.l {\n\tif v != K {\n\t\trest = append(rest, v)\n\t}\n}; t.l = rest; return len(rest)",
			"s := 0; for v := range t.All() {\n\ts = s*10 + v\n}; return s",
			"s := 0; for v := range t.each() {\n\tWAIT;\n\ts = s*10 + v\n}; return s",
			"s := 0; for _, v := range t.taken() {\n\tWAIT;\n\ts = s*10 + v\n}; return s",
			"all := t.l; s := 0; for _, v := range all {\n\tWAIT;\n\ts = s*10 + v\n}; return s",
			"t.l = shifted(t.l); return t.Len()",
			"turned(t.l); return t.At(0)",
			"sort.Sort(t); return t.At(0)",
			"t.l = append(t.l, K); if t.Len() > 3 {\n\tsort.Sort(t)\n}; return t.At(0)",
		},
	},
	{
		name: "map", names: []string{"m"}, fields: []string{"m map[string]int"}, made: []string{`m: map[string]int{"x": 1}`},
		told:  []string{`t.m["x"]`, `t.m["y"]`, `len(t.m)`},
		types: "func bump(m map[string]int, k string, n int) { m[k] += n }\n\n",
		writers: []string{
			`t.m["x"] += K; return t.m["x"]`,
			`if !t.has("y") {` + "\n\t" + `t.put("y", K)` + "\n\treturn 1\n}; return 0",
			`t.put("x", t.get("x")+K); return 0`,
		},
		forms: []string{
			`if t.has("x") {` + "\n\t" + `return t.get("x")` + "\n}; return -1",
			`if t.has("x") {` + "\n\tWAIT;\n\t" + `t.remove("x")` + "\n\treturn 1\n}; return 0",
			`v := t.get("x"); t.remove("x"); WAIT;t.put("y", v); return v`,
			`return t.get("x")*10 + t.get("y")`,
			`return t.Size()*100 + t.get("x")`,
			"s := 0; for _, k := range []string{\"x\", \"y\"} {\n\ts = s*10 + t.get(k)\n}; return s",
			"for _, k := range []string{\"x\", \"y\"} {\n\tif !t.has(k) {\n\t\treturn 0\n\t}\n}; return 1",
			"for _, k := range []string{\"x\", \"y\"} {\n\tt.put(k, K)\n}; return 0",
			"s := 0; for _, v := range t.m {\n\ts += v\n}; return s",
			"if t.Size() < 2 {\n\tt.put(\"y\", K)\n\treturn 1\n}; return 0",
			`if v := t.get("x"); v > 0 {` + "\n\t" + `t.put("y", v)` + "\n}; return 0",
			"s := 0; for k := range t.Names() {\n\ts += t.get(k)\n}; return s",
			`bump(t.m, "x", K); return t.get("y")`,
			"s := 0; for k, v := range maps.All(t.m) {\n\ts += v * len(k)\n}; return s*10 + t.Size()",
		},
	},
	{
		name: "rooms", names: []string{"rooms"}, fields: []string{"rooms map[string]map[string]int"}, made: []string{`rooms: map[string]map[string]int{"a": {"x": 1}, "b": {}}`},
		told: []string{`t.rooms["a"]["x"]`, `t.rooms["a"]["y"]`, `t.rooms["b"]["x"]`, `len(t.rooms["a"])*10 + len(t.rooms["b"])`},
		writers: []string{
			`t.rooms["a"]["x"] += K; return t.rooms["a"]["x"]`,
			`v := t.rooms["a"]["x"]; WAIT;t.rooms["a"]["x"] = v + K; return v`,
			`r := t.room("a"); r["x"] += K; return len(r)`,
		},
		forms: []string{
			`r := t.rooms["a"]; WAIT;return r["x"]*10 + r["y"]`,
			`r := t.room("a"); if r["x"] > K {` + "\n\t" + `r["y"] = K` + "\n\treturn 1\n}; return 0",
			`if v, ok := t.rooms["a"]["x"]; ok {` + "\n\t" + `delete(t.rooms["a"], "x")` + "\n\tWAIT;\n\t" + `t.rooms["b"]["x"] = v` + "\n\treturn 1\n}; return 0",
			"s := 0; for _, r := range t.rooms {\n\tfor _, v := range r {\n\t\ts += v\n\t}\n}; return s",
			`s := 0; for _, v := range t.Room("a") {` + "\n\tWAIT;\n\ts += v\n}; return s",
			`clear(t.rooms["a"]); return len(t.rooms["b"])`,
			`r := t.rooms["b"]; if r == nil {` + "\n\tr = make(map[string]int)\n\t" + `t.rooms["b"] = r` + "\n}; " + `r["x"]++; return r["x"]`,
		},
	},
	{
		name: "inner", owner: []string{"inner"}, names: []string{"in"}, fields: []string{"in *inner"}, made: []string{"in: &inner{n: 1}"}, told: []string{"t.in.n", "t.in.top"},
		types: "type inner struct{ n, top int }\n\nfunc (i *inner) more(k int) {\n\ti.n += k\n\tif i.n > i.top {\n\t\ti.top = i.n\n\t}\n}\n\n" +
			"func (i *inner) count() int { return i.n }\n\nfunc (i *inner) high() int { return i.top }\n\n",
		writers: []string{
			"t.in.more(K); return t.in.count()",
			"v := t.in.count(); WAIT;t.in.n = v + K; return v",
			"t.grow(K); return 0",
		},
		forms: []string{
			"return t.in.count()*100 + t.in.high()",
			"return t.Count()*100 + t.High()",
			"if t.Count() < 3 {\n\tt.grow(K)\n\treturn 1\n}; return 0",
			"in := t.in; in.more(K); WAIT;return in.high()",
			"t.in = &inner{n: K}; return 0",
			"v := t.Count(); t.in = &inner{n: v, top: v}; return v",
			"*t.in = inner{n: K}; return 0",
			"in := *t.in; in.n += K; t.in = &in; return in.n",
			"old := t.in; t.in = &inner{}; WAIT;return old.high()",
			"if t.in.count() > 0 {\n\tt.in.more(-1)\n\treturn 1\n}; return 0",
		},
	},
	{
		name: "value", owner: []string{"val"}, names: []string{"va"}, fields: []string{"va val"}, made: []string{"va: val{a: 1}"}, told: []string{"t.va.a", "t.va.b"},
		types: "type val struct{ a, b int }\n\nfunc (v *val) bump(k int) {\n\tv.a += k\n\tv.b++\n}\n\nfunc (v val) total() int { return v.a*10 + v.b }\n\n",
		writers: []string{
			"t.va.bump(K); return t.va.a",
			"v := t.va; WAIT;v.a += K; t.va = v; return v.a",
			"t.va.a += K; t.va.b++; return 0",
		},
		forms: []string{
			"t.va = val{a: K}; return 0",
			"return t.va.total()",
			"v := t.va; return v.a*10 + v.b",
			"p := &t.va; p.bump(K); WAIT;return p.total()",
			"old := t.va; t.va = val{b: old.a}; return old.total()",
			"if t.va.total() > 20 {\n\tt.va = val{}\n\treturn 1\n}; return 0",
		},
	},
	{
		name: "rows", owner: []string{"row"}, names: []string{"rows"}, fields: []string{"rows []row"}, made: []string{"rows: []row{{id: 1}, {id: 2}}"},
		told:  []string{"t.rows[0].hits", "t.rows[1].hits", "t.rows[0].id*10 + t.rows[1].id", "len(t.rows)"},
		types: "type row struct{ id, hits int }\n\nfunc (r *row) hit(k int) int {\n\tr.hits += k\n\treturn r.hits\n}\n\n",
		writers: []string{
			"return t.rows[0].hit(K)",
			"t.rows[0].hits += K; return len(t.rows)",
			"r := &t.rows[0]; WAIT;r.hit(K); return r.hits",
			"t.rows = append(t.rows, row{id: K}); return len(t.rows)",
		},
		forms: []string{
			"t.rows = append(t.rows, row{id: K}); return len(t.rows)",
			"r := &t.rows[1]; r.hits += K; return 0",
			"s := 0; for _, r := range t.rows {\n\ts = s*10 + r.hits\n}; return s",
			"for i := range t.rows {\n\tt.rows[i].hit(K)\n}; return 0",
			"t.rows[0], t.rows[1] = t.rows[1], t.rows[0]; return 0",
			"t.rows[1] = row{id: K}; return 0",
			"r := t.rows[0]; r.hits += K; WAIT;t.rows[0] = r; return r.hits",
			"all := make([]row, len(t.rows)); copy(all, t.rows); return all[0].hits*10 + all[1].hits",
			"t.rows = slices.Clone(t.rows); return t.rows[0].hit(K)",
		},
	},
	{
		name: "boxes", owner: []string{"box"}, names: []string{"boxes"}, fields: []string{"boxes map[string]*box"}, made: []string{`boxes: map[string]*box{"x": {n: 1}}`},
		told:  []string{`inBox(t.boxes["x"])`, `inBox(t.boxes["y"])`, "len(t.boxes)"},
		types: "type box struct {\n\tn    int\n\tfull bool\n}\n\nfunc (b *box) fill(k int) int {\n\tb.n += k\n\tb.full = b.n > 3\n\treturn b.n\n}\n\nfunc inBox(b *box) int {\n\tif b == nil {\n\t\treturn -1\n\t}\n\treturn b.n\n}\n\n",
		writers: []string{
			`return t.box("x").fill(K)`,
			`t.box("y").fill(K); return len(t.boxes)`,
			`b := t.boxes["x"]; WAIT;b.n += K; return b.n`,
		},
		forms: []string{
			`t.boxes["x"] = &box{n: K}; return 0`,
			`delete(t.boxes, "y"); return len(t.boxes)`,
			`if b := t.boxes["x"]; b != nil && b.full {` + "\n\treturn b.n\n}; return -1",
			"s := 0; for _, b := range t.boxes {\n\ts += b.n\n}; return s",
			`b := t.box("x"); t.boxes["y"] = b; return b.n`,
			`t.boxes["x"] = &box{n: t.box("x").n + K}; return 0`,
			`old := t.boxes["x"]; t.boxes["x"] = &box{}; return inBox(old)`,
			`t.boxes = map[string]*box{"x": t.boxes["x"]}; return 0`,
		},
	},
	{
		name: "cells", owner: []string{"cell"}, names: []string{"cells"}, fields: []string{"cells map[string]cell"}, made: []string{`cells: map[string]cell{"x": {n: 1}}`},
		told:  []string{`t.cells["x"].n`, `t.cells["x"].m`, `t.cells["y"].n`, "len(t.cells)"},
		types: "type cell struct{ n, m int }\n\nfunc (c cell) more(k int) cell {\n\tc.n += k\n\treturn c\n}\n\n",
		writers: []string{
			`c := t.cells["x"]; c.n += K; t.cells["x"] = c; return c.n`,
			`t.cells["x"] = t.cells["x"].more(K); return 0`,
		},
		forms: []string{
			`return t.cells["x"].n*10 + t.cells["x"].m`,
			`t.cells["y"] = cell{n: K}; return len(t.cells)`,
			`c := t.cells["x"]; c.m = c.n; WAIT;t.cells["x"] = c; return 0`,
			`if t.cells["x"].n > K {` + "\n\t" + `delete(t.cells, "x")` + "\n\treturn 1\n}; return 0",
		},
	},
	{
		name: "interface", owner: []string{"plain", "twice"}, names: []string{"cnt"}, fields: []string{"cnt counter"}, made: []string{"cnt: &plain{p: 1}"}, told: []string{"t.cnt.val()"},
		types: "type counter interface {\n\tinc(k int)\n\tval() int\n}\n\ntype plain struct{ p int }\n\nfunc (c *plain) inc(k int) { c.p += k }\n\nfunc (c *plain) val() int { return c.p }\n\n" +
			"type twice struct{ q int }\n\nfunc (c *twice) inc(k int) { c.q += 2 * k }\n\nfunc (c *twice) val() int { return c.q }\n\n",
		writers: []string{
			"t.cnt.inc(K); return t.cnt.val()",
			"t.cnt.inc(t.cnt.val() + K); return 0",
		},
		forms: []string{
			"return t.cnt.val()*10 + t.cnt.val()",
			"if t.cnt.val() < 3 {\n\tt.cnt.inc(K)\n\treturn 1\n}; return 0",
			"t.cnt = &twice{q: K}; return 0",
			"t.cnt = &twice{q: t.cnt.val()}; return 0",
			"c := t.cnt; c.inc(K); WAIT;return c.val()",
		},
	},
	{
		name: "embedded", owner: []string{"gauge"}, names: []string{"g", "h", "gauge"}, fields: []string{"gauge"}, made: []string{"gauge: gauge{g: 1}"}, told: []string{"t.g", "t.h"},
		types: "type gauge struct{ g, h int }\n\nfunc (g *gauge) raise(k int) {\n\tg.g += k\n\tg.h++\n}\n\nfunc (g *gauge) level() int { return g.g }\n\n",
		writers: []string{
			"t.raise(K); return t.g",
			"t.g += K; WAIT;t.h++; return 0",
		},
		forms: []string{
			"return t.level()*10 + t.h",
			"if t.level() > 2 {\n\tt.gauge = gauge{}\n\treturn 1\n}; return 0",
			"t.gauge = gauge{g: t.h}; return 0",
			"v := t.gauge; return v.g*10 + v.h",
			"p := &t.gauge; p.raise(K); return p.h",
		},
	},
	{
		name: "generic", owner: []string{"ring"}, names: []string{"rg"}, fields: []string{"rg *ring[int]"}, made: []string{"rg: &ring[int]{all: make([]int, 3)}"}, told: []string{"t.rg.next", "digits(t.rg.all)"},
		types: "type ring[V any] struct {\n\tall  []V\n\tnext int\n}\n\nfunc (r *ring[V]) store(v V) int {\n\tr.all[r.next] = v\n\tr.next = (r.next + 1) % len(r.all)\n\treturn r.next\n}\n\n" +
			"func (r *ring[V]) last() V { return r.all[(r.next+len(r.all)-1)%len(r.all)] }\n\nfunc (r *ring[V]) entry(i int) V { return r.all[i%len(r.all)] }\n\n",
		writers: []string{
			"return t.rg.store(K)",
			"t.rg.store(K); return t.rg.last()",
		},
		forms: []string{
			"return t.rg.last()*10 + t.rg.next",
			"t.rg = &ring[int]{all: make([]int, 2)}; return 0",
			"s := 0; for i := range t.rg.next {\n\ts = s*10 + t.rg.entry(i)\n}; return s",
			"n := t.rg.store(K); WAIT;return n*10 + t.rg.entry(n)",
		},
	},
	{
		name: "context", names: []string{"jobs", "late"}, fields: []string{"jobs, late int", "ctx context.Context", "cancel context.CancelFunc"}, told: []string{"t.jobs", "t.late"},
		setup: "t.ctx, t.cancel = context.WithCancel(context.Background())",
		writers: []string{
			"if t.ctx.Err() != nil {\n\treturn -1\n}; t.jobs += K; return t.jobs",
			"select {\ncase <-t.ctx.Done():\n\treturn -1\ndefault:\n}; v := t.jobs; WAIT;t.jobs = v + K; return v",
		},
		forms: []string{
			"t.cancel(); return 0",
			"if t.ctx.Err() != nil {\n\tt.late++\n}; return t.late",
			"t.late = t.jobs; return t.jobs*10 + t.late",
			"if t.jobs > 0 {\n\tt.cancel()\n\treturn 1\n}; return 0",
		},
	},
	{
		name: "queue", owner: []string{"job"}, names: []string{"queue"}, fields: []string{"queue []*job"}, made: []string{"queue: []*job{{}, {tries: 1}}"},
		told:  []string{"jobs(t.queue)"},
		types: "type job struct{ state, tries int }\n\ntype claim struct{ of *job }\n\nfunc jobs(all []*job) (n int) {\n\tfor _, j := range all {\n\t\tn = n*100 + j.state*10 + j.tries\n\t}\n\treturn n\n}\n\n",
		writers: []string{
			"j := t.claim(); if j == nil {\n\treturn -1\n}; WAIT;j.state = 2; return j.tries",
			"j := t.pending(); if j == nil {\n\treturn -1\n}; WAIT;j.state = 1; j.tries++; return j.tries",
			"for j := t.claim(); j != nil; j = t.claim() {\n\tWAIT;\n\tj.state = 2\n}; return 0",
		},
		forms: []string{
			"all := make([]*job, len(t.queue)); copy(all, t.queue); WAIT;s := 0; for _, j := range all {\n\ts = s*100 + j.state*10 + j.tries\n}; return s",
			"var all []*job; for _, j := range t.queue {\n\tif j.state == 0 {\n\t\tall = append(all, j)\n\t}\n}; WAIT;for _, j := range all {\n\tj.tries++\n}; return len(all)",
			"old := t.queue; WAIT;t.queue = nil; s := 0; for _, j := range old {\n\ts = s*100 + j.state*10 + j.tries\n}; return s",
			"n := 0; for _, j := range t.queue {\n\tn += j.tries\n}; WAIT;t.queue = nil; return n",
			"c := &claim{t.pending()}; if c.of == nil {\n\treturn -1\n}; WAIT;c.of.state = 1; return 0",
			"byTries := make(map[int]*job); for _, j := range t.queue {\n\tbyTries[j.tries] = j\n}; WAIT;if j := byTries[1]; j != nil {\n\tj.state = 3\n\treturn 1\n}; return 0",
			"t.queue = append(t.queue, &job{tries: K}); return len(t.queue)",
			"if j := t.pending(); j != nil {\n\treturn j.tries\n}; return -1",
			"slices.SortFunc(t.queue, func(j, k *job) int { return k.tries - j.tries }); n := len(t.queue); t.queue = nil; return n",
			"s := 0; for j := range slices.Values(t.queue) {\n\ts = s*10 + j.tries\n}; return s",
		},
	},
	{
		name: "stop", names: []string{"z", "w", "stopped"}, fields: []string{"z, w int", "stopped bool", "done chan struct{}", "out chan int"},
		made: []string{"done: make(chan struct{})", "out: make(chan int, 4)"}, told: []string{"t.z", "t.w", "t.stopped", "len(t.out)"},
		writers: []string{
			"select {\ncase <-t.done:\n\treturn -1\ndefault:\n}; t.z++; t.w++; return t.z",
			"if t.Stopped() {\n\treturn -1\n}; t.z += K; return t.z",
			"v := t.z; select {\ncase <-t.done:\n\treturn -1\ncase t.out <- v:\n}; t.z = v + K; return 0",
		},
		forms: []string{
			"return t.Z()*10 + t.W()",
			"if t.Stopped() {\n\treturn 0\n}; t.stop(); return 1",
			"select {\ncase t.out <- t.Z() + t.W():\n\treturn 1\ncase <-t.done:\n\treturn 0\n}",
			"if t.Stopped() {\n\treturn t.Z()\n}; t.w += K; return t.W()",
			"if t.z > K {\n\treturn -1\n}; select {\ncase <-t.done:\n\treturn -2\ndefault:\n\tt.w += K\n}; return t.W()",
			"for i := 0; i < t.Z(); i++ {\n\tt.w++\n}; return t.Z()",
		},
	},
	{
		name: "store", owner: []string{"Store"}, names: []string{"st"}, fields: []string{"st *store.Store"}, made: []string{"st: store.New()"},
		told: []string{`t.st.Get("x")`, `t.st.Get("y")`, `t.st.Sum()`},
		writers: []string{
			`t.st.Set("x", K); return t.st.Sum()`,
			`t.st.Add("x", K); return 0`,
		},
		forms: []string{
			`return t.st.Sum()*10 + t.st.Len()`,
			`t.st.Set("y", t.st.Get("x")+K); return 0`,
			`if t.st.Len() < 2 {` + "\n\t" + `t.st.Set("y", K)` + "\n\treturn 1\n}; return 0",
			`return t.st.Mean()`,
			`return t.st.Get("x")*10 + t.st.Get("y")`,
		},
	},
}

// helpers are the methods that operations call.
var helpers = map[string]method{
	"X":       {result: "int", body: "return t.x"},
	"Y":       {result: "int", body: "return t.y"},
	"SetX":    {params: "v int", body: "t.x = v"},
	"SetY":    {params: "v int", body: "t.y = v"},
	"both":    {result: "(int, int)", body: "return t.X(), t.Y()"},
	"add":     {params: "k int", body: "t.x += k; t.y += k"},
	"can":     {params: "k int", result: "bool", body: "return t.x >= k"},
	"move":    {params: "k int", body: "t.x -= k; t.y += k"},
	"weigh":   {params: "v, w int", result: "int", body: "return v*100 + w"},
	"claim":   {result: "*job", body: "for _, j := range t.queue {\n\tif j.state == 0 {\n\t\tj.state = 1\n\t\tj.tries++\n\t\treturn j\n\t}\n}; return nil"},
	"pending": {result: "*job", body: "for _, j := range t.queue {\n\tif j.state == 0 {\n\t\treturn j\n\t}\n}; if len(t.queue) > 3 {\n\treturn t.queue[3]\n}; return nil"},
	"Len":     {result: "int", body: "return len(t.l)"},
	"Less":    {params: "i, j int", result: "bool", body: "return t.l[i] < t.l[j]"},
	"Swap":    {params: "i, j int", body: "t.l[i], t.l[j] = t.l[j], t.l[i]"},
	"At":      {params: "i int", result: "int", body: "if i >= len(t.l) {\n\treturn -1\n}; return t.l[i]"},
	"push":    {params: "v int", body: "t.l = append(t.l, v)"},
	"pop":     {result: "int", body: "if len(t.l) == 0 {\n\treturn 0\n}; v := t.l[0]; t.l = t.l[1:]; return v"},
	"drop":    {body: "if len(t.l) > 0 {\n\tt.l = t.l[1:]\n}"},
	"empty":   {result: "bool", body: "return t.Len() == 0"},
	"find":    {params: "v int", result: "int", body: "for i, w := range t.l {\n\tif v == w {\n\t\treturn i\n\t}\n}; return -1"},
	"All":     {result: "iter.Seq[int]", body: "return slices.Values(t.l)"},
	"each":    {result: "iter.Seq[int]", body: "return func(yield func(int) bool) {\n\tfor i := 0; i < len(t.l); i++ {\n\t\tif !yield(t.l[i]) {\n\t\t\treturn\n\t\t}\n\t}\n}"},
	"Names":   {result: "iter.Seq[string]", body: "return maps.Keys(t.m)"},
	"has":     {params: "k string", result: "bool", body: "_, ok := t.m[k]; return ok"},
	"get":     {params: "k string", result: "int", body: "return t.m[k]"},
	"put":     {params: "k string, v int", body: "t.m[k] = v"},
	"remove":  {params: "k string", body: "delete(t.m, k)"},
	"room":    {params: "k string", result: "map[string]int", body: "return t.rooms[k]"},
	"Room":    {params: "k string", result: "map[string]int", body: "return t.rooms[k]"},
	"taken":   {result: "[]int", body: "return t.l"},
	"Size":    {result: "int", body: "return len(t.m)"},
	"grow":    {params: "k int", body: "t.in.more(k)"},
	"Count":   {result: "int", body: "return t.in.count()"},
	"High":    {result: "int", body: "return t.in.high()"},
	"box":     {params: "k string", result: "*box", body: "b := t.boxes[k]; if b == nil {\n\tb = &box{}\n\tt.boxes[k] = b\n}; return b"},
	"Stopped": {result: "bool", body: "return t.stopped"},
	"stop":    {body: "t.stopped = true; close(t.done)"},
	"Z":       {result: "int", body: "return t.z"},
	"W":       {result: "int", body: "return t.w"},
}

// storeSource is the second package of compounds with a store.
const storeSource = `package store

type Store struct {
	m   map[string]int
	sum int
}

func New() *Store { return &Store{m: map[string]int{"x": 1}, sum: 1} }

func (s *Store) Set(k string, v int) {
	s.sum += v - s.m[k]
	s.m[k] = v
}

func (s *Store) Add(k string, v int) { s.Set(k, s.Get(k)+v) }

func (s *Store) Get(k string) int { return s.m[k] }

func (s *Store) Len() int { return len(s.m) }

func (s *Store) Sum() int { return s.sum }

func (s *Store) Mean() int {
	if s.Len() == 0 {
		return 0
	}
	return s.Sum() * 10 / s.Len()
}
`
