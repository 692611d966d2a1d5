//go:build !linux

package explore

import (
	"errors"
	"os/exec"
)

// Limits are what a process of a program may take of its machine. The zero value limits nothing.
type Limits struct {
	Memory    uint64 // bytes of data; 0 for any number
	NoNetwork bool   // it sees a network of its own, with nothing in it
}

func (Limits) prepare(*exec.Cmd)     {}
func (Limits) apply(*exec.Cmd) error { return nil }

// CheckLimits reports why the limits cannot be kept on this machine; nil if they can.
func CheckLimits(l Limits) error {
	if l != (Limits{}) {
		return errors.New("memory and network are limited on Linux only")
	}
	return nil
}
