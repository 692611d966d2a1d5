package browser

import (
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/cofferdam-go/cofferdam/internal/report/page"
	"github.com/cofferdam-go/cofferdam/internal/report/runtest"
)

// TestTheSameScheduleShowsWhereTheFixHoldsAGoroutineUp: it opens where the schedule takes over, although the
// step there is none that is shown, and says what came of the run.
func TestTheSameScheduleShowsWhereTheFixHoldsAGoroutineUp(t *testing.T) {
	d := pageOf(t, runtest.Closed(t, t.TempDir()))
	d.After = pageOf(t, runtest.KeptOpen(t, t.TempDir())).Run
	d.Fix = &page.Fix{Proven: true, Change: "the mutex Feed.mu"}
	b := newTab(t)
	b.open(d)
	b.awaitText(".step", "panic: send on closed channel")
	b.awaitText(".step", "races with\ngoroutine 2: close(f.out), feed.go:28")
	b.awaitText(".source .here", "f.out <- s")
	b.click("#tab-after")
	b.awaitText("#after .verdict", "TestClose did not fail in this run. The schedule stops goroutine 1 and lets goroutine 2 go on, which has to wait for “f.mu.Lock()” at feed.go:25.")
	b.awaitText("#after .step h2", "load f.closed")
	const preemptions = `(() => {
		const v = views.after.lanes, paint = v.paintPreemption;
		let n = 0;
		v.paintPreemption = (...all) => { n++; paint.apply(v, all); };
		v.paint();
		return n;
	})()`
	if n := eval[int](b, preemptions); n != 1 {
		t.Errorf("%d preemptions are painted, want 1", n)
	}
	b.do(focusLanes())
	b.press("j")
	b.awaitText("#after .step h2", "waits: f.mu.Lock()")
	b.press("n") // the one that there is
	b.awaitText("#after .step h2", "load f.closed")
	b.press("n")
	b.awaitText("#after .step h2", "load f.closed")
	b.picture("after")
}

// TestTheFailureIsSeenWithoutScrolling: the picture goes on below the window, and the row of the failure does not.
func TestTheFailureIsSeenWithoutScrolling(t *testing.T) {
	b := newTab(t)
	b.do(chromedp.EmulateViewport(1280, 800))
	b.open(bank(t, 4))
	b.awaitText(".step", "test failed")
	b.await(`(() => { const v = views.run.lanes, top = v.canvas.getBoundingClientRect().top; return top + v.y(v.rows.rowOf(v.selected)) + v.rowHeight / 2 < window.innerHeight; })()`)
	b.await("document.querySelector('.stage').getBoundingClientRect().bottom > window.innerHeight")
	// What is beside the source keeps its height, however long the source is.
	b.await("document.querySelector('.code .tabs').getBoundingClientRect().height >= 30")
}

// TestARaceInACallIsShownAtItsOwnLine: not at the line of the caller, and with both sides in sight.
func TestARaceInACallIsShownAtItsOwnLine(t *testing.T) {
	b := newTab(t)
	b.open(pageOf(t, runtest.Printed(t, t.TempDir())))
	b.awaitText(".step .by", "feed.go:35")
	b.awaitText(".source .here", "f.sent++")
	b.awaitText(".step", "feed.(*Feed).add feed.go:35\nfeed.(*Feed).Count feed.go:32")
	b.awaitText(".step", "races with\ngoroutine 1: load 0, feed.go:38")
	if n := eval[int](b, "views.run.lanes.run.races.flat().filter((s) => views.run.lanes.rows.step(views.run.lanes.rows.rowOf(s)) === s).length"); n != 2 {
		t.Errorf("%d sides of the race are among the rows, want 2", n)
	}
}

// TestKeysDoNothingWhereNothingIsLeft: no filter lets a step through, and nothing goes wrong.
func TestKeysDoNothingWhereNothingIsLeft(t *testing.T) {
	b := newTab(t)
	b.open(bank(t, 0))
	b.awaitText(".step", "test failed")
	b.choose("select[name=lane]", "goroutine 2")
	b.choose("select[name=kind]", "failure")
	b.awaitText(".count", "0 of 19 steps")
	eval[any](b, `for (const key of ["Home", "End", "j", "k", "[", "]", "PageUp", "PageDown", "n", "p", "f", "r", "0", "+", "-"]) views.run.lanes.canvas.dispatchEvent(new KeyboardEvent("keydown", { key }))`)
	b.awaitText(".count", "0 of 19 steps")
}

// TestAKeyThatIsHeldDownLosesNoStep at the end of a chunk, where the next one has to be taken apart first.
func TestAKeyThatIsHeldDownLosesNoStep(t *testing.T) {
	b := newTab(t)
	b.open(bank(t, 2000))
	b.awaitText(".step", "test failed")
	eval[any](b, "views.run.lanes.filter({ relevant: false })")
	eval[any](b, "views.run.lanes.select(2045)")
	eval[any](b, `for (let i = 0; i < 10; i++) views.run.lanes.canvas.dispatchEvent(new KeyboardEvent("keydown", { key: "j" }))`)
	b.await("views.run.lanes.selected === 2055")
	eval[any](b, `for (let i = 0; i < 20; i++) views.run.lanes.canvas.dispatchEvent(new KeyboardEvent("keydown", { key: "k" }))`)
	b.await("views.run.lanes.selected === 2035")
}

// TestAStepOfTheSameGoroutineIsFoundWithoutOpeningWhatLiesBetween: goroutine 2 has nothing before its first step.
func TestAStepOfTheSameGoroutineIsFoundWithoutOpeningWhatLiesBetween(t *testing.T) {
	b := newTab(t)
	b.open(bank(t, 10_000))
	b.awaitText(".step", "test failed")
	b.choose("select[name=lane]", "goroutine 2")
	b.awaitText(".count", "6 of 40,019 steps")
	eval[any](b, "views.run.lanes.end(false)")
	b.awaitText(".step", "goroutine 2")
	b.choose("select[name=lane]", "All goroutines")
	before := eval[int](b, "views.run.steps.open.size")
	if now := eval[int](b, "views.run.lanes.sameLane(-1).then(() => views.run.steps.open.size)"); now > before {
		t.Errorf("%d chunks are open, after %d", now, before)
	}
	b.awaitText(".step", "goroutine 2")
}

// TestTheWheelMovesThePageAtTheEndOfThePicture, which would hold a person up otherwise.
func TestTheWheelMovesThePageAtTheEndOfThePicture(t *testing.T) {
	b := newTab(t)
	b.open(bank(t, 20))
	b.awaitText(".step", "test failed")
	taken := func(delta int) bool {
		t.Helper()
		return eval[bool](b, "!views.run.lanes.canvas.dispatchEvent(new WheelEvent('wheel', { deltaY: "+map[int]string{-1: "-300", 1: "300", 2: "1e6"}[delta]+", cancelable: true }))")
	}
	if !taken(-1) {
		t.Error("the wheel does not move the picture up")
	}
	if taken(2); taken(1) {
		t.Error("the wheel is held at the end of the picture")
	}
}
