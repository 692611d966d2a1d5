package main

import "time"

// synchronise is the plug-in: it writes what the server's lock guards, without it.
func synchronise(s *Server, pace *Pace) {
	for !pace.Begun {
		time.Sleep(time.Millisecond)
	}
	s.total = 0
	pace.Interfered = true
}
