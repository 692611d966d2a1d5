package campaign

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// A session is one campaign of a test, in one process.
type session struct {
	dir     string
	version string // of the toy
	toy     *toy
	// stop, if it is there, ends the session at an event.
	stop func(Event) bool
	// done, if it is there, is told of each lease that is done.
	done func(*Lease)
	// spoil, if it is there, changes what comes of a lease.
	spoil func(*Lease, *Result) error
	size  int64
	day   int64
}

// outcome is what came of one.
type outcome struct {
	report  *Report
	notices []string
	givenUp []string // and why
	err     error
}

// run runs the session to its end.
func (s *session) run(t testing.TB) (out outcome) {
	t.Helper()
	dir, err := OpenDir(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var mu sync.Mutex
	notice := func(text string) {
		mu.Lock()
		defer mu.Unlock()
		out.notices = append(out.notices, text)
	}
	server, store, err := OpenLocal(ctx, dir, 0, Listening{}, notice)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	defer store.Close()
	public, err := dir.Key.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	does := s.toy.do(s.version)
	w := NewWorker(store, WorkerOptions{Name: "toy", Trusted: []string{public}, Slots: 2, Do: func(ctx context.Context, l *Lease, r *Result) error {
		if s.done != nil {
			s.done(l)
		}
		if err := does(ctx, l, r); err != nil || s.spoil == nil {
			return err
		}
		return s.spoil(l, r)
	}})
	var over sync.WaitGroup
	defer over.Wait()
	defer cancel()
	over.Go(func() { _ = w.Run(ctx) })
	out.report, out.err = Run(ctx, dir, store, toyTargets(t, s.version), &Options{
		Search: toySearch, WholePackages: true, Size: s.size, Day: s.day,
		Told: func(e Event) {
			if e.Notice != "" {
				notice(e.Notice)
			}
			if e.Trouble != "" {
				out.givenUp = append(out.givenUp, e.Target+": "+e.Trouble)
			}
			if s.stop != nil && s.stop(e) {
				cancel()
			}
		},
	})
	var unwritable *UnwritableError
	if out.err != nil && !errors.Is(out.err, context.Canceled) && !errors.As(out.err, &unwritable) {
		t.Fatal(out.err)
	}
	return out
}

// withStore opens the store of the session's directory between two sessions.
func (s *session) withStore(t testing.TB, do func(*Dir, *Store)) {
	t.Helper()
	dir, err := OpenDir(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	server, store, err := dir.open(t.Context(), 0, Listening{})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	defer store.Close()
	do(dir, store)
}

// toySearch are the options of its searches.
var toySearch = SearchOptions{Strategy: sched.MethodPCT, Seed: 1, Steps: 1000}

// newSession returns a session in a new directory.
func newSession(t testing.TB) *session {
	return &session{dir: filepath.Join(t.TempDir(), "state"), version: "1", toy: &toy{steps: 4, bugs: planted}}
}

// found are the findings in a state directory, as test, bug and status.
func found(t testing.TB, dir string) []string {
	t.Helper()
	all, err := ReadFindings(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range all {
		names = append(names, fmt.Sprintf("%s %s %s", r.Test, r.Finding.Explanation, r.Status))
	}
	slices.Sort(names)
	return names
}

func TestACampaignFindsAllBugsAndEndsWhenAllSchedulesAreTried(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	out := s.run(t)
	want := []string{"TestA 2121 new", "TestA 2211 new", "TestB 112212 new"}
	if got := found(t, s.dir); !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	for _, target := range out.report.Targets {
		if !target.Over || !target.Search.Complete() || target.Runs < 70 || target.Coverage != (Coverage{Pairs: 2, Both: 1}) {
			t.Errorf("%+v", target)
		}
	}
	if out.report.NewNow != 3 || out.report.Findings[New] != 3 {
		t.Errorf("%+v", out.report)
	}
	// All is done, so that another campaign has nothing to do.
	s.done = func(l *Lease) { t.Errorf("a lease to %s %s though all was done", l.Task, l.Test) }
	if out := s.run(t); out.report.NewNow != 0 || out.report.Findings[New] != 3 || out.report.Runs != 0 {
		t.Errorf("%+v", out.report)
	}
}

// TestFailuresOfOneRunWithTheSameWordsAreAllLookedInto: two races of a run differ in their places alone. The
// lease for the second had the number of the first, was not sent, and was waited for without end.
func TestFailuresOfOneRunWithTheSameWordsAreAllLookedInto(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.spoil = func(_ *Lease, r *Result) error {
		if r.Done == nil {
			return nil
		}
		for i := range r.Done.Units {
			u := &r.Done.Units[i]
			for _, f := range slices.Clone(u.Failures) {
				f.Failure.Stack = []trace.Call{{Function: f.Failure.Message + ", and elsewhere"}}
				u.Failures = append(u.Failures, f)
			}
		}
		return nil
	}
	var mu sync.Mutex
	confirmed := make(map[string]int)
	s.done = func(l *Lease) {
		if l.Task == Confirm {
			mu.Lock()
			defer mu.Unlock()
			confirmed[l.Failure.Message]++
		}
	}
	out := s.run(t)
	want := map[string]int{"2121": 2, "2211": 2, "112212": 2}
	if !maps.Equal(confirmed, want) {
		t.Errorf("leases to confirm %v, want %v", confirmed, want)
	}
	for _, target := range out.report.Targets {
		if !target.Over {
			t.Errorf("%+v", target)
		}
	}
}

// TestAnEditBeginsAnewAndRechecksWhatFailed: of two bugs of a test one is mended, and so is that of
// another test; lines have moved.
func TestAnEditBeginsAnewAndRechecksWhatFailed(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.run(t)
	s.version = "2"
	var mu sync.Mutex
	first := map[string]Task{}
	s.done = func(l *Lease) {
		mu.Lock()
		defer mu.Unlock()
		if first[l.Test] == "" {
			first[l.Test] = l.Task
		}
	}
	out := s.run(t)
	want := []string{"TestA 2121 fixed", "TestA 2211 new", "TestB 112212 fixed"}
	if got := found(t, s.dir); !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	if first["TestA"] != Recheck || first["TestB"] != Recheck || first["TestC"] != Explore {
		t.Errorf("first tasks %q", first)
	}
	if out.report.NewNow != 0 {
		t.Errorf("%d findings are called new", out.report.NewNow)
	}
	all, _ := ReadFindings(s.dir)
	for _, r := range all {
		outcome := map[bool]RecheckOutcome{true: StillThere, false: NotFailing}[r.Status == New]
		if r.Recheck == nil || r.Recheck.Outcome != outcome || r.Status == New && len(r.IDs) != 2 || r.Status == Fixed && r.FixedAfter == 0 {
			t.Errorf("%+v", r)
		}
	}
	for _, target := range out.report.Targets {
		if target.EarlierRuns == 0 {
			t.Errorf("%s has forgotten its earlier runs", target.Test)
		}
	}
	// The bug comes back.
	s.version, s.done = "1", nil
	s.run(t)
	if got := found(t, s.dir); !slices.Contains(got, "TestB 112212 new") {
		t.Errorf("found %q", got)
	}
}

// TestEveryRunOfABuildSeesOneDay: a search that goes on tomorrow sees the day on which it began, and
// so does the schedule of a finding that is run again in another build.
func TestEveryRunOfABuildSeesOneDay(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	type seen struct {
		task Task
		day  int64
	}
	var mu sync.Mutex
	var days map[seen]bool
	s.done = func(l *Lease) {
		mu.Lock()
		defer mu.Unlock()
		days[seen{l.Task, l.options().Day}] = true
	}
	session := func(version string, day int64, want ...seen) {
		t.Helper()
		s.version, s.day, days = version, day, map[seen]bool{}
		s.run(t)
		for _, one := range want {
			if !days[one] {
				t.Errorf("on day %d no lease to %s saw day %d", day, one.task, one.day)
			}
			delete(days, one)
		}
		if len(days) > 0 {
			t.Errorf("on day %d there were leases %v", day, days)
		}
	}
	session("1", 100, seen{Explore, 100}, seen{Confirm, 100})
	s.withStore(t, func(dir *Dir, store *Store) {
		known, _, err := store.targetRecords(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		c := &Campaign{o: &Options{Search: toySearch, Day: 150}, dir: dir, s: store}
		for _, one := range toyTargets(t, "1") {
			if again, err := c.target(t.Context(), one, "", known); err != nil || again.lease.Day != 100 {
				t.Errorf("%s goes on with day %d, %v", one.Test, again.lease.Day, err)
			}
		}
	})
	session("2", 200, seen{Recheck, 100}, seen{Explore, 200}, seen{Confirm, 200})
}

func TestAMarkStaysUntilAFixedFindingIsSeenAgain(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.run(t)
	all, err := ReadFindings(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(all, func(r Record) bool { return r.Finding.Explanation == "2211" })
	r, err := FindRecord(all, all[at].ID[:12])
	if err != nil || r.ID != all[at].ID {
		t.Fatal(r, err)
	}
	if err := WriteMark(s.dir, Mark{ID: r.ID, Status: Known, Note: "n", At: time.Now()}); err != nil {
		t.Fatal(err)
	}
	if got := found(t, s.dir); !slices.Contains(got, "TestA 2211 known") {
		t.Errorf("before a coordinator has read the mark: %q", got)
	}
	s.version = "2"
	s.run(t)
	if got := found(t, s.dir); !slices.Contains(got, "TestA 2211 known") {
		t.Errorf("after it: %q", got)
	}
	if marks, err := readMarks(s.dir); err != nil || len(marks) > 0 {
		t.Errorf("marks are left: %v, %v", marks, err)
	}
	if (&Mark{Status: "odd"}).Check() == nil {
		t.Error("an odd status is taken")
	}
}

// TestWhatIsAcknowledgedIsNotDoneAgain: a campaign is stopped after so many leases, again and again.
// Each schedule by chance counts once, and no unit whose result was saved is done twice.
func TestWhatIsAcknowledgedIsNotDoneAgain(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	var mu sync.Mutex
	times := map[string]int{}
	sessions := 0
	for over := false; !over; sessions++ {
		leases := 0
		enough := make(chan struct{})
		s.done = func(l *Lease) {
			mu.Lock()
			defer mu.Unlock()
			if l.Task != Explore {
				return
			}
			for i := range l.Errand.Units {
				id, err := unitID(l.Target, l.Build, l.Errand.Fresh, &l.Errand.Units[i])
				if err != nil {
					t.Error(err)
				}
				times[id]++
			}
			if leases++; leases == 20 {
				close(enough)
			}
		}
		s.stop = func(e Event) bool {
			select {
			case <-enough:
				return true
			default:
				return false
			}
		}
		out := s.run(t)
		over = out.err == nil
	}
	if want := []string{"TestA 2121 new", "TestA 2211 new", "TestB 112212 new"}; !slices.Equal(found(t, s.dir), want) {
		t.Errorf("found %q, want %q", found(t, s.dir), want)
	}
	again := 0
	for _, n := range times {
		if n > 1 {
			again++
		}
	}
	// What two slots were at when a session ended is done again.
	if again > 16*sessions {
		t.Errorf("%d of %d units were done more than once in %d sessions", again, len(times), sessions)
	}
	checkLedgers(t, s.dir)
}

// checkLedgers holds what ledgers count against each other: of the schedules by chance that were
// handed out, each counts once or is to be done.
func checkLedgers(t testing.TB, path string) {
	t.Helper()
	(&session{dir: path}).withStore(t, func(_ *Dir, store *Store) {
		records, damaged, err := store.targetRecords(t.Context())
		if err != nil || len(damaged) > 0 || len(records) != len(toyTests) {
			t.Fatalf("%d records, damaged: %q, %v", len(records), damaged, err)
		}
		for _, r := range records {
			text, err := store.objects.GetBytes(t.Context(), r.value.Ledger)
			if err != nil {
				t.Fatal(err)
			}
			l, err := decodeLedger(text)
			if err != nil {
				t.Fatal(err)
			}
			p := &l.Search.Warm.Plan
			left := 0
			for _, u := range p.Again {
				left += u.Runs
			}
			if p.ChanceRuns+left != int(p.Next) || l.Search.Warm.Sum.Runs != p.ChanceRuns+p.TreeRuns || !r.value.Over {
				t.Errorf("%s: %d schedules by chance count and %d are left, of %d; %d runs, %d of them in the tree", r.value.Test, p.ChanceRuns, left, p.Next, l.Search.Warm.Sum.Runs, p.TreeRuns)
			}
		}
	})
}

func TestAStateThatCannotBeWrittenEndsTheCampaign(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	obstacle := filepath.Join(s.dir, "status.json")
	obstruct := sync.OnceFunc(func() {
		// A file cannot take the place of a directory that has something in it.
		if err := errors.Join(os.Remove(obstacle), os.MkdirAll(filepath.Join(obstacle, "x"), 0o777)); err != nil {
			t.Error(err)
		}
	})
	s.done = func(*Lease) { obstruct() }
	// Its searches do not come to an end before it is seen that nothing can be written.
	s.spoil = func(_ *Lease, r *Result) error {
		for i := 0; r.Done != nil && i < len(r.Done.Units); i++ {
			r.Done.Units[i].CutOff = 1
		}
		return nil
	}
	var unwritable *UnwritableError
	out := s.run(t)
	if !errors.As(out.err, &unwritable) {
		t.Errorf("it ends with %v", out.err)
	}
}

// TestATestThatCannotBeExploredIsGivenUpForASession: its leases fail, or nothing is seen of its runs.
// The others go on, what was wrong is kept, and the next session tries again.
func TestATestThatCannotBeExploredIsGivenUpForASession(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]struct {
		spoil func(*Result) error
		want  string
	}{
		"no lease is done": {func(*Result) error { return errors.New("no room") }, "toy.TestC: no room"},
		"nothing is seen": {func(r *Result) error {
			for i := range r.Done.Units {
				u := &r.Done.Units[i]
				u.Prints, u.CutOff = nil, u.Runs
			}
			return nil
		}, "toy.TestC: each of its "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSession(t)
			s.spoil = func(l *Lease, r *Result) error {
				if l.Test != "TestC" {
					return nil
				}
				return one.spoil(r)
			}
			for range 2 {
				out := s.run(t)
				if len(out.givenUp) != 1 || !strings.HasPrefix(out.givenUp[0], one.want) {
					t.Errorf("given up: %q", out.givenUp)
				}
				for _, target := range out.report.Targets {
					if state := map[bool]TargetState{true: GivenUp, false: Done}[target.Test == "TestC"]; target.State != state {
						t.Errorf("%s is %s", target.Test, target.State)
					}
				}
			}
			s.withStore(t, func(_ *Dir, store *Store) {
				records, _, err := store.targetRecords(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range records {
					if (len(r.value.Troubles) > 0) != (r.value.Test == "TestC") {
						t.Errorf("%s has the troubles %v", r.value.Test, r.value.Troubles)
					}
				}
			})
			s.spoil = nil
			s.stop = func(e Event) bool { // by then it has shown something
				return e.Report != nil && slices.ContainsFunc(e.Report.Targets, func(t TargetReport) bool { return t.Test == "TestC" && t.Distinct > 0 })
			}
			if out := s.run(t); len(out.givenUp) > 0 {
				t.Errorf("when nothing is wrong, given up: %q", out.givenUp)
			}
		})
	}
}

// TestASearchThatIsOverIsSavedWhateverItDidNotAskFor: a coordinator that was killed has left results
// of units that the search of the next one does not come to.
func TestASearchThatIsOverIsSavedWhateverItDidNotAskFor(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	leases := map[string]*Lease{} // one of each target
	var mu sync.Mutex
	s.stop = func(Event) bool {
		mu.Lock()
		defer mu.Unlock()
		return len(leases) == len(toyTests)
	}
	s.done = func(l *Lease) {
		mu.Lock()
		defer mu.Unlock()
		leases[l.Target] = l
	}
	s.run(t)
	s.withStore(t, func(_ *Dir, store *Store) {
		records, _, err := store.targetRecords(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range leases {
			r := Result{Lease: randomID(), Target: l.Target, Build: l.Build, Units: []string{"none"}, Done: &explore.UnitsDone{Units: make([]wire.UnitDone, 1)}}
			if was := records[l.Target]; was != nil {
				r.Ledger = was.value.Ledger
			}
			text, err := store.encodeResult(t.Context(), &r)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := store.js.Publish(t.Context(), r.subject(store.Prefix), text); err != nil {
				t.Fatal(err)
			}
		}
	})
	s.stop, s.done = nil, nil
	s.run(t)
	checkLedgers(t, s.dir)
}

func TestADirectoryIsUsedByOneCampaignAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	dir, err := OpenDir(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenDir(path); !errors.Is(err, ErrBusy) {
		t.Errorf("the second: %v", err)
	}
	id := dir.ID
	dir.Close()
	if dir, err = OpenDir(path); err != nil || dir.ID != id {
		t.Fatalf("after it was closed: %v", err)
	}
	dir.Close()
	if err := os.WriteFile(filepath.Join(path, "state.json"), []byte(`{"version": 99, "id": "x"}`), 0o666); err != nil {
		t.Fatal(err)
	}
	var other *VersionError
	if _, err := OpenDir(path); !errors.As(err, &other) || other.Is != 99 {
		t.Errorf("of another version: %v", err)
	}
}

func TestADamagedStoreIsToldAndRebuilt(t *testing.T) {
	for name, damage := range map[string]func(store string) error{
		"all files cut": func(store string) error {
			return filepath.WalkDir(store, func(name string, d os.DirEntry, err error) error {
				if err == nil && !d.IsDir() {
					err = os.Truncate(name, 7)
				}
				return err
			})
		},
		"ledgers lost": func(store string) error {
			streams, err := filepath.Glob(filepath.Join(store, "jetstream", "*", "streams", "OBJ_*"))
			if err == nil && len(streams) != 1 {
				err = fmt.Errorf("streams of objects: %q", streams)
			}
			if err == nil {
				err = os.RemoveAll(streams[0])
			}
			return err
		},
		"store lost": os.RemoveAll,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSession(t)
			s.run(t)
			if err := damage(filepath.Join(s.dir, "store")); err != nil {
				t.Fatal(err)
			}
			out := s.run(t)
			if want := []string{"TestA 2121 new", "TestA 2211 new", "TestB 112212 new"}; !slices.Equal(found(t, s.dir), want) {
				t.Errorf("found %q, want %q", found(t, s.dir), want)
			}
			told := strings.Join(out.notices, "\n")
			if !strings.Contains(told, "damaged") && !strings.Contains(told, "lost") {
				t.Errorf("told: %s", told)
			}
			checkLedgers(t, s.dir)
		})
	}
}

func TestCheckTellsWhatIsDamaged(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.run(t)
	check := func() *Checked {
		t.Helper()
		dir, err := OpenDir(s.dir)
		if err != nil {
			t.Fatal(err)
		}
		defer dir.Close()
		is, err := Check(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		return is
	}
	if is := check(); len(is.Problems) > 0 || is.Targets != 3 || is.Findings != 3 || is.Results != 0 {
		t.Errorf("%+v", is)
	}
	if err := os.WriteFile(filepath.Join(s.dir, "findings.json"), []byte("{"), 0o666); err != nil {
		t.Fatal(err)
	}
	if is := check(); len(is.Problems) != 1 {
		t.Errorf("%+v", is)
	}
}

func TestWhatIsFixedIsGivenUpFirstWhenTheStateIsTooLarge(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.run(t)
	all, err := ReadFindings(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	s.version, s.size = "2", 1 // nothing fits
	out := s.run(t)
	if len(found(t, s.dir)) != len(all) || !strings.Contains(strings.Join(out.notices, "\n"), "more than -size allows") {
		t.Errorf("%q; told: %q", found(t, s.dir), out.notices)
	}
}

func TestTheAgendaGivesTimeWhereSomethingNewIsSeen(t *testing.T) {
	a := agenda{}
	for i := range 10 {
		a.all = append(a.all, &appointment{target: &target{rec: TargetRecord{Key: fmt.Sprint(i)}}})
	}
	spent := map[*appointment]time.Duration{}
	for range 2000 {
		p := a.next()
		turn := p.turn()
		spent[p] += turn
		schedules := 0
		if p == a.all[3] {
			schedules = 1000
		}
		a.had(p, turn, schedules, 0)
	}
	least := spent[a.all[0]]
	for _, p := range a.all {
		least = min(least, spent[p])
	}
	if spent[a.all[3]] < 5*least || least == 0 {
		t.Errorf("%v for the one that shows something, %v at least for the others", spent[a.all[3]], least)
	}
	for _, p := range a.all {
		p.over = true
	}
	if a.next() != nil {
		t.Error("there is something left of what is over")
	}
}
