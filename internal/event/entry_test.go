package event

import (
	"bytes"
	"testing"
)

// TestEntriesComeBackAsTheyWerePut: also those of which a part is cut off; and nothing else is taken
// for one.
func TestEntriesComeBackAsTheyWerePut(t *testing.T) {
	long := bytes.Repeat([]byte{7}, 100)
	for _, e := range []Entry{
		{},
		{Key: []byte{1}, Held: true},
		{Key: []byte{1, 2, 3}, Value: []byte{4}, Held: true, KeyKind: 24, ValueKind: 2},
		{Key: long[:16], Value: long[:32], Held: true},
		{Key: long, Value: long},
	} {
		var to [MaxValue]byte
		n := e.Put(&to)
		got, ok := EntryOf(to[:n])
		want := Entry{Key: e.Key[:min(len(e.Key), MaxKey)], Value: e.Value[:min(len(e.Value), maxEntry)], Held: e.Held, KeyKind: e.KeyKind, ValueKind: e.ValueKind}
		if !ok || n%word != 0 || !bytes.Equal(got.Key, want.Key) || !bytes.Equal(got.Value, want.Value) || got.Held != want.Held || got.KeyKind != want.KeyKind || got.ValueKind != want.ValueKind {
			t.Errorf("%v: %v, %t from %d bytes", e, got, ok, n)
		}
	}
	for _, from := range [][]byte{nil, make([]byte, 8), {1, 2, 3}, {24, 32, 2, 0, 0, 0, 0, 0}, {0, 0, 3, 0, 0, 0, 0, 0}} {
		if e, ok := EntryOf(from); ok {
			t.Errorf("%v is taken for %v", from, e)
		}
	}
}
