package stmvar

import (
	"encoding/json"
	"expvar"
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
