package transactions

import (
	"fmt"
	"math"
	"strings"

	"github.com/cofferdam-go/cofferdam/bench/measure"
)

// The figures that were to be reached; those of STAMP by one goroutine are in
// programs.
const (
	limitTwo         = 1.7  // times as fast by two goroutines as by one
	limitTimer       = 1.03 // timer over eager by one goroutine: no slower, to within what two medians vary by
	limitContended   = 1.5  // times as fast: timer over eager beside a committing neighbour
	limitAllocations = 0.01 // of one transaction: none; the goroutines of a trial are allocated, too
	limitPeer        = 20   // times as fast as anacrolix
	limitFastest     = 1    // times as fast as the fastest peer known
	limitCPP         = 1    // times as long as NOrec in C++
)

// targets compares what was measured with what was to be reached. What was not
// measured has no line.
func (s *session) targets() []measure.Target {
	ts := s.targetsMicro()
	ts = append(ts, s.targetsContended()...)
	ts = append(ts, s.targetsStamp()...)
	return append(ts, s.targetsCompiled()...)
}

func (s *session) targetsMicro() []measure.Target {
	var allocated, faster, fastest, cpp worst
	for _, r := range s.Report.Of(figureMicro) {
		eager, ok := r.Timing(Eager)
		if !ok {
			continue
		}
		a := eager.Counters[allocations]
		allocated.most(exact(a), r, "", fmt.Sprintf("%.3f per transaction", a))
		if ratio, ok := r.Ratio(Peer, Eager); ok {
			peer, _ := r.Timing(Peer)
			faster.least(ratio, r, s.doubt(r, Eager, Peer), fmt.Sprintf("anacrolix takes %.0f ns, eager %.1f", peer.PerOp, eager.PerOp))
		}
		if q, ok := quoted[r.String()]; ok {
			fastest.least(over(q.tiancaiamao, eager), r, s.doubt(r, Eager), fmt.Sprintf("tiancaiamao takes %.0f ns, quoted from another machine of this kind; eager %.1f", q.tiancaiamao, eager.PerOp))
			cpp.most(under(q.cpp, eager), r, s.doubt(r, Eager), fmt.Sprintf("NOrec in C++ takes %.0f ns, quoted from another machine of this kind; eager %.1f. %s", q.cpp, eager.PerOp, s.model()))
		}
	}
	var ts []measure.Target
	ts = allocated.target(ts, measure.Target{Name: "micro: allocations of a transaction, at most", Unit: "per transaction", Limit: limitAllocations})
	ts = faster.target(ts, measure.Target{Name: "micro: times as fast as anacrolix, at least", Unit: "x", Limit: limitPeer, AtLeast: true})
	ts = fastest.target(ts, measure.Target{Name: "micro: times as fast as tiancaiamao (quoted), at least", Unit: "x", Limit: limitFastest, AtLeast: true})
	return cpp.target(ts, measure.Target{Name: "micro: over NOrec in C++ (quoted), at most", Unit: "x", Limit: limitCPP})
}

// targetsContended has a line for each pause: how fast the neighbour commits is ours
// to choose, and to take the pause that suits best would be to choose by result.
func (s *session) targetsContended() []measure.Target {
	var ts []measure.Target
	for _, r := range s.Report.Of(figureContended) {
		ratio, ok := r.Ratio(Eager, Timer)
		if !ok || r.Name != readOnly {
			continue
		}
		eager, _ := r.Timing(Eager)
		timer, _ := r.Timing(Timer)
		per := func(t measure.Timing, name string) float64 { return t.Counters[name] / float64(r.Ops) }
		ts = append(ts, of(ratio, measure.Target{
			Name: fmt.Sprintf("contended, pause %v: timer is faster than eager on 1,000 reads", r.Params[pause]),
			Unit: "x", Limit: limitContended, AtLeast: true, Doubt: s.doubt(r, Eager, Timer),
			Cost: fmt.Sprintf("the neighbour commits %.1f times during a transaction; eager validates %.1f times and timer %.1f. Two spinning goroutines take %.2f times as long as one: "+
				"where that is near 2, reader and neighbour take turns on one processor, and the neighbour does not commit while the reader reads",
				max(0, per(eager, commits)-1), per(eager, validations), per(timer, validations), eager.Counters[coreRatio]),
		}))
	}
	return ts
}

func (s *session) targetsStamp() []measure.Target {
	var ones, twos []measure.Target
	var timer worst
	for _, p := range programs {
		for _, r := range s.Report.Of(figureStamp) {
			if r.Name != p.name {
				continue
			}
			if ratio, ok := r.Ratio(Eager, Sequential); ok {
				ones = append(ones, of(ratio, measure.Target{Name: p.name + ": eager by one goroutine over sequential", Unit: "x", Limit: p.limit, Doubt: s.doubt(r, Eager, Sequential), Cost: s.oneCost(r)}))
			}
			if ratio, ok := r.Ratio(Eager, byTwo(Eager)); ok {
				twos = append(twos, of(ratio, measure.Target{Name: p.name + ": eager by two goroutines over one", Unit: "x", Limit: limitTwo, AtLeast: true, Doubt: s.doubtOfTwo(r), Cost: s.twoCost(r)}))
			}
			if ratio, ok := r.Ratio(Timer, Eager); ok {
				noise, _ := r.Ratio(measure.Again, Sequential)
				timer.most(ratio, r, s.doubt(r, Eager, Timer), "the sequential program against itself: "+noise.Percent())
			}
		}
	}
	ts := append(ones, twos...)
	return timer.target(ts, measure.Target{Name: "stamp: timer over eager by one goroutine, at most", Unit: "x", Limit: limitTimer})
}

// enoughRounds is the number from which a median and its range mean something.
const enoughRounds = 3

// busy is the share of the processors, in percent, from which other programs cast
// doubt on everything.
const busy = 10

// doubt says why what was measured of some variants of a case cannot be relied on,
// whether it meets a target or not; empty if there is no reason.
func (s *session) doubt(r measure.Result, variants ...measure.Variant) string {
	var reasons []string
	rounds, cores, apart := math.MaxInt, 0.0, 0.0
	for _, v := range variants {
		t, ok := r.Timing(v)
		if ok {
			if wasCut(t) {
				reasons = append(reasons, string(v)+" cut off")
			}
			rounds, apart = min(rounds, len(t.Seconds)), max(apart, t.Spread())
			cores = max(cores, t.Counters[coreRatio])
		}
	}
	if rounds < 2 || rounds < enoughRounds && apart > alike {
		reasons = append(reasons, fmt.Sprintf("rounds %d", rounds))
	}
	if cores > twoCores {
		reasons = append(reasons, fmt.Sprintf("cores %.2f", cores))
	}
	if s.Report.Machine.Others >= busy {
		reasons = append(reasons, fmt.Sprintf("others %.0f %%", s.Report.Machine.Others))
	}
	return strings.Join(reasons, ", ")
}

// doubtOfTwo is doubt about two goroutines over one: also if two processes that have nothing in
// common are not as much faster than one as two goroutines are to be.
func (s *session) doubtOfTwo(r measure.Result) string {
	doubt := s.doubt(r, Eager, byTwo(Eager))
	apart, ok := r.Ratio(Eager, sideBySide(Eager))
	if !ok || apart.Mid >= limitTwo {
		return doubt
	}
	reason := fmt.Sprintf("two processes %.2f", apart.Mid)
	if doubt == "" {
		return reason
	}
	return doubt + ", " + reason
}

// A worst is the case that decides about a target over several.
type worst struct {
	ratio measure.Ratio
	where string
	cost  string
	doubt string
}

func (w *worst) most(r measure.Ratio, of measure.Result, doubt, cost string) {
	if w.where == "" || r.Mid > w.ratio.Mid {
		*w = worst{r, of.String(), cost, doubt}
	}
}

func (w *worst) least(r measure.Ratio, of measure.Result, doubt, cost string) {
	if w.where == "" || r.Mid < w.ratio.Mid {
		*w = worst{r, of.String(), cost, doubt}
	}
}

// target appends the target that it decides, if anything was measured.
func (w *worst) target(ts []measure.Target, t measure.Target) []measure.Target {
	if w.where == "" {
		return ts
	}
	t.Where, t.Cost, t.Doubt = w.where, w.cost, w.doubt
	return append(ts, of(w.ratio, t))
}

// of judges a target by a ratio.
func of(r measure.Ratio, t measure.Target) measure.Target {
	t.Measured, t.Low, t.High = r.Mid, r.Low, r.High
	return t.Judge()
}

func exact(v float64) measure.Ratio { return measure.Ratio{Mid: v, Low: v, High: v} }

// over is a quoted time over what was measured, under the reverse; the range is
// that of the middle half of the rounds.
func over(ns float64, t measure.Timing) measure.Ratio {
	r := under(ns, t)
	return measure.Ratio{Mid: 1 / r.Mid, Low: 1 / r.High, High: 1 / r.Low}
}

func under(ns float64, t measure.Timing) measure.Ratio {
	per := t.PerOp / t.Median / ns
	return measure.Ratio{Mid: t.Median * per, Low: measure.Quantile(t.Seconds, 0.25) * per, High: measure.Quantile(t.Seconds, 0.75) * per}
}

// A price is what parts of a transaction cost, in ns, by the micro-benchmarks of
// this run: when everything is in the cache.
type price struct{ empty, read, write float64 }

func (s *session) price() (p price, ok bool) {
	ns := map[string]float64{}
	for _, r := range s.Report.Of(figureMicro) {
		if t, ok := r.Timing(Eager); ok && r.Params[measure.Goroutines] == 1 {
			ns[r.Name] = t.PerOp
		}
	}
	if ns[empty] == 0 || ns[readThousand] == 0 || ns[update] == 0 {
		return p, false
	}
	p.empty = ns[empty]
	p.read = (ns[readThousand] - p.empty) / 1000
	p.write = (ns[update]-p.empty)/32 - p.read
	return p, true
}

// model says what parts of a transaction cost.
func (s *session) model() string {
	p, ok := s.price()
	if !ok {
		return ""
	}
	return fmt.Sprintf("In this run an empty transaction takes %.1f ns, a read %.2f, a write %.2f", p.empty, p.read, p.write)
}

// oneCost divides the overhead of a program between the parts of its transactions.
func (s *session) oneCost(r measure.Result) string {
	one, _ := r.Timing(Eager)
	base, _ := r.Timing(Sequential)
	n := max(one.Counters[commits], 1)
	more := 1e9 * (one.Median - base.Median) / n
	reads, writes := one.Counters[readWords]/n, one.Counters[writtenWords]/n
	text := fmt.Sprintf("each of %.0f transactions, with %.1f words read and %.1f written, takes %.0f ns more than the sequential code does", n, reads, writes, more)
	p, ok := s.price()
	if !ok {
		return text
	}
	begin, read, write := p.empty, reads*p.read, writes*p.write
	return text + fmt.Sprintf(". By the micro-benchmarks of this run %.0f of them are its begin and end, %.0f the reads, %.0f the writes; the remaining %.0f are in none: "+
		"reads of what was written, cache misses of the logs, what the compiler cannot do across a Load, and %.2f allocations more",
		begin, read, write, more-begin-read-write, (one.Counters[allocations]-base.Counters[allocations])/n)
}

// twoCost says what two goroutines lose.
func (s *session) twoCost(r measure.Result) string {
	two, _ := r.Timing(byTwo(Eager))
	n := max(two.Counters[commits], 1)
	text := fmt.Sprintf("%.2f %% of the attempts conflict, and a transaction is validated %.2f times; two spinning goroutines take %.2f times as long as one",
		100*two.Counters[conflicts]/n, two.Counters[validations]/n, two.Counters[coreRatio])
	if apart, ok := r.Ratio(Eager, sideBySide(Eager)); ok {
		text += ". Two processes that have nothing in common are faster than one by " + apart.Times()
	}
	if mutex, ok := r.Ratio(Mutex, byTwo(Mutex)); ok {
		text += ". With a mutex two are faster than one by " + mutex.Times()
	}
	if base, ok := r.Timing(Sequential); ok && base.Median < 0.1 {
		text += fmt.Sprintf(". The set takes only %.1f ms: it is for tests, not for claims", 1e3*base.Median)
	}
	return text
}
