package whole_test

import (
	"fmt"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/guard/lockset"
	"github.com/cofferdam-go/cofferdam/internal/guard/whole"
	"github.com/cofferdam-go/cofferdam/internal/load"
	"github.com/cofferdam-go/cofferdam/internal/locks"
)

var mark = regexp.MustCompile(`//((open|with) \w+ \d+|split \w+)$`)

// TestGroups: in the file of testdata, the lock of a struct is mu and guards all its other
// fields. A line that ends in "//open n 1" has an access to n that may be made without the
// lock, in the first broken group of its function; "//with n 1" has one that is made with it
// and belongs to that group; "//split n" has the store of an update that is taken apart. Other
// lines are in no broken group.
func TestGroups(t *testing.T) {
	text, err := os.ReadFile("testdata/groups.go.txt")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for i, line := range strings.Split(string(text), "\n") {
		if m := mark.FindStringSubmatch(line); m != nil {
			want = append(want, fmt.Sprintf("%d: %s", i+1, m[1]))
		}
	}
	pkgs, a := analyse(t, text)
	var got []string
	for _, name := range pkgs[0].Types.Scope().Names() {
		lock, data := guarded(pkgs[0].Types.Scope().Lookup(name))
		if lock == nil {
			continue
		}
		number := make(map[*ssa.Function]int)
		for _, g := range whole.Broken(a, data, lock) {
			number[g.Func]++
			got = append(got, describe(a, g, number[g.Func])...)
		}
	}
	slices.SortFunc(got, byLine)
	if d := cmp.Diff(want, slices.Compact(got)); d != "" {
		t.Errorf("broken groups (-want +got):\n%s", d)
	}
}

// describe tells a broken group in the words of the marks.
func describe(a *lockset.Analysis, g *whole.Group, number int) []string {
	var all []string
	line := func(m *whole.Member) int { return a.Program.Fset.Position(m.At).Line }
	openLines := make(map[int]bool)
	for _, m := range g.Members {
		if m.Open {
			openLines[line(m)] = true
		}
	}
	open := len(openLines) > 0
	for _, m := range g.Members {
		switch {
		case m.Open:
			all = append(all, fmt.Sprintf("%d: open %s %d", line(m), m.Variable.Name(), number))
		case open && !openLines[line(m)]:
			all = append(all, fmt.Sprintf("%d: with %s %d", line(m), m.Variable.Name(), number))
		}
	}
	for _, m := range g.Split {
		if !open {
			all = append(all, fmt.Sprintf("%d: split %s", line(m), m.Variable.Name()))
		}
	}
	return all
}

// TestWithoutALockAllAreOpen: before a lock is there, each access that conflicts with another
// is open, and a constructor's is not.
func TestWithoutALockAllAreOpen(t *testing.T) {
	text, err := os.ReadFile("testdata/groups.go.txt")
	if err != nil {
		t.Fatal(err)
	}
	pkgs, a := analyse(t, text)
	_, data := guarded(pkgs[0].Types.Scope().Lookup("counter"))
	functions := make(map[string]bool)
	for _, g := range whole.Broken(a, data, nil) {
		functions[g.Func.Name()] = true
		if len(g.Split) > 0 {
			t.Errorf("%s is split by a lock that is not there", g.Func)
		}
	}
	for name, want := range map[string]bool{"Whole": true, "locked": true, "Read": true, "NewCounter": false} {
		if functions[name] != want {
			t.Errorf("%s has open accesses: %t, want %t", name, functions[name], want)
		}
	}
}

// TestTears: in the file of testdata, a line that ends in "//torn n" has a member that belongs to one
// in another section, "//unknown n" one of which it cannot be told whether the lock of its object is
// held, "//open n" one that does not have it, "//split n" the store of an update that is taken apart. Other lines
// are whole.
func TestTears(t *testing.T) {
	text, err := os.ReadFile("testdata/torn.go.txt")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for i, line := range strings.Split(string(text), "\n") {
		if _, words, ok := strings.Cut(line, " //"); ok {
			want = append(want, fmt.Sprintf("%d: %s", i+1, words))
		}
	}
	pkgs, a := analyse(t, text)
	scope := pkgs[0].Types.Scope()
	var got []string
	tell := func(word string, m *whole.Member) {
		got = append(got, fmt.Sprintf("%d: %s %s", a.Program.Fset.Position(m.At).Line, word, m.Variable.Name()))
	}
	var groups []*whole.Group
	for _, pair := range [][2]string{{"hist", "hist"}, {"stack", "stack"}, {"journal", "journal"}, {"drained", "drained"}, {"pool", "conn"}, {"tasks", "task"}, {"room", "room"}, {"quota", "quota"}} {
		lock, _ := guarded(scope.Lookup(pair[0]))
		_, data := guarded(scope.Lookup(pair[1]))
		groups = append(groups, whole.Broken(a, data, lock)...)
	}
	for _, g := range groups {
		for _, tear := range g.Torn {
			tell("torn", tear.Second)
		}
		for _, m := range g.Split {
			tell("split", m)
		}
		for _, m := range g.Members {
			switch {
			case m.Open && !m.ByCall():
				tell("open", m)
			case m.Unknown && !m.ByCall():
				tell("unknown", m)
			}
		}
	}
	// A line that is torn in several ways is marked once.
	got = slices.DeleteFunc(slices.Compact(got), func(line string) bool {
		return !slices.Contains(want, line) && slices.ContainsFunc(want, func(w string) bool { return strings.HasPrefix(w, line[:strings.IndexByte(line, ':')+1]) })
	})
	slices.SortFunc(got, byLine)
	if d := cmp.Diff(want, slices.Compact(got)); d != "" {
		t.Errorf("what is not whole (-want +got):\n%s", d)
	}
}

func byLine(x, y string) int {
	var i, j int
	fmt.Sscan(x, &i)
	fmt.Sscan(y, &j)
	return i - j
}

// guarded returns the lock and the data of a struct type, nil of anything else.
func guarded(o types.Object) (lock *types.Var, data []*types.Var) {
	st, ok := o.Type().Underlying().(*types.Struct)
	if !ok {
		return nil, nil
	}
	for f := range st.Fields() {
		if f.Name() == "mu" {
			lock = f
		} else {
			data = append(data, f)
		}
	}
	return lock, data
}

func analyse(t *testing.T, text []byte) ([]*packages.Package, *lockset.Analysis) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string][]byte{"go.mod": []byte("module example.com/p\n\ngo 1.26\n"), "p.go": text} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	pkgs, err := load.Packages(load.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	prog, _ := load.SSA(pkgs)
	none := func(*ssa.Function) ([]*locks.Place, bool) { return nil, false }
	return pkgs, lockset.Analyse(prog, pkgs, lockset.Places(pkgs), none)
}

// TestStoreThatIsCheckedAgainIsWhole: a store that a look of an earlier section decides about is not split
// from it if the same look is made again in the section of the store; one at another key does not count.
func TestStoreThatIsCheckedAgainIsWhole(t *testing.T) {
	pkgs, a := analyse(t, []byte(`package p

import "sync"

type cache struct {
	mu    sync.Mutex
	items map[string]int
}

func (c *cache) Again(k string, f func() int) int {
	c.mu.Lock()
	if v, ok := c.items[k]; ok {
		c.mu.Unlock()
		return v
	}
	c.mu.Unlock()
	v := f()
	c.mu.Lock()
	defer c.mu.Unlock()
	if v, ok := c.items[k]; ok {
		return v
	}
	c.items[k] = v
	return v
}

func (c *cache) Other(k string, f func() int) int {
	c.mu.Lock()
	if v, ok := c.items[k]; ok {
		c.mu.Unlock()
		return v
	}
	c.mu.Unlock()
	v := f()
	c.mu.Lock()
	defer c.mu.Unlock()
	if v, ok := c.items["other"]; ok {
		return v
	}
	c.items[k] = v
	return v
}

func (c *cache) Add(k string, f func() int) {
	c.mu.Lock()
	v := c.items[k]
	c.mu.Unlock()
	n := f()
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.items[k]; ok {
		return
	}
	c.items[k] = v + n
}
`))
	lock, data := guarded(pkgs[0].Types.Scope().Lookup("cache"))
	split := make(map[string]bool)
	for _, g := range whole.Broken(a, data, lock) {
		if len(g.Split) > 0 || len(g.Torn) > 0 {
			split[g.Func.Name()] = true
		}
	}
	if split["Again"] || !split["Other"] || !split["Add"] {
		t.Errorf("updates are taken apart in %v, want Other and Add", split)
	}
}

// TestLiteralsThatAGenericFunctionReturnsAreSeen: an instance is called, and the literal that it returns is
// left to code outside.
func TestLiteralsThatAGenericFunctionReturnsAreSeen(t *testing.T) {
	pkgs, a := analyse(t, []byte(`package p

import "sync"

type Topic[T any] struct {
	mu       sync.Mutex
	handlers map[int]func(T)
}

func (t *Topic[T]) Subscribe(id int, h func(T)) (unsubscribe func()) {
	t.mu.Lock()
	t.handlers[id] = h
	t.mu.Unlock()
	return func() { delete(t.handlers, id) }
}

var topic = &Topic[string]{handlers: map[int]func(string){}}

func init() { topic.Subscribe(1, nil) }
`))
	lock, data := guarded(pkgs[0].Types.Scope().Lookup("Topic"))
	broken := whole.Broken(a, data, lock)
	if len(broken) != 1 || broken[0].Func.Parent() == nil {
		t.Errorf("not whole are %v, want the literal that Subscribe returns", broken)
	}
}

// TestBodiesOfLoopsOverIteratorsHaveTheLock: the body of a loop over an iterator runs with the locks that are
// held around the loop, and with those that the iterator holds when it yields.
func TestBodiesOfLoopsOverIteratorsHaveTheLock(t *testing.T) {
	pkgs, a := analyse(t, []byte(`package p

import (
	"iter"
	"maps"
	"slices"
	"sync"
)

type set struct {
	mu    sync.Mutex
	items map[string]int
	order []string
	total int
}

func (s *set) Add(k string, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.order = append(s.order, k)
	s.items[k] += n
	s.total += n
}

func (s *set) locked() iter.Seq[string] {
	return func(yield func(string) bool) {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, k := range s.order {
			if !yield(k) {
				return
			}
		}
	}
}

func (s *set) copied() iter.Seq[string] {
	return func(yield func(string) bool) {
		s.mu.Lock()
		order := slices.Clone(s.order)
		s.mu.Unlock()
		for _, k := range order {
			if !yield(k) {
				return
			}
		}
	}
}

func (s *set) BesideIterator() (n int) {
	for range s.locked() {
		n += s.total
	}
	return n
}

func (s *set) BesideCopy() (n int) {
	for range s.copied() {
		n += s.total
	}
	return n
}

func (s *set) BesideLibrary() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k := range slices.Values(s.order) {
		n += s.items[k]
	}
	for k := range maps.Keys(s.items) {
		n += s.items[k]
	}
	return n
}

func (s *set) BesideLibraryWithoutLock(names []string) (n int) {
	for k := range slices.Values(names) {
		n += s.items[k]
	}
	return n
}
`))
	lock, data := guarded(pkgs[0].Types.Scope().Lookup("set"))
	var got []string
	for _, g := range whole.Broken(a, data, lock) {
		for _, m := range g.Members {
			if name := g.Func.String(); m.Open || m.Unknown {
				got = append(got, name[strings.LastIndex(name, ".")+1:])
			}
		}
	}
	slices.Sort(got)
	got = slices.Compact(got)
	if want := []string{"BesideCopy$1", "BesideLibraryWithoutLock$1"}; !slices.Equal(got, want) {
		t.Errorf("without the lock are %v, want %v", got, want)
	}
}

// TestWhatASyncOnceInitialisesIsSharedBeforeIt: what a sync.Once writes needs a lock if something may read it
// before that is done, and needs none if all others come after a Do.
func TestWhatASyncOnceInitialisesIsSharedBeforeIt(t *testing.T) {
	pkgs, a := analyse(t, []byte(`package p

import "sync"

type catalog struct {
	once    sync.Once
	entries map[string]int
	names   []string
	loads   int
}

func (c *catalog) load() {
	c.once.Do(func() {
		c.entries = map[string]int{"pen": 2}
		c.names = append(c.names, "pen")
		c.loads++
	})
}

func (c *catalog) Price(name string) int { c.load(); return c.entries[name] }

func (c *catalog) Size() int { return len(c.entries) }

func (c *catalog) First() string {
	c.load()
	return c.first()
}

func (c *catalog) first() string { return c.names[0] }

func (c *catalog) Later(done chan string) {
	c.load()
	go func() { done <- c.names[0] }()
}

func (c *catalog) Loads(now bool) int {
	if now {
		c.load()
	}
	return c.loads
}
`))
	_, data := guarded(pkgs[0].Types.Scope().Lookup("catalog"))
	var got []string
	for _, g := range whole.Broken(a, data, nil) {
		for _, m := range g.Members {
			got = append(got, g.Func.Name()+" "+m.Variable.Name())
		}
	}
	slices.Sort(got)
	got = slices.Compact(got)
	if want := []string{"Loads loads", "Price entries", "Size entries", "load$1 entries", "load$1 loads"}; !slices.Equal(got, want) {
		t.Errorf("open are %v, want %v", got, want)
	}
}
