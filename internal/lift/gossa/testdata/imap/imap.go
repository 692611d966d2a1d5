// Package imap is Mozilla bug 391259, the paper's thunderbird: a transport is
// checked, then used, while another goroutine takes it away.
package imap

type transport struct{ timeout [2]int }

func (t *transport) setTimeout(kind, n int) { t.timeout[kind] = n }

type protocol struct{ transport *transport }

func (p *protocol) closeStreams() {
	if p.transport != nil {
		p.transport = nil // take away
	}
}

func (p *protocol) processCurrentURL() {
	if p.transport != nil { // check
		p.transport.setTimeout(1, 30) // use
	}
}

func Run() {
	p := &protocol{transport: new(transport)}
	done := make(chan bool)
	go func() {
		p.closeStreams()
		done <- true
	}()
	for range 3 {
		p.processCurrentURL()
	}
	<-done
}
