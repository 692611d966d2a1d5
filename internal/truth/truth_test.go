package truth

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/randprog"
)

// TestExplorationAgreesWithTheJudge: go run ./bench truth tries many more.
func TestExplorationAgreesWithTheJudge(t *testing.T) {
	var programs []randprog.Program
	for i := range 70 {
		programs = append(programs, randprog.New(fmt.Sprintf("P%d", i), uint64(i), randprog.Options{RaceFree: i%3 == 0, Blocking: i >= 50, Library: i%4 == 3}))
	}
	for i := range 6 {
		programs = append(programs, randprog.New(fmt.Sprintf("T%d", i), uint64(i), randprog.Options{RaceFree: i%3 == 0, TimeAndChance: true, Goroutines: 1, Statements: 2}))
	}
	trial := &Trial{Temp: t.TempDir(), States: 1500, Budget: time.Second}
	res, err := trial.Run(context.Background(), programs)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range res.Differences {
		t.Error(d.String())
	}
	if res.Compared < len(programs)/2 {
		t.Errorf("only %d of %d programs are small enough", res.Compared, len(programs))
	}
	t.Logf("%d programs, %d schedules", res.Compared, res.Schedules)
}
