package transactions

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/bench/command"
	"github.com/cofferdam-go/cofferdam/bench/measure"
)

// The test program is its own worker, as the command is.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[2] == command.WorkerArgument {
		os.Exit(Benchmark.Run(os.Args[2:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

func start(t *testing.T) *measure.Child {
	t.Helper()
	s := &session{Session: measure.Session{Context: t.Context(), Out: t.Output()}}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.startWorker(self)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestWorkerRunsWhatItIsAsked(t *testing.T) {
	w := start(t)
	c := stampCases(quick)[2]
	for range 2 {
		if _, err := measure.Ask[measure.Took](w, request{Do: measure.PrepareTrial, Figure: c.Figure, Size: quick, Case: c.String(), Variant: Eager}); err != nil {
			t.Fatal(err)
		}
		got, err := measure.Ask[measure.Took](w, request{Do: measure.RunTrial})
		if err != nil {
			t.Fatal(err)
		}
		if got.Seconds <= 0 || got.Counters[commits] == 0 {
			t.Errorf("%+v", got)
		}
		if _, err := measure.Ask[measure.Took](w, request{Do: measure.CloseTrial}); err != nil {
			t.Error(err)
		}
	}
	if err := w.Stop(); err != nil {
		t.Error(err)
	}
}

func TestWorkerRefusesWhatItDoesNotKnow(t *testing.T) {
	for _, r := range []request{
		{Do: "dance"},
		{Do: measure.RunTrial}, // nothing was prepared
		{Do: measure.PrepareTrial, Figure: "12", Size: quick, Case: "counter, goroutines 1", Variant: Eager},
		{Do: measure.PrepareTrial, Figure: figureMicro, Size: quick, Case: "counter", Variant: Eager},
		{Do: measure.PrepareTrial, Figure: figureMicro, Size: quick, Case: "counter, goroutines 1", Variant: Clone},
	} {
		w := start(t)
		if _, err := measure.Ask[measure.Took](w, r); err == nil {
			t.Errorf("%+v went well", r)
		}
		w.Stop()
	}
}

func TestNativeTrialsHaveAProcessEach(t *testing.T) {
	s := &session{Session: measure.Session{Context: t.Context(), Out: t.Output()}}
	self, _ := os.Executable()
	c := stampCases(quick)[0]
	conf := &configuration{session: s, program: self, once: true,
		request: request{Figure: c.Figure, Size: quick, Case: c.String(), Variant: Sequential}}
	prepare := conf.contender().Prepare
	var processes []int
	for range 2 {
		trial := prepare()
		processes = append(processes, conf.worker.Process())
		trial.Run()
		if err := trial.Close(); err != nil || conf.worker != nil || trial.Seconds() <= 0 {
			t.Errorf("after a trial of %v s: worker %v, %v", trial.Seconds(), conf.worker, err)
		}
	}
	if processes[0] == processes[1] {
		t.Error("two trials ran in one process")
	}
}

func TestDeadWorkerIsAnErrorOfTheCase(t *testing.T) {
	s := &session{Session: measure.Session{Context: t.Context()}, options: options{size: quick, runs: 1}}
	conf := &configuration{session: s, program: "/bin/true", request: request{Figure: figureMicro, Variant: Eager}}
	c := measure.Case{Ops: 1, Contenders: []measure.Contender{conf.contender()}}
	if _, err := (&measure.Runner{Rounds: 1}).Run(t.Context(), c); err == nil {
		t.Error("a trial of a worker that has ended went well")
	}
	conf.end()
	conf.program = "/nowhere/at all"
	if _, err := (&measure.Runner{Rounds: 1}).Run(t.Context(), c); err == nil {
		t.Error("a trial of a worker that cannot be started went well")
	}
}

func TestEveryCaseCanBeFoundAgain(t *testing.T) {
	for _, f := range figures {
		for _, c := range f.cases(medium) {
			for _, contender := range c.Contenders {
				_, err := find(request{Figure: f.name, Size: medium, Case: c.String(), Variant: contender.Variant})
				if err != nil {
					t.Error(err)
				}
			}
		}
	}
}

func TestWrongResultEndsTheBench(t *testing.T) {
	var failing measure.Trial
	failing.Run = func() {}
	failing.Close = func() error { return os.ErrInvalid }
	c := measure.Case{Ops: 1, Contenders: []measure.Contender{{Variant: Eager, Prepare: func() measure.Trial { return failing }}}}
	if _, err := (&measure.Runner{Rounds: 1}).Run(t.Context(), c); err == nil {
		t.Error("a wrong result is not an error")
	}
}

func TestCasesAreMeasuredInChildren(t *testing.T) {
	s := &session{Session: measure.Session{Context: t.Context(), Out: t.Output()}, options: options{size: quick, runs: 1}}
	c := contendedCases(quick)[0]
	if err := s.measure(0, []measure.Case{c}); err != nil {
		t.Fatal(err)
	}
	r := s.Report.Results[0]
	if len(r.Timings) != len(c.Contenders) {
		t.Errorf("%d of %d contenders were measured", len(r.Timings), len(c.Contenders))
	}
	for _, timing := range r.Timings {
		if timing.Median <= 0 || timing.Counters[coreRatio] <= 0 {
			t.Errorf("%+v", timing)
		}
	}
	s.printContended()
}

func TestInterruptedRunPrintsWhatItHas(t *testing.T) {
	var out strings.Builder
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := &session{Session: measure.Session{Report: report(), Context: ctx, Out: &out}, options: options{runs: 1, size: quick, figures: command.Chosen(figureStamp)}}
	if err := s.run(); err != nil {
		t.Errorf("an interrupt is reported as an error: %v", err)
	}
	for _, want := range []string{"STAMP", "Interrupted", "Targets"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output does not contain %q:\n%s", want, out.String())
		}
	}
}
