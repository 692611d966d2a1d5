package instrument

import (
	"errors"
	"slices"
	"strings"
)

// A DepsFlag is Config.Deps as a flag of a command: alone it stands for all dependencies.
type DepsFlag []string

func (d *DepsFlag) IsBoolFlag() bool { return true }

func (d *DepsFlag) String() string { return strings.Join(*d, ",") }

// Set takes patterns with commas between them, true for all and false for none.
func (d *DepsFlag) Set(text string) error {
	switch text {
	case "true":
		*d = DepsFlag{AllDeps}
		return nil
	case "false", "":
		*d = nil
		return nil
	}
	*d = strings.Split(text, ",")
	if slices.Contains(*d, "") {
		return errors.New("give import paths, with commas between them")
	}
	return nil
}
