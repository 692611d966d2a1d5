// Package once publishes too early, and only once: the trace ends before the update
// does.
package once

type config struct{ limit *int }

type server struct{ cfg *config }

func (s *server) load(n int) {
	c := &config{}
	s.cfg = c    // publish
	c.limit = &n // complete
}

func (s *server) use() int {
	c := s.cfg // take
	if c == nil {
		return 0
	}
	return *c.limit // use
}

func Run() {
	s := new(server)
	go s.load(3)
	s.use()
}
