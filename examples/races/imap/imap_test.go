package imap

import (
	"errors"
	"testing"
)

func TestCloseWhileProcessing(t *testing.T) {
	p := Open("INBOX")
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		p.Close()
	}()
	for range 2 {
		if err := p.Process("SELECT"); err != nil && !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	}
	<-closed
}
