package fixes

// contextModel is package context as far as random packages use it, for the judge: the real one is
// made of variables that its initialisation sets, which the judge does not run, and of much that no
// schedule depends on.
const contextModel = `package context

import "sync"

type Context interface {
	Done() <-chan struct{}
	Err() error
}

type CancelFunc func()

type canceled struct{}

func (canceled) Error() string { return "context canceled" }

type background struct{}

func (background) Done() <-chan struct{} { return nil }

func (background) Err() error { return nil }

func Background() Context { return background{} }

type cancelCtx struct {
	mu   sync.Mutex
	done chan struct{}
	over bool
}

func (c *cancelCtx) Done() <-chan struct{} { return c.done }

func (c *cancelCtx) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return canceled{}
	}
	return nil
}

func (c *cancelCtx) cancel() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.over {
		c.over = true
		close(c.done)
	}
}

func WithCancel(Context) (Context, CancelFunc) {
	c := &cancelCtx{done: make(chan struct{})}
	return c, c.cancel
}
`
