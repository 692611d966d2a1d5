package uncovered

import (
	"fmt"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/guard/lockset"
	"github.com/cofferdam-go/cofferdam/internal/load"
	"github.com/cofferdam-go/cofferdam/internal/locks"
	"github.com/cofferdam-go/cofferdam/internal/repair/cover"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// TestLinesAreShort: accesses of one function for one reason are one line, and a list that is too
// long to read is cut, with the number of what is left out.
func TestLinesAreShort(t *testing.T) {
	all := []Access{
		{File: "/p/a.go", Line: 3, Func: "(*T).F", Data: "n", Write: true, Why: "no lock"},
		{File: "/p/a.go", Line: 9, Func: "(*T).G", Data: "n", Why: "no lock"},
		{File: "/p/a.go", Line: 5, Func: "(*T).F", Data: "m", Write: true, Why: "no lock"},
		{File: "/p/a.go", Line: 4, Func: "(*T).F", Data: "m", Why: "no lock"},
	}
	want := []string{"write of n, m in (*T).F (a.go:3-5): no lock", "read of n in (*T).G (a.go:9): no lock", "read of m in (*T).F (a.go:4): no lock"}
	if got := Lines(all); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for i := range 20 {
		all = append(all, Access{File: "/p/b.go", Line: i, Func: fmt.Sprint("F", i), Data: "x", Why: "no lock"})
	}
	lines := Lines(all)
	if len(lines) != mostLines+1 || lines[mostLines] != "and 11 more, which -json has" {
		t.Errorf("of %d accesses: %q", len(all), lines)
	}
}

// TestAnAccessIsToldOnce: a line that is added again for the same data is one access, which writes if
// either does.
func TestAnAccessIsToldOnce(t *testing.T) {
	x := Access{File: "a.go", Line: 3, Data: "n", Why: "first"}
	y := Access{File: "a.go", Line: 3, Data: "n", Write: true, Why: "second"}
	all := Add(Add(nil, x), y, Access{File: "a.go", Line: 3, Data: "m"})
	if len(all) != 2 || !all[0].Write || all[0].Why != "first" {
		t.Errorf("%+v", all)
	}
}

// TestWhatHasTheLockIsNotToldAsUnguarded: of data beside that of a lock, the accesses without the lock are
// told, and not those that have it.
func TestWhatHasTheLockIsNotToldAsUnguarded(t *testing.T) {
	fix := fixOf(t, `package p

import "sync"

type Breaker struct {
	mu       sync.Mutex
	failures int
	open     bool
}

func (b *Breaker) IsOpen() bool { b.mu.Lock(); defer b.mu.Unlock(); return b.open }

func (b *Breaker) Fail() {
	b.mu.Lock()
	b.failures++
	b.mu.Unlock()
	b.open = true
}
`, "Breaker", 0, 1)
	open := fix.Code.OwnerOf(fix.Lock).Underlying().(*types.Struct).Field(2)
	want := []string{"write of open in (*Breaker).Fail (p.go:17): the lock is held at other accesses to it, and cannot be taken at all of them"}
	if got := Lines(fix.Companions([]*types.Var{open}, nil)); !slices.Equal(got, want) {
		t.Errorf("told is %q, want %q", got, want)
	}
}

// TestWhatIsHandedOutIsTold: addresses and objects that users are given are told, of the data of the lock and
// of what is accessed with the lock alone.
func TestWhatIsHandedOutIsTold(t *testing.T) {
	fix := fixOf(t, `package p

import "sync"

type Stats struct{ Hits int }

type Cache struct {
	mu    sync.Mutex
	size  int
	stats Stats
	count int
	free  int
}

func (c *Cache) Get() {
	c.mu.Lock()
	c.size++
	c.stats.Hits++
	c.count++
	c.mu.Unlock()
	c.free++
}

func (c *Cache) Stats() *Stats { return &c.stats }

func (c *Cache) Size() *int { return &c.size }

func (c *Cache) Count() *int { return &c.count }

func (c *Cache) Free() *int { return &c.free }
`, "Cache", 0, 1)
	want := []string{
		"read of stats in (*Cache).Stats (p.go:24): its address is returned to users of the package, who do not have the lock",
		"read of size in (*Cache).Size (p.go:26): its address is returned to users of the package, who do not have the lock",
		"read of count in (*Cache).Count (p.go:28): its address is returned to users of the package, who do not have the lock",
	}
	if got := Lines(fix.handedOut()); !slices.Equal(got, want) {
		t.Errorf("told is %q, want %q", got, want)
	}
}

// TestWhatLeavesTheLockIsTold: a slice that the lock guards in fact, and that a method returns while others shift it in
// place, is told with a fix for other data.
func TestWhatLeavesTheLockIsTold(t *testing.T) {
	fix := fixOf(t, `package p

import "sync"

type Room struct {
	mu      sync.Mutex
	log     []string
	members []string
	topics  []string
}

func (r *Room) Say(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.log = append(r.log, text)
	r.topics = append(r.topics, text)
}

func (r *Room) Leave(i int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	copy(r.members[i:], r.members[i+1:])
	r.members = r.members[:len(r.members)-1]
}

func (r *Room) Members() []string { r.mu.Lock(); defer r.mu.Unlock(); return r.members }

func (r *Room) Topics() []string { r.mu.Lock(); defer r.mu.Unlock(); return r.topics }
`, "Room", 0, 1)
	want := []string{"read of members in (*Room).Members (p.go:26): it is handed to code without the lock, and changed in place"}
	if got := Lines(fix.Beside()); !slices.Equal(got, want) {
		t.Errorf("told is %q, want %q", got, want)
	}
}

// TestWhatALockOfAnEarlierRoundLeavesIsTold: of the lock of an earlier round is told what the later one does not guard
// either, and which objects are handed out.
func TestWhatALockOfAnEarlierRoundLeavesIsTold(t *testing.T) {
	fix := fixOf(t, `package p

import "sync"

type Item struct{ Stock int }

type Store struct {
	mu       sync.Mutex
	laterMu  sync.Mutex
	versions map[string]int
	streams  map[string]int
	items    map[string]*Item
}

func (s *Store) Append(k string, n int) bool {
	s.laterMu.Lock()
	defer s.laterMu.Unlock()
	if s.version(k) != n {
		return false
	}
	s.mu.Lock()
	s.versions[k] = n + 1
	s.mu.Unlock()
	return true
}

func (s *Store) version(k string) int { s.mu.Lock(); defer s.mu.Unlock(); return s.versions[k] }

func (s *Store) Write(k string) {
	if s.stream(k) > 0 {
		s.mu.Lock()
		s.streams[k]++
		s.mu.Unlock()
	}
}

func (s *Store) stream(k string) int { s.mu.Lock(); defer s.mu.Unlock(); return s.streams[k] }

func (s *Store) Item(k string) *Item {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.items[k].Stock++
	return s.items[k]
}
`, "Store", 0, 2, 3, 4)
	later := fix.Code.OwnerOf(fix.Lock).Underlying().(*types.Struct).Field(1)
	want := []string{
		"write of streams in (*Store).Write (p.go:32): the lock is released between the read of streams (p.go:30) and this one, which belongs to it",
		"read of Stock in (*Store).Item (p.go:43): the object that has it is returned to users of the package, who do not have the lock",
	}
	left, whole := fix.LeftBy(later)
	if got := Lines(left); !slices.Equal(got, want) || !whole {
		t.Errorf("left are %q, want %q", got, want)
	}
	if left, _ := fix.LeftBy(nil); len(left) != len(want)+1 {
		t.Errorf("left by a change without a lock are %q", Lines(left))
	}
}

// fixOf is a fix of a program, with fields of a struct as the lock and its data.
func fixOf(t *testing.T, text, owner string, lock int, data ...int) *Fix {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module p\n\ngo 1.26\n", "p.go": text} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pkgs, err := load.Packages(load.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	files, err := source.Read(pkgs, nil)
	if err != nil {
		t.Fatal(err)
	}
	prog, _ := load.SSA(pkgs)
	held := lockset.Analyse(prog, pkgs, lockset.Places(pkgs), func(*ssa.Function) ([]*locks.Place, bool) { return nil, false })
	st := pkgs[0].Types.Scope().Lookup(owner).Type().Underlying().(*types.Struct)
	fix := &Fix{Program: &Program{Code: cover.NewCode(files), Held: held}, Lock: st.Field(lock)}
	for _, i := range data {
		fix.Data = append(fix.Data, st.Field(i))
	}
	return fix
}

// TestWhatALibraryTakesApartIsTold: a library calls several methods that take the lock by themselves.
func TestWhatALibraryTakesApartIsTold(t *testing.T) {
	fix := fixOf(t, `package p

import (
	"fmt"
	"sort"
	"sync"
)

type Queue struct {
	mu   sync.Mutex
	jobs []string
}

func (q *Queue) Len() int           { q.mu.Lock(); defer q.mu.Unlock(); return len(q.jobs) }
func (q *Queue) Less(i, j int) bool { q.mu.Lock(); defer q.mu.Unlock(); return q.jobs[i] < q.jobs[j] }
func (q *Queue) Swap(i, j int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.jobs[i], q.jobs[j] = q.jobs[j], q.jobs[i]
}

func (q *Queue) String() string { q.mu.Lock(); defer q.mu.Unlock(); return q.jobs[0] }

func (q *Queue) Show() { fmt.Println(q) }
func (q *Queue) Sort() { sort.Sort(q) }
`, "Queue", 0, 1)
	want := []string{"write of jobs in (*Queue).Sort (p.go:25): Sort calls Len, Less, Swap, and each of them takes the lock by itself"}
	if got := Lines(fix.ByLibrary()); !slices.Equal(got, want) {
		t.Errorf("told is %q, want %q", got, want)
	}
}
