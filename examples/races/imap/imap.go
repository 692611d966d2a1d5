// Package imap is the client of a mail server, with a transport that is closed
// between check and use: Mozilla bug 391259.
package imap

import (
	"errors"
	"time"
)

// ErrClosed is returned when the transport is gone.
var ErrClosed = errors.New("imap: transport closed")

// A Transport carries the client's commands.
type Transport struct {
	read, write time.Duration
}

// SetTimeout sets how long reading and writing may take.
func (t *Transport) SetTimeout(read, write time.Duration) {
	t.read = read
	t.write = write
}

// A Protocol is one connection to a server.
type Protocol struct {
	mailbox   string
	transport *Transport
}

// Open connects.
func Open(mailbox string) *Protocol {
	return &Protocol{mailbox: mailbox, transport: &Transport{}}
}

// Close closes the streams.
func (p *Protocol) Close() {
	if p.transport != nil {
		p.transport = nil
	}
}

// Process runs the current command.
func (p *Protocol) Process(command string) error {
	if p.transport == nil {
		return ErrClosed
	}
	p.transport.SetTimeout(time.Minute, time.Hour)
	return nil
}
