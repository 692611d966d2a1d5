package publish

import (
	"fmt"
	"slices"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/cofferdam-go/cofferdam/internal/finding"
)

// codeFlow shows how a finding comes about: a thread flow for each goroutine. Of a recorded run
// that is its steps, numbered over all goroutines, so that a viewer can show them interleaved;
// otherwise the calls that led each goroutine to its access. It is nil if neither is known.
func (w *sarifWriter) codeFlow(r *Result) *sarif.CodeFlow {
	flow := sarif.NewCodeFlow()
	if len(r.Steps) > 0 {
		flow.ThreadFlows = w.stepFlows(r.Steps)
	} else {
		flow.ThreadFlows = w.callFlows(r.Accesses)
	}
	if len(flow.ThreadFlows) == 0 {
		return nil
	}
	return flow
}

func (w *sarifWriter) stepFlows(steps []Step) []*sarif.ThreadFlow {
	byGoroutine := map[uint64]*sarif.ThreadFlow{}
	var order []uint64
	for i := range steps {
		s := &steps[i]
		flow := byGoroutine[s.Goroutine]
		if flow == nil {
			lane := s.Lane
			if s.Goroutine == 0 {
				lane = "the machine"
			}
			flow = sarif.NewThreadFlow().WithID(lane).WithMessage(sarif.NewTextMessage(lane))
			byGoroutine[s.Goroutine] = flow
			order = append(order, s.Goroutine)
		}
		at := w.location(s.At)
		at.Message = sarif.NewTextMessage(s.What)
		flow.AddLocation(sarif.NewThreadFlowLocation().WithLocation(at).WithExecutionOrder(i + 1))
	}
	slices.Sort(order)
	var flows []*sarif.ThreadFlow
	for _, g := range order {
		flows = append(flows, byGoroutine[g])
	}
	return flows
}

// callFlows are the stacks of accesses, outermost call first. One access by itself is shown as
// a stack and needs no flow.
func (w *sarifWriter) callFlows(accesses []finding.Access) []*sarif.ThreadFlow {
	if len(accesses) < 2 {
		return nil
	}
	var flows []*sarif.ThreadFlow
	for i := range accesses {
		a := &accesses[i]
		if len(a.Stack) == 0 {
			continue
		}
		name := fmt.Sprintf("goroutine %d", a.Goroutine)
		if a.Goroutine == 0 {
			name = fmt.Sprintf("side %d", i+1)
		}
		flow := sarif.NewThreadFlow().WithID(fmt.Sprintf("%s, %d", name, i+1)).WithMessage(sarif.NewTextMessage(name))
		for depth, frame := range slices.Backward(a.Stack) {
			at := w.location(frame)
			at.Message = sarif.NewTextMessage(frame.Function)
			if depth == 0 {
				at.Message = sarif.NewTextMessage(a.What())
			}
			flow.AddLocation(sarif.NewThreadFlowLocation().WithLocation(at).WithNestingLevel(len(a.Stack) - 1 - depth))
		}
		flows = append(flows, flow)
	}
	return flows
}

// stack is the calls at an access.
func (w *sarifWriter) stack(r *Result, a *finding.Access) *sarif.Stack {
	stack := sarif.NewStack().WithMessage(sarif.NewTextMessage(whatWasDone(r, a)))
	for _, frame := range a.Stack {
		stack.AddFrame(sarif.NewStackFrame().WithLocation(w.location(frame)))
	}
	return stack
}
