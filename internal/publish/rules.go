package publish

import (
	"fmt"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/finding"
)

// Levels of SARIF, which are also those of GitHub's annotations but for note, a notice there.
const (
	levelError   = "error"
	levelWarning = "warning"
	levelNote    = "note"
)

// A rule is what is said of a kind of finding once for all of them.
type rule struct {
	level string
	short string
	help  string
}

const (
	lookAtTheRun = "The run is recorded: cofferdam replay makes it again, cofferdam trace shows all its steps, and cofferdam fix looks for a change that mends it."
	takeTheLock  = "Take the lock around the access, or say by an annotation which lock guards the data."
)

// ruleOf says what a kind is.
func ruleOf(k finding.Kind) rule {
	switch k {
	case finding.Panic:
		return rule{levelError, "A schedule leads to a panic.", lookAtTheRun}
	case finding.Fatal:
		return rule{levelError, "A schedule leads to a fatal error of the runtime.", lookAtTheRun}
	case finding.Deadlock:
		return rule{levelError, "A schedule leads to a state in which no goroutine can go on.", lookAtTheRun}
	case finding.PartialDeadlock:
		return rule{levelError, "A goroutine waits for a lock that is never released.", lookAtTheRun}
	case finding.Exit:
		return rule{levelError, "A schedule leads to a call of os.Exit.", lookAtTheRun}
	case finding.TestFail:
		return rule{levelError, "A schedule makes the test fail.", lookAtTheRun}
	case finding.Crash:
		return rule{levelError, "A schedule makes the program crash.", lookAtTheRun}
	case finding.Race:
		return rule{levelError, "Two accesses of the same memory, one of which writes, are ordered by nothing.", lookAtTheRun}
	case finding.Leak:
		return rule{levelWarning, "A goroutine is left waiting for ever when its test is over.", lookAtTheRun}
	case finding.Violation:
		return rule{levelError, "An access without the lock fell into a section of the lock.", takeTheLock}
	case finding.Bypass:
		return rule{levelNote, "A section accesses its data through the pointer that is for all.", "Use the pointer that Own returns inside the section."}
	case finding.Deviation:
		return rule{levelWarning, "An access does not hold the lock that guards the data elsewhere.", takeTheLock}
	case finding.SplitSection:
		return rule{levelWarning, "Data is checked in one section, and used by what the check said in another.", "Another goroutine may have changed the data in between: check again in the second section, or make one of the two."}
	case finding.TransactionMisuse:
		return rule{levelWarning, "Something is in a transaction that must not be.", "The comment of package stmcheck says what a transaction may do, and why."}
	}
	panic(fmt.Sprintf("publish: unknown kind %q", k))
}

// ruleID is the name of a kind in forms that want one word.
func ruleID(k finding.Kind) string { return strings.ReplaceAll(string(k), " ", "-") }

// ruleName is the same in the form that SARIF asks for.
func ruleName(k finding.Kind) string {
	var name strings.Builder
	for _, word := range strings.Fields(string(k)) {
		name.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return name.String()
}
