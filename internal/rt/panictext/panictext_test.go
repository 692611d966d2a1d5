package panictext

import (
	"errors"
	"testing"
)

type (
	name    string
	level   int
	ratio   float64
	wave    complex128
	flag    bool
	speaker struct{}
	mute    struct{}
	broken  struct{}
)

func (speaker) String() string { return "spoken" }
func (broken) Error() string   { panic("no words") }

// TestTextIsThatOfTheRuntime holds the texts against what Go 1.26 prints.
func TestTextIsThatOfTheRuntime(t *testing.T) {
	for _, c := range []struct {
		value any
		want  string
	}{
		{"text", "text"},
		{"two\nlines", "two\n\tlines"},
		{errors.New("an error"), "an error"},
		{speaker{}, "spoken"},
		{broken{}, "panic while printing panic value"},
		{true, "true"}, {flag(true), "panictext.flag(true)"},
		{-1, "-1"}, {int8(-8), "-8"}, {int16(-16), "-16"}, {int32(-32), "-32"}, {int64(-64), "-64"},
		{uint(1), "1"}, {uint8(8), "8"}, {uint16(16), "16"}, {uint32(32), "32"}, {uint64(64), "64"}, {uintptr(9), "9"},
		{level(3), "panictext.level(3)"},
		{name("x"), `panictext.name("x")`},
	} {
		if got := Of(c.value); got != c.want {
			t.Errorf("%#v: %q, want %q", c.value, got, c.want)
		}
	}
	for _, value := range []any{float32(1.5), 2.5, complex64(1), complex(1, 2), ratio(1), wave(1), mute{}} {
		if Of(value) == "" {
			t.Errorf("%#v: nothing", value)
		}
	}
}
