package finding

import (
	"bytes"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

func encode(t *testing.T, findings ...Finding) string {
	t.Helper()
	var b strings.Builder
	if err := WriteJSON(&b, findings); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The schema is a promise to other programs, so its exact bytes are held here.
func TestJSONSchema(t *testing.T) {
	f := stolen()
	f.Explanation = "it could not wait <longer>"
	f.merge(Once(Surrendered, 2*time.Millisecond, noon.Add(time.Second)))
	got := encode(t, f)
	want := `{"id":"` + stolenID + `","kind":"violation",` +
		`"guard":{"name":"accounts","site":{"function":"main.NewBank","file":"/home/ann/bank/bank.go","line":17}},` +
		`"accesses":[` +
		`{"op":"write","goroutine":18,"address":139855946321984,"target":"Account.Balance","stack":[` +
		`{"function":"main.steal","file":"/home/ann/bank/steal.go","line":31},` +
		`{"function":"main.main.func2","file":"/home/ann/bank/main.go","line":12}]},` +
		`{"op":"lock","goroutine":7,"stack":[{"function":"main.(*Bank).Deposit","file":"/home/ann/bank/bank.go","line":23}]}],` +
		`"explanation":"it could not wait <longer>",` +
		`"count":2,"outcomes":{"delayed":1,"surrendered":1},"waited_ns":3500000,"longest_wait_ns":2000000,` +
		`"first":"2026-03-04T12:00:00Z","last":"2026-03-04T12:00:01Z"}` + "\n"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestJSONRoundTrip(t *testing.T) {
	full := stolen()
	full.Explanation = "two\nlines & a \"quote\""
	full.merge(Once(Surrendered, time.Second, noon.Add(time.Hour)))
	want := []Finding{full, {Kind: Bypass, History: History{Count: 1}}}
	got, err := ReadJSON(strings.NewReader(encode(t, want...)))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// File names are bytes on Linux, JSON is text: the identity has to survive.
func TestFileNameThatIsNotUTF8KeepsItsID(t *testing.T) {
	f := stolen()
	f.Accesses[0].Stack[0].File = "/bank/st\xff\xfeal.go"
	got, err := ReadJSON(strings.NewReader(encode(t, f)))
	if err != nil {
		t.Fatal(err)
	}
	if got[0].ID() != f.ID() {
		t.Errorf("id was %v, is %v", f.ID(), got[0].ID())
	}
}

func TestReportsOfTwoProcessesMerge(t *testing.T) {
	f, g := stolen(), stolen()
	f.Count, g.Count = 3, 4
	read, err := ReadJSON(strings.NewReader(encode(t, f) + "\n" + encode(t, g, atLine(99))))
	if err != nil {
		t.Fatal(err)
	}
	var l Log
	for _, f := range read {
		l.Add(f)
	}
	if got := l.Findings(); len(got) != 2 || got[0].Count != 7 {
		t.Errorf("got %+v, want two findings, the first with a count of 7", got)
	}
}

func TestEachFindingIsOneWrite(t *testing.T) {
	var writes int
	w := writerFunc(func(p []byte) (int, error) {
		writes++
		if bytes.Count(p, []byte("\n")) != 1 || p[len(p)-1] != '\n' {
			t.Errorf("not one line: %q", p)
		}
		return len(p), nil
	})
	if err := WriteJSON(w, []Finding{stolen(), atLine(1), atLine(2)}); err != nil {
		t.Fatal(err)
	}
	if writes != 3 {
		t.Errorf("%d writes, want 3", writes)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestDamagedLineIsNamedAndWhatPrecedesItIsKept(t *testing.T) {
	good := encode(t, stolen())
	for _, test := range []struct {
		name, line, want string
	}{
		{"cut off", good[:len(good)/2], "cut off"},
		{"not JSON", "goroutine 7 [running]:", "invalid character"},
		{"two values", strings.TrimSpace(good) + "{}", "more than one JSON value"},
		{"null", "null", `unknown kind ""`},
		{"wrong type", strings.Replace(good, `"count":1`, `"count":"1"`, 1), "count"},
		{"negative count", strings.Replace(good, `"count":1`, `"count":-1`, 1), "count"},
		{"no count", strings.Replace(good, `"count":1,`, ``, 1), "count is missing or 0"},
		{"too many outcomes", strings.Replace(good, `"delayed":1`, `"delayed":1,"refused":1`, 1), "more outcomes than the count of 1"},
		{"outcomes overflow", strings.Replace(good, `"delayed":1`, `"delayed":1,"refused":18446744073709551615`, 1), "more outcomes"},
		{"unknown kind", strings.Replace(good, `"violation"`, `"heresy"`, 1), `unknown kind "heresy"`},
		{"unknown op", strings.Replace(good, `"op":"write"`, `"op":"peek"`, 1), `unknown op "peek"`},
		{"unknown outcome", strings.Replace(good, `"delayed":1`, `"vanished":1`, 1), `"vanished"`},
		{"unknown field", strings.Replace(good, `"kind"`, `"colour":"red","kind"`, 1), `"colour"`},
		{"bad id", strings.Replace(good, `"id":"`, `"id":"x`, 1), "not 16 hexadecimal digits"},
		{"no id", strings.Replace(good, `"id":"`+stolenID+`",`, ``, 1), "the line was edited"},
		{"edited", strings.Replace(good, `"line":31`, `"line":32`, 1), "the line was edited"},
	} {
		if test.line == good {
			t.Errorf("%s: the damage was not done", test.name)
		}
		got, err := ReadJSON(strings.NewReader(good + "\n" + test.line + "\n" + good))
		if err == nil {
			t.Errorf("%s: no error", test.name)
			continue
		}
		if msg := err.Error(); !strings.Contains(msg, "line 3: ") || !strings.Contains(msg, test.want) {
			t.Errorf("%s: error %q does not name line 3 and %q", test.name, msg, test.want)
		}
		if len(got) != 1 {
			t.Errorf("%s: %d findings precede the damage, want 1", test.name, len(got))
		}
	}
}

func TestWhatCouldNotBeReadIsNotWritten(t *testing.T) {
	uncounted := stolen()
	uncounted.Count = 0
	var b strings.Builder
	err := WriteJSON(&b, []Finding{stolen(), uncounted, stolen()})
	if err == nil || !strings.Contains(err.Error(), "count is missing or 0") {
		t.Errorf("error is %v", err)
	}
	if want := encode(t, stolen()); b.String() != want {
		t.Errorf("wrote %s\nwant  %s", b.String(), want)
	}
}

func TestReaderErrorIsReturned(t *testing.T) {
	good := encode(t, stolen())
	got, err := ReadJSON(io.MultiReader(strings.NewReader(good), iotest.ErrReader(errBroken)))
	if err == nil || !strings.Contains(err.Error(), "line 2: disk full") || len(got) != 1 {
		t.Errorf("got %d findings and error %v", len(got), err)
	}
}

// What can be read can be rendered, and writing it again and reading that is
// the identity.
func FuzzReadJSON(f *testing.F) {
	var seed strings.Builder
	bypass := Finding{Kind: Bypass, Accesses: []Access{{Op: Read}}, History: History{Count: 1}}
	if err := WriteJSON(&seed, []Finding{stolen(), bypass}); err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(seed.String()))
	f.Add([]byte(seed.String()[:100]))
	f.Add([]byte("\n\nnull\n[]"))
	f.Fuzz(func(t *testing.T, input []byte) {
		// The findings before an error count too.
		findings, _ := ReadJSON(bytes.NewReader(input))
		if err := WriteText(io.Discard, findings); err != nil {
			t.Fatal(err)
		}
		once := encode(t, findings...)
		again, err := ReadJSON(strings.NewReader(once))
		if err != nil {
			t.Fatalf("cannot read back what was written: %v\n%s", err, once)
		}
		if len(again) != len(findings) {
			t.Fatalf("%d findings became %d", len(findings), len(again))
		}
		if twice := encode(t, again...); twice != once {
			t.Fatalf("first  %s\nsecond %s", once, twice)
		}
	})
}
