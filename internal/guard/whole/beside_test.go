package whole_test

import (
	"slices"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/guard/whole"
)

// TestWhatDataLeadsToIsFound: the lock of a map is none for the objects that are its values or its
// keys, and what is written of them without a lock is found.
func TestWhatDataLeadsToIsFound(t *testing.T) {
	pkgs, a := analyse(t, []byte(`package p

import "sync"

type Client struct {
	name string
	out  []string
	id   int
}

func (c *Client) send(m string)     { c.out = append(c.out, m) }
func (c *Client) Messages() []string { return c.out }
func (c *Client) Rename(n string)    { c.name = n }

type Room struct {
	mu      sync.Mutex
	clients map[*Client]bool
}

func (r *Room) Join(id int) *Client {
	c := &Client{id: id}
	r.mu.Lock()
	r.clients[c] = true
	r.mu.Unlock()
	return c
}

func (r *Room) Say(from *Client, m string) {
	line := from.name + m
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.clients {
		c.send(line)
	}
}
`))
	_, data := guarded(pkgs[0].Types.Scope().Lookup("Room"))
	var got []string
	for _, x := range whole.BehindData(a, data) {
		got = append(got, x.Site.Func.Name()+" "+x.Variable.Name())
	}
	slices.Sort(got)
	if want := []string{"Rename name", "send out"}; !slices.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
}
