package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/cofferdam-go/cofferdam/internal/report"
	"github.com/cofferdam-go/cofferdam/internal/report/page"
	"github.com/cofferdam-go/cofferdam/internal/report/runtest"
)

// bank is the page of a run with a race.
func bank(t *testing.T, rounds int) *page.Document {
	t.Helper()
	return pageOf(t, runtest.Bank(t, t.TempDir(), rounds))
}

// pageOf is the page of a recorded run.
func pageOf(t *testing.T, trace string) *page.Document {
	t.Helper()
	d, err := report.Load(trace, report.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestAPageSaysWhatHappenedAndOpensAtTheFailure(t *testing.T) {
	b := newTab(t)
	b.open(bank(t, 0))
	for _, want := range []string{
		"TestBank fails in goroutine 1 at bank.go:18: <b>total</b> is 70, want 120.",
		"After goroutine 1 did “load b.total 100” at bank.go:13, goroutine 2 did “store b.total 100 → 150” at bank.go:23, before goroutine 1 went on with “store b.total 150 → 70” at bank.go:14.",
		"Nothing orders the store of b.total at bank.go:23 by goroutine 2 and the store of b.total at bank.go:14 by goroutine 1",
	} {
		if got := b.text(".story"); !strings.Contains(got, want) {
			t.Errorf("the story does not say %q but:\n%s", want, got)
		}
	}
	b.awaitText(".step", "test failed: TestBank: <b>total</b> is 70")
	b.awaitText(".source .here", "wg.Wait()")
	b.awaitText(".count", "15 of 19 steps")
	b.picture("run-light")
	b.click("#theme")
	b.await("document.documentElement.dataset.theme === 'dark'")
	b.picture("run-dark")
	eval[any](b, "localStorage.clear()") // which the other tests share
}

// TestTheLineOfTheFailureIsSeenWithoutScrolling: it is among the last of the file, in a panel that goes on below the window.
func TestTheLineOfTheFailureIsSeenWithoutScrolling(t *testing.T) {
	b := newTab(t)
	b.do(chromedp.EmulateViewport(1280, 800))
	b.open(bank(t, 0))
	b.awaitText(".source .here", "wg.Wait()")
	b.await("document.querySelector('.source .here').getBoundingClientRect().bottom <= window.innerHeight")
	b.await("document.querySelector('.source').getBoundingClientRect().bottom > window.innerHeight")
}

func TestAPageIsDarkWhereTheSystemIs(t *testing.T) {
	b := newTab(t)
	b.dark()
	b.open(bank(t, 0))
	b.await("document.documentElement.dataset.theme === 'dark'")
}

func TestStepsAreReachedByClickAndKeyAndShowAllThatIsKnown(t *testing.T) {
	b := newTab(t)
	b.open(bank(t, 0))
	b.awaitText(".step", "test failed")
	b.do(focusLanes())
	b.press("n") // to the preemption
	b.awaitText(".step h2", "load b.total")
	b.awaitText(".step", "The schedule stops goroutine 1 here: goroutine 2 goes next.")
	b.awaitText(".source .here", "old := b.total")
	b.press("r") // to the race
	b.awaitText(".step", "races with")
	b.awaitText(".step", "goroutine 1: store b.total")
	b.awaitText(".step", "bank.(*Bank).deposit")
	for _, want := range []string{"100\n→\n150", "locks held\nb.mu", "variable\nb.total in obj1+8"} {
		b.awaitText(".step", want)
	}
	b.click(".step .rows dd .link") // the other side of the race
	b.awaitText(".step", "goroutine 2: store b.total")
	b.awaitText(".step", "locks held\nnone")
	b.awaitText(".source .here", "b.total = old - 30")

	// A click on the picture: rows are as high as the view says.
	b.press("f")
	b.awaitText(".step", "test failed")
	at := eval[[]float64](b, `(() => { const v = views.run.lanes, r = v.canvas.getBoundingClientRect(); return [r.left + v.x(1) , r.top + v.y(v.rows.rowOf(9))]; })()`)
	b.clickAt(at[0], at[1])
	b.awaitText(".step h2", "done <- 1")
	b.awaitText(".step", "send to receive: goroutine 1: <-done")
	b.click(".step .rows dd .link")
	b.awaitText(".step h2", "<-done")
	b.awaitText(".step", "sent by goroutine 2")
}

// TestADeadlockShowsWhichLockIsHeldByWhom: the goroutines call two locks by the same names, and the page
// does not.
func TestADeadlockShowsWhichLockIsHeldByWhom(t *testing.T) {
	b := newTab(t)
	b.open(pageOf(t, runtest.Crossed(t, t.TempDir())))
	b.awaitText(".story", "Lock order: each goroutine holds the lock that the next one waits for")
	b.awaitText(".step h2", "waits: b.mu.Lock()")
	b.awaitText(".step", "It waits here for ever.")
	b.awaitText(".step", "variable\na.mu #2")
	b.awaitText(".step", "locks held\na.mu #1")
	b.picture("deadlock")
	b.click(".step .rows dd .link") // what holds it
	b.awaitText(".step", "held up\ngoroutine 1: waits: b.mu.Lock(), shop.go:23")
	b.phone()
	b.picture("deadlock-phone")
	// Lanes of a few rows do not end with a screen of nothing, once the page has its new size.
	b.await(`(() => { const v = views.run.lanes; return v.height - v.y(v.rows.total) <= 300; })()`)
}

// TestAnEntryOfAMapIsShownWithItsKeyAndValues, and nothing is said to be missing.
func TestAnEntryOfAMapIsShownWithItsKeyAndValues(t *testing.T) {
	b := newTab(t)
	b.open(pageOf(t, runtest.SplitSection(t, t.TempDir())))
	b.awaitText(".step", "test failed")
	b.do(focusLanes())
	b.press("k")
	b.press("k")
	b.awaitText(".step h2", `map write s.items["pen"] 0 → -1`)
	b.awaitText(".step", "[\"pen\"]: 0\n→\n[\"pen\"]: -1")
	if got := b.text(".step"); strings.Contains(got, "not recorded") {
		t.Errorf("of an entry that is known it is said that\n%s", got)
	}
	b.picture("split-section")
}

func TestFiltersLeaveWhatIsAskedFor(t *testing.T) {
	b := newTab(t)
	b.open(bank(t, 3))
	b.awaitText(".count", "27 of 31 steps")
	b.choose("select[name=variable]", "b.total")
	b.awaitText(".count", "10 of 31 steps")
	b.choose("select[name=kind]", "write")
	b.awaitText(".count", "5 of 31 steps")
	b.choose("select[name=lane]", "goroutine 2")
	b.awaitText(".count", "1 of 31 steps")
	b.choose("select[name=lane]", "All goroutines")
	b.choose("select[name=variable]", "All variables")
	b.choose("select[name=kind]", "All kinds")
	b.click("button[name=relevant]")
	b.awaitText(".count", "31 of 31 steps")
}

// TestALongRunIsShownWithoutStalling: of eighty thousand steps only the chunks in sight are
// taken apart, and the page answers in between.
func TestALongRunIsShownWithoutStalling(t *testing.T) {
	b := newTab(t)
	b.open(bank(t, 20_000))
	b.awaitText(".count", "80,015 of 80,019 steps")
	b.awaitText(".step", "event 80022")
	if open := eval[int](b, "views.run.steps.open.size"); open > 3 {
		t.Errorf("%d chunks are open at the start, want those in sight", open)
	}
	b.do(focusLanes())
	b.press("0") // the whole run
	b.await("views.run.lanes.rowHeight < 0.02 && views.run.lanes.seen.length === 0")
	if open := eval[int](b, "views.run.steps.open.size"); open > 3 {
		t.Errorf("%d chunks are open for the whole run, want the index to do", open)
	}
	b.picture("run-long")
	longest := eval[float64](b, `(async () => {
		let worst = 0;
		for (let i = 0; i < 40; i++) {
			const v = views.run.lanes, begun = performance.now();
			v.zoom(i < 20 ? 1.6 : 1 / 1.6);
			v.scroll += 500;
			v.clamp();
			v.paint();
			worst = Math.max(worst, performance.now() - begun);
			await new Promise((r) => setTimeout(r));
		}
		return worst;
	})()`)
	t.Logf("the slowest picture took %.1f ms", longest)
	b.choose("select[name=lane]", "goroutine 2")
	b.awaitText(".count", "6 of 80,019 steps")
	b.choose("select[name=kind]", "channel")
	b.awaitText(".count", "1 of 80,019 steps")
}

func TestAPageIsReadableOnAPhone(t *testing.T) {
	b := newTab(t)
	b.phone()
	b.open(bank(t, 0))
	b.awaitText(".step", "test failed")
	if wide := eval[int](b, "document.documentElement.scrollWidth"); wide > 390 {
		t.Errorf("the page is %d pixels wide, on a phone of 390", wide)
	}
	b.picture("run-phone")
}
