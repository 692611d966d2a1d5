package whole_test

import (
	"go/types"
	"slices"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/guard/whole"
)

// TestHalfGuardedDataIsFound: what is accessed with a lock in one place and without it in another
// is half guarded, also if the lock is another object's; what a lock of its own guards, what is
// only read, and what is written before it is shared is not.
func TestHalfGuardedDataIsFound(t *testing.T) {
	pkgs, a := analyse(t, []byte(`package p

import "sync"

type Conn struct {
	busy bool
	name string
	own  sync.Mutex
	uses int
}

type Pool struct {
	mu    sync.Mutex
	conns []*Conn
	size  int
}

func New(n int) *Pool { return &Pool{size: n} }

func (p *Pool) Get() *Conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		if !c.busy && c.name != "" {
			c.busy = true
			c.own.Lock()
			c.uses++
			c.own.Unlock()
			return c
		}
	}
	c := &Conn{name: "new", busy: true}
	p.conns = append(p.conns, c)
	return c
}

func (p *Pool) Put(c *Conn) { c.busy = false }

func (p *Pool) Size() int { return p.size }

func (c *Conn) Name() string { return c.name }

func (c *Conn) Uses() int {
	c.own.Lock()
	defer c.own.Unlock()
	return c.uses
}
`))
	lock, _ := guarded(pkgs[0].Types.Scope().Lookup("Pool"))
	var got []string
	for _, h := range whole.Half(a, lock) {
		got = append(got, h.Variable.Name()+" in "+h.Without[0].Instr.Parent().Name())
	}
	if want := []string{"busy in Put"}; !slices.Equal(got, want) {
		t.Errorf("half guarded are %v, want %v", got, want)
	}
}

// TestAPartOfAStructIsTheStruct: an access to a field of a struct that a field holds by value is
// one to that field.
func TestAPartOfAStructIsTheStruct(t *testing.T) {
	pkgs, a := analyse(t, []byte(`package p

import "sync"

type Config struct {
	Host string
	Tags map[string]string
}

type Store struct {
	mu  sync.Mutex
	cur Config
}

func (s *Store) Set(c Config) { s.mu.Lock(); s.cur = c; s.mu.Unlock() }

func (s *Store) SetTag(k, v string) { s.cur.Tags[k] = v }

func (s *Store) Host() string { s.mu.Lock(); defer s.mu.Unlock(); return s.cur.Host }
`))
	lock, data := guarded(pkgs[0].Types.Scope().Lookup("Store"))
	var got []string
	for _, g := range whole.Broken(a, data, lock) {
		got = append(got, g.Func.Name())
	}
	if want := []string{"SetTag"}; !slices.Equal(slices.Compact(got), want) {
		t.Errorf("open are %v, want %v", got, want)
	}
}

// TestLockOfATreeIsHeldHoweverDeepItsNodesAre: a function that calls itself has no name for the lock of
// what it began with after some calls, and holds it all the same.
func TestLockOfATreeIsHeldHoweverDeepItsNodesAre(t *testing.T) {
	pkgs, a := analyse(t, []byte(`package p

import "sync"

type Tree struct {
	mu   sync.Mutex
	root *node
}

type node struct {
	key         int
	left, right *node
}

func (t *Tree) Insert(k int) { t.mu.Lock(); defer t.mu.Unlock(); t.root = t.insert(t.root, k) }

func (t *Tree) insert(n *node, k int) *node {
	if n == nil {
		return &node{key: k}
	}
	if k < n.key {
		n.left = t.insert(n.left, k)
	} else {
		n.right = t.insert(n.right, k)
	}
	return n
}

func (n *node) sum() int {
	if n == nil {
		return 0
	}
	return n.key + n.left.sum() + n.right.sum()
}

func (t *Tree) Sum() int { t.mu.Lock(); defer t.mu.Unlock(); return t.root.sum() }

func (n *node) count() int {
	if n == nil {
		return 0
	}
	return 1 + n.left.count() + n.right.count()
}

func (t *Tree) Count() int { return t.root.count() }
`))
	tree := pkgs[0].Types.Scope().Lookup("Tree").Type().Underlying().(*types.Struct)
	functions := make(map[string]bool)
	for _, h := range whole.Half(a, tree.Field(0)) {
		for _, o := range h.Without {
			functions[o.Instr.Parent().Name()] = true
		}
	}
	if !functions["count"] || !functions["Count"] || len(functions) != 2 {
		t.Errorf("without the lock are accesses in %v, want those of Count and count", functions)
	}
}
