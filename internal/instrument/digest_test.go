package instrument

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDigestsTellWhatCanChangeARun: a declaration has the digest of another if and only if they
// are the same but for comments and layout.
func TestDigestsTellWhatCanChangeARun(t *testing.T) {
	const text = "func f(x *int) { g(); *x++ }"
	for _, same := range []string{
		"func f(x *int) {\n\tg()\n\t*x++\n}",
		"func f(x *int) { g(); *x++; }",
		"func f(x *int) { // why\n g() /* what */; *x++ }",
	} {
		if digest([]byte(same)) != digest([]byte(text)) {
			t.Errorf("%s is taken for another", same)
		}
	}
	for _, other := range []string{
		"func f(x *int) { *x++; g() }",
		"func f(x *int) { g(); *x-- }",
		"func f(x *int) { g(); *y++ }",
		"func f(x *int) { g(*x++) }",
		"//go:noinline\nfunc f(x *int) { g(); *x++ }",
		"func f(x *int) { g(); *x++; return }",
	} {
		if digest([]byte(other)) == digest([]byte(text)) {
			t.Errorf("%s is taken for the same", other)
		}
	}
}

func TestALineHasTheDigestOfItsDeclaration(t *testing.T) {
	d := digests{{3, 5, "a"}, {7, 7, "b"}, {9, 20, "c"}}
	var got []string
	for line := range 22 {
		got = append(got, d.at(line))
	}
	want := []string{"", "", "", "a", "a", "a", "", "b", "", "c", "c", "c", "c", "c", "c", "c", "c", "c", "c", "c", "c", ""}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
