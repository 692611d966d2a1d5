package lots

import (
	"bytes"
	"errors"
	"flag"
	"slices"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/bench/command"
)

func TestEverySeedIsTriedOnce(t *testing.T) {
	o := &Options{What: "programs", Size: 4, Quick: 6}
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	o.Flags(flags, 10, 100)
	if err := errors.Join(flags.Parse([]string{"-seed", "7"}), o.Check(false)); err != nil {
		t.Fatal(err)
	}
	var seen []uint64
	var progress bytes.Buffer
	tried, err := o.Each(&command.Session{Err: &progress}, func(seeds []uint64) (string, error) {
		seen = append(seen, seeds...)
		return "fine", nil
	})
	if want := []uint64{7, 8, 9, 10, 11, 12, 13, 14, 15, 16}; tried != 10 || err != nil || !slices.Equal(seen, want) {
		t.Errorf("tried %d, %v: %v, want %v", tried, err, seen, want)
	}
	if !strings.Contains(progress.String(), "10 programs, fine, ") || !strings.HasSuffix(progress.String(), "next is -seed 17\n") {
		t.Errorf("progress: %s", &progress)
	}
}

func TestALotThatFailsIsTriedAgainBySeed(t *testing.T) {
	o := &Options{What: "programs", Size: 4, Quick: 6, Count: 10, States: 1}
	if err := o.Check(true); err != nil || o.Count != 6 {
		t.Fatalf("%v, count %d", err, o.Count)
	}
	var progress bytes.Buffer
	wrong := errors.New("wrong")
	tried, err := o.Each(&command.Session{Err: &progress}, func(seeds []uint64) (string, error) {
		if seeds[0] > 0 {
			return "", wrong
		}
		return "", nil
	})
	if tried != 4 || !errors.Is(err, wrong) || !strings.Contains(progress.String(), "next is -seed 4\n") {
		t.Errorf("tried %d, %v:\n%s", tried, err, &progress)
	}
}
