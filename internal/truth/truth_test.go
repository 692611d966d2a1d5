package truth

import (
	"context"
	"fmt"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/randprog"
)

// TestExplorationAgreesWithTheJudge: go run ./bench truth tries many more.
func TestExplorationAgreesWithTheJudge(t *testing.T) {
	var programs []randprog.Program
	for seed := range uint64(220) {
		programs = append(programs, randprog.New(fmt.Sprintf("P%d", seed), seed, randprog.Mixed(seed)))
	}
	trial := &Trial{Temp: t.TempDir(), States: 40, Runs: 300, Values: 10}
	res, err := trial.Run(context.Background(), programs)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range res.Differences {
		t.Error(d.String())
	}
	if res.Compared < 95*len(programs)/100 || res.Recorded < len(programs)/20 || res.Unjudged > 0 {
		t.Errorf("%d of %d programs are compared, %d cannot be judged", res.Compared, len(programs), res.Unjudged)
	}
	t.Logf("%d programs, %d schedules, %d recorded runs", res.Compared, res.Schedules, res.Recorded)
}
