package rt

import "sync/atomic"

// Several processes of a program run the same test at the same time, in the same folder. A file
// that a run changes by its name is the same file for all of them, and each would find what
// another has done to it. Such a program is run by one process at a time (Result.NotBeside).
// What is in a temporary folder is not meant: no two processes are given the same.

// beside is what is known of that.
var beside struct {
	busy atomic.Bool // a lock, of the goroutine that swaps it from false
	// own are the files and folders whose names no other process has, with whether they were
	// made in a run; here says that the working directory is in one of them.
	own  map[string]bool
	here bool
	// not is Result.NotBeside.
	not atomic.Pointer[string]
}

func lockBeside() {
	for !beside.busy.CompareAndSwap(false, true) {
	}
}

func unlockBeside() { beside.busy.Store(false) }

// OwnFile is called before a file or folder is made whose name no other process has, and
// DisownFile if that fails, because another has.
func OwnFile(name string) {
	lockBeside()
	defer unlockBeside()
	if beside.own == nil {
		beside.own = map[string]bool{}
	}
	beside.own[name] = on.Load()
}

func DisownFile(name string) {
	lockBeside()
	defer unlockBeside()
	delete(beside.own, name)
}

// forgetOwn forgets the names of earlier runs, which a run does not come by again.
func forgetOwn() {
	lockBeside()
	defer unlockBeside()
	for name, inRun := range beside.own {
		if inRun {
			delete(beside.own, name)
		}
	}
}

// Chdir is called before the working directory becomes another one.
func Chdir(dir string) {
	lockBeside()
	defer unlockBeside()
	beside.here = owns(dir)
}

// ChangesFile is File for a change of what a name means. It is called by any goroutine.
func ChangesFile(name string) {
	SharesFile(name)
	File(true)
}

// SharesFile is called before a file is changed, or opened to be, by its name.
func SharesFile(name string) {
	if beside.not.Load() != nil || device(name) {
		return
	}
	lockBeside()
	own := owns(name)
	unlockBeside()
	if !own {
		notBeside("the test changes " + name + ", which is the same file for all processes")
	}
}

// notBeside takes note of why processes cannot run side by side. The first reason is told.
func notBeside(why string) { beside.not.CompareAndSwap(nil, &why) }

// whyNotBeside is Result.NotBeside.
func whyNotBeside() string {
	if why := beside.not.Load(); why != nil {
		return *why
	}
	return ""
}

// device reports whether a name is that of no file: what is written there is not read back.
func device(name string) bool {
	return name == "NUL" || hasPrefix(name, "/dev/") && !hasPrefix(name, "/dev/shm/")
}

// owns reports whether a name, or a folder that it is in, is one of its own. The caller has locked
// beside.
func owns(name string) bool {
	for end := len(name); end > 0; end-- {
		if end < len(name) && !isSeparator(name[end]) {
			continue
		}
		if _, ok := beside.own[name[:end]]; ok {
			return true
		}
	}
	return beside.here && !absolute(name)
}

func isSeparator(c byte) bool { return c == '/' || c == '\\' }

func absolute(name string) bool {
	return name != "" && (isSeparator(name[0]) || len(name) > 1 && name[1] == ':')
}

func hasPrefix(s, prefix string) bool {
	return len(s) >= len(prefix) && s[:len(prefix)] == prefix
}
