package repair

import (
	"slices"
	"testing"
)

func TestComplaintIsNewIfItsMessageIs(t *testing.T) {
	before := "# example.com/p\n./p.go:3:5: copies lock\nvet: ./q.go:1:1: odd\n"
	after := "# example.com/p\n./p.go:9:5: copies lock\n./p.go:12:2: unreachable code\nexit status 1\n"
	if got, want := newComplaints(before, after), []string{"./p.go:12:2: unreachable code"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := newComplaints(after, before); !slices.Equal(got, []string{"./q.go:1:1: odd"}) {
		t.Errorf("got %q", got)
	}
}

func TestFirstLinesBecomeOne(t *testing.T) {
	for text, want := range map[string]string{"\na\nb\nc\n": "a; b", "a": "a", "": ""} {
		if got := firstLines(text, 2); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
