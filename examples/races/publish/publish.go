// Package publish hands a structure to readers before it is complete.
package publish

// A Config is what the readers want.
type Config struct {
	limits []int
}

// A Server publishes its configuration.
type Server struct {
	config *Config
}

// Publish makes the configuration visible, and only then fills it in.
func (s *Server) Publish() {
	c := &Config{}
	s.config = c
	c.limits = []int{10, 20}
}

// Unpublish takes it back.
func (s *Server) Unpublish() {
	s.config = nil
}

// Limit returns the first limit, or 0 if nothing is published.
func (s *Server) Limit() int {
	c := s.config
	if c == nil {
		return 0
	}
	return c.limits[0]
}
