package stmvar

import (
	"encoding/json"
	"expvar"
	"net/http/httptest"
	"reflect"
	"regexp"
	"testing"

	"github.com/cofferdam-go/cofferdam/stm"
)

func TestStatisticsArePublished(t *testing.T) {
	x := 0
	stm.Atomically(func(tx *stm.Tx) error {
		stm.Store(tx, &x, 1)
		return nil
	})
	var s stm.Stats
	if err := json.Unmarshal([]byte(expvar.Get("stm").String()), &s); err != nil || s.Commits == 0 || s.Writes == 0 {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestMetricsHaveEveryCount reads what a scraper would, and finds each field of the statistics.
func TestMetricsHaveEveryCount(t *testing.T) {
	stm.Atomically(func(tx *stm.Tx) error { return nil })
	w := httptest.NewRecorder()
	Metrics().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	lines := regexp.MustCompile(`(?m)^cofferdam_stm_([a-z_]+)_total (\d+)$`).FindAllStringSubmatch(w.Body.String(), -1)
	if want := reflect.TypeFor[stm.Stats]().NumField(); len(lines) != want {
		t.Errorf("%d of %d counts:\n%s", len(lines), want, w.Body)
	}
	if lines[0][1] != "commits" || lines[0][2] == "0" {
		t.Errorf("%q", lines[0])
	}
}
