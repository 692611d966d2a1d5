package command

import "fmt"

// Exit codes that all subcommands share; see package topics.
const (
	ExitFound = 1
	ExitError = 2
	// ExitPartly is that nothing was found, but not everything was seen, and that is to count.
	ExitPartly = 3
)

// An Exit ends the program with a code, and with a message if err is not nil.
// Any other error ends it with ExitError.
type Exit struct {
	Code int
	Err  error
}

func (e *Exit) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

func (e *Exit) Unwrap() error { return e.Err }
