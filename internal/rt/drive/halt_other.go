//go:build !linux

package drive

// A program of another system cannot tell that a debugger has come; the tool does not ask it to
// wait for one.

func admitDebuggers() {}

func pauseThread() {}

func traced() bool { return false }
