// Package stacktext makes of what runtime.Stack says of goroutines what it would say
// without control. Tests that look for goroutines left behind read it.
//
//	goroutine 7 [chan receive]:                          goroutine 7 [chan send]:
//	cofferdamrt.(*goroutine).park(0xd1a1e573508)         example.com/p.work(0x1)
//		/goroot/src/cofferdamrt/sched.go:328 +0x25           /src/p/p.go:12 +0x1d
//	cofferdamrt.(*goroutine).await(0xd1a1e573508, ...)
//		/goroot/src/cofferdamrt/wait.go:128 +0x534
//	cofferdamrt.Sender[...].Send(...)
//		/goroot/src/cofferdamrt/channel_unsafe.go:120
//	example.com/p.work(0x1)
//		/src/p/p.go:12 +0x1d
//	created by cofferdamrt.(*scheduler).spawn in goroutine 1
//		/goroot/src/cofferdamrt/goroutine.go:119 +0x295
//
// Goroutines that are not the program's are left out: the one that drives the runs, and the
// watchdog. It imports nothing, since it is linked below package strings.
package stacktext

const (
	hooks    = "cofferdamrt."               // functions of the hooks
	below    = "cofferdamrt/"               // and of the packages below
	creation = "created by "                // comes before the function that started a goroutine
	spawn    = "cofferdamrt.(*scheduler)"   // what starts those of the program begins with
	runs     = "cofferdamrt.Run("           // is in the goroutine that drives the runs
	begins   = spawn + ".begin"             // starts the watchdog
	waits    = hooks + "(*goroutine).await" // or what that consists of
	ends     = "runtime.goexit("            // is all that a goroutine has which the runtime has not begun
	literal  = hooks + "callOf("            // calls a literal that hooks put around a call
)

// OfHooks reports whether a function is one of the hooks.
func OfHooks(function string) bool { return hasPrefix(function, hooks) || hasPrefix(function, below) }

// An Origin says of a goroutine by its number the call that it begins with, and its creator, each
// with its place; "" if that is none of the program's.
type Origin func(number string) (begins, creator string)

// Program returns the stacks of the goroutines of the program, as it would see them.
func Program(text string, from Origin) []byte {
	shown := make([]byte, 0, len(text))
	for text != "" {
		var one string
		if one, text = cut(text, "\n\n"); one == "" {
			continue
		}
		if one = goroutine(one, from); one == "" {
			continue
		}
		if len(shown) > 0 {
			shown = append(shown, '\n')
		}
		shown = append(shown, one...)
	}
	return shown
}

// goroutine returns the stack of one goroutine as the program would see it; "" if it is not the
// program's.
func goroutine(text string, from Origin) string {
	head, text := cut(text, "\n")
	calls, hook, waiting, ours := "", "", false, false
	last := 0 // where the last of the calls begins
	for text != "" {
		var call, place string
		call, text = cut(text, "\n")
		if hasPrefix(text, "\t") {
			place, text = cut(text, "\n")
			place += "\n"
		}
		switch creator := trim(call, creation); {
		case hasPrefix(call, runs) || creator != call && hasPrefix(creator, begins):
			return ""
		case creator != call && hasPrefix(creator, spawn):
			ours = true
		case hasPrefix(call, ends):
		case hasPrefix(call, literal):
			calls = calls[:last]
		case OfHooks(call):
			waiting = waiting || hasPrefix(call, waits)
			if calls == "" {
				hook = call // the last of them is what the program calls
			}
		default:
			last = len(calls)
			calls += call + "\n" + place
		}
	}
	begins, creator := "", ""
	if ours {
		begins, creator = from(numberOf(head))
	}
	if calls == "" {
		calls = begins // it has not begun
	}
	if calls == "" {
		return "" // it is about to end
	}
	if hook != "" {
		head = withState(head, state(hook, waiting))
	}
	if creator != "" {
		calls += creation + creator
	}
	return head + "\n" + calls
}

// numberOf returns the number in the head of a goroutine.
func numberOf(head string) string {
	_, number := cut(head, " ")
	number, _ = cut(number, " ")
	return number
}

// state is what the runtime calls the state of a goroutine that is in a hook.
func state(hook string, waiting bool) string {
	if !waiting {
		return "runnable"
	}
	for _, s := range [...]struct{ name, state string }{
		{"Recv", "chan receive"}, {"Send", "chan send"}, {"Select", "select"}, {"Sleep", "sleep"},
		{"RLock", "sync.RWMutex.RLock"}, {"Lock", "sync.Mutex.Lock"}, {"Cond", "sync.Cond.Wait"}, {"Wait", "sync.WaitGroup.Wait"},
	} {
		if contains(hook, s.name) {
			return s.state
		}
	}
	return "chan receive"
}

// withState puts another state into the head of a goroutine: goroutine 7 [chan receive]:
func withState(head, state string) string {
	number, _ := cut(head, "[")
	return number + "[" + state + "]:"
}

// cut returns what is before and after the first separator.
func cut(text, separator string) (before, after string) {
	for i := 0; i+len(separator) <= len(text); i++ {
		if text[i:i+len(separator)] == separator {
			return text[:i], text[i+len(separator):]
		}
	}
	return text, ""
}

func hasPrefix(text, prefix string) bool {
	return len(text) >= len(prefix) && text[:len(prefix)] == prefix
}

func trim(text, prefix string) string {
	if hasPrefix(text, prefix) {
		return text[len(prefix):]
	}
	return text
}

func contains(text, part string) bool {
	before, _ := cut(text, part)
	return len(before) < len(text)
}
