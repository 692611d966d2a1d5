package monitor

import (
	"bytes"
	"encoding/json"
	"expvar"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/finding"
	"github.com/cofferdam-go/cofferdam/tolerate"
)

// TestFindingsAreServed: what was found is at all paths, and in the variable, in the same
// numbers.
func TestFindingsAreServed(t *testing.T) {
	if text := get(t, "", http.StatusOK); text != "nothing was found\n" {
		t.Errorf("at first there is %q", text)
	}
	n := 1
	for range 3 {
		tolerate.PutScalar(&n, 0, 0, &tolerate.Label{Name: "n"})
	}
	for _, path := range []string{"", "/", "/text"} {
		if text := get(t, path, http.StatusOK); !strings.HasPrefix(text, "violation: careless write of n") {
			t.Errorf("%s has %q", path, text)
		}
	}
	all, err := finding.ReadJSON(strings.NewReader(get(t, "/json", http.StatusOK)))
	if err != nil || len(all) != 1 || all[0].Count != 3 {
		t.Fatalf("json has %v, %v; want one finding, 3 times", all, err)
	}
	metrics := get(t, "/metrics", http.StatusOK)
	for _, want := range []string{
		`cofferdam_findings_total{id="` + all[0].ID().String() + `",kind="violation",guard="n",target="n",site="",outcome="tolerated"} 3`,
		"\n# TYPE cofferdam_isolate_guards gauge\ncofferdam_isolate_guards 0\n",
		"\ncofferdam_dropped_total 0\n",
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("the metrics have no %s:\n%s", want, metrics)
		}
	}
	if profile := get(t, "/profile", http.StatusOK); !strings.Contains(profile, "TestFindingsAreServed") {
		t.Errorf("the profile has no stack of this test: %q", profile)
	}
	get(t, "/other", http.StatusNotFound)

	var v struct {
		Outcomes map[string]int
		Findings []struct{ Count int }
	}
	if err := json.Unmarshal([]byte(expvar.Get("cofferdam").String()), &v); err != nil || v.Outcomes["tolerated"] != 3 || len(v.Findings) != 1 || v.Findings[0].Count != 3 {
		t.Errorf("the variable is %+v, %v", v, err)
	}
}

// TestFailedAnswerIsAnError: a client does not take half of an answer for all.
func TestFailedAnswerIsAnError(t *testing.T) {
	forms["text"] = form{"text/plain", func(w io.Writer) error {
		io.WriteString(w, "half")
		return io.ErrShortWrite
	}}
	defer func() { forms["text"] = form{"text/plain; charset=utf-8", writeText} }()
	if text := get(t, "", http.StatusInternalServerError); text != "short write\n" {
		t.Errorf("the answer is %q", text)
	}
}

func get(t *testing.T, path string, status int) string {
	t.Helper()
	r := httptest.NewRecorder()
	http.DefaultServeMux.ServeHTTP(r, httptest.NewRequest("GET", Path+path, nil))
	var b bytes.Buffer
	if _, err := b.ReadFrom(r.Result().Body); err != nil || r.Code != status {
		t.Errorf("GET %s: %d, %v; want %d", path, r.Code, err, status)
	}
	return b.String()
}
