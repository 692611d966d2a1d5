package httpclient

import (
	"fmt"
	"strings"
)

// A jar keeps cookies, for any number of goroutines.
type jar interface {
	// set adds a cookie to those of a key, in the place of one with its name.
	set(k key, c cookie)
	// match appends the cookies of a key and of what is above it, the topmost
	// first.
	match(k key, into []cookie) []cookie
	// remove takes away the cookie of a key with a name, if there is one.
	remove(k key, name text)
	// free returns the memory of the jar, which nobody uses any more.
	free() error
}

// A stack has the transfers to be made, for any number of goroutines.
type stack interface {
	// push adds a transfer.
	push(t transfer)
	// pop takes the newest transfer. It waits while there is none but one is
	// being made, which may lead to others. Not ok: there will be no more.
	pop() (t transfer, ok bool)
	// done says that a transfer that was taken has been made.
	done()
	// stop makes every pop return not ok from now on.
	stop()
	// free returns the memory of the stack, which nobody uses any more.
	free() error
}

type cookie struct{ name, value text }

type transfer struct{ domain, path text }

func newTransfer(domain, path string) (t transfer, err error) {
	if t.domain, err = newText(domain); err != nil {
		return t, err
	}
	t.path, err = newText(path)
	return t, err
}

// A key is the way to a node of the jar: a domain, and the elements of a path.
type key []text

func newKey(domain, path string) (key, error) {
	k := make(key, 0, 8)
	add := func(s string) error {
		label, err := newText(s)
		k = append(k, label)
		return err
	}
	if err := add(domain); err != nil {
		return nil, err
	}
	for element := range strings.SplitSeq(path, "/") {
		if element == "" {
			continue
		}
		if err := add(element); err != nil {
			return nil, err
		}
	}
	return k, nil
}

// A text is a short string where there can be no string.
type text struct {
	length uint8
	bytes  [maxText]byte
}

const maxText = 39

func newText(s string) (text, error) {
	if len(s) > maxText {
		return text{}, fmt.Errorf("%q does not fit into the %d bytes that there are for a text", s, maxText)
	}
	t := text{length: uint8(len(s))}
	copy(t.bytes[:], s)
	return t, nil
}

// String is the text as a string.
func (t text) String() string { return string(t.bytes[:t.length]) }
