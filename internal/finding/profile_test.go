package finding

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
)

// decode reads a message of protocol buffers, which has numbers and bytes alone: the fields
// by their numbers, each with what it was set to in turn.
func decode(t *testing.T, text []byte) map[int][]any {
	t.Helper()
	fields := make(map[int][]any)
	number := func() uint64 {
		v, n := binary.Uvarint(text)
		if n <= 0 {
			t.Fatal("a number has no end")
		}
		text = text[n:]
		return v
	}
	for len(text) > 0 {
		tag := number()
		field := int(tag >> 3)
		switch v := number(); tag & 7 {
		case 0:
			fields[field] = append(fields[field], v)
		case 2:
			fields[field] = append(fields[field], text[:v])
			text = text[v:]
		default:
			t.Fatalf("field %d has kind %d", field, tag&7)
		}
	}
	return fields
}

// The numbers of fields are those of profile.proto of google/pprof, once more.
func TestProfileHasTheStacksOfCarelessAccesses(t *testing.T) {
	second := seen(3)
	second.Accesses[0].Stack = nil // what is known is the section
	var text bytes.Buffer
	if err := WriteProfile(&text, []Finding{stolen(), second}, noon); err != nil {
		t.Fatal(err)
	}
	profile := decode(t, text.Bytes())
	table := profile[6]
	word := func(n any) string { return string(table[n.(uint64)].([]byte)) }
	var got strings.Builder
	for _, v := range profile[1] {
		m := decode(t, v.([]byte))
		fmt.Fprintf(&got, "%s/%s ", word(m[1][0]), word(m[2][0]))
	}
	functions, locations := make(map[uint64]string), make(map[uint64]string)
	for _, f := range profile[5] {
		m := decode(t, f.([]byte))
		functions[m[1][0].(uint64)] = word(m[2][0]) + " " + word(m[4][0])
	}
	for _, l := range profile[4] {
		m := decode(t, l.([]byte))
		line := decode(t, m[4][0].([]byte))
		locations[m[1][0].(uint64)] = fmt.Sprintf("%s:%d", functions[line[1][0].(uint64)], line[2][0])
	}
	for _, s := range profile[2] {
		m := decode(t, s.([]byte))
		fmt.Fprintf(&got, "\n%d", m[2])
		for _, l := range m[1] {
			fmt.Fprintf(&got, " %s", locations[l.(uint64)])
		}
		for _, l := range m[3] {
			label := decode(t, l.([]byte))
			fmt.Fprintf(&got, " %s=%s", word(label[1][0]), word(label[2][0]))
		}
	}
	want := "accesses/count delay/nanoseconds \n" +
		"[1 1500000] main.steal /home/ann/bank/steal.go:31 main.main.func2 /home/ann/bank/main.go:12 guard=accounts finding=" + stolenID + "\n" +
		"[3 3500000] main.(*Bank).Deposit /home/ann/bank/bank.go:23 guard=accounts finding=" + second.ID().String()
	if got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}
	if at := profile[9][0]; at != uint64(noon.UnixNano()) || string(table[0].([]byte)) != "" {
		t.Errorf("it is of %v, and its table begins with %q", at, table[0])
	}
}
