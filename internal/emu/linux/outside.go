package linux

import (
	"fmt"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/emu/sockets"
)

// outsideWithin is how long something is waited for that comes from outside.
const outsideWithin = 5 * time.Second

// waitsOutside reports whether a thread waits for what is outside. With clients, sockets that
// listen count too, and are opened on the host: the process has nothing else to wait for.
func (p *Process) waitsOutside(clients bool) bool {
	outside := false
	for _, s := range p.awaitedSockets() {
		if s.Listening() && clients {
			if err := p.net.Expose(s); err != nil {
				p.note("the program listens at %s, where no client from outside can reach it: %v", s.Local(), err)
			} else {
				p.used.Outside = true
				p.note("the program listens at %s, and was given clients from outside of the emulation: what they send is not under control", s.Local())
			}
		}
		outside = outside || s.Outside() && (clients || !s.Listening())
	}
	return outside
}

// awaitedSockets are the sockets that threads wait for, also by epoll, and in children.
func (p *Process) awaitedSockets() []*sockets.Socket {
	var all []*sockets.Socket
	for _, one := range p.family() {
		add := func(fd uint64) {
			if d := one.fd(fd); d != nil && d.node.Socket != nil {
				all = append(all, d.node.Socket)
			}
		}
		for _, t := range one.threads {
			if t.Ended || t.wait.kind != onFiles {
				continue
			}
			for _, f := range t.wait.fds {
				add(f.fd)
				if d := one.fd(f.fd); d != nil && d.node.Watched != nil {
					for fd := range d.node.Watched.Files {
						add(fd)
					}
				}
			}
		}
	}
	return all
}

// awaitOutside waits, in real time, until a thread can go on because of what came from outside,
// or until the next moment of the program's own time. What has passed has passed for the
// program, too.
func (p *Process) awaitOutside(m *Moment, timed bool) {
	world := p.net.World()
	start := time.Now()
	within := outsideWithin
	if timed {
		within = time.Duration(m.In)
	}
	late := time.NewTimer(within)
	defer late.Stop()
	for {
		changes := world.Changes()
		if p.anyArrived() {
			p.Pass(int64(min(time.Since(start), within)))
			return
		}
		select {
		case <-changes:
			continue
		case <-late.C:
		}
		if p.Pass(int64(within)); !timed {
			p.exit = &Exit{Reason: Lacking, Text: fmt.Sprintf("the program waits for something from outside (%s), and nothing came within %v: have it come at once, in every run", p.awaitedNames(), outsideWithin)}
		}
		return
	}
}

// anyArrived reports whether a thread, of a child or its own, waits for files of which one is
// ready.
func (p *Process) anyArrived() bool {
	for _, one := range p.family() {
		for _, t := range one.threads {
			if !t.Ended && t.wait.kind == onFiles && one.anyReady(t.wait.fds) {
				return true
			}
		}
	}
	return false
}

// awaitedNames are the addresses from which something is waited for.
func (p *Process) awaitedNames() string {
	names := ""
	for _, s := range p.awaitedSockets() {
		switch {
		case !s.Outside():
			continue
		case names != "":
			names += ", "
		}
		if s.Listening() {
			names += "a client at " + s.Local().String()
		} else {
			names += s.Remote().String()
		}
	}
	return names
}
