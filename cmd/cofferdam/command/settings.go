package command

import (
	"errors"
	"flag"

	"github.com/cofferdam-go/cofferdam/internal/settings"
)

// takeSettings reads the settings of the module that the command is run in, and sets those flags
// that were not given.
func (c *Command) takeSettings() (*settings.File, error) {
	if c.IgnoresSettings {
		return new(settings.File), nil
	}
	file, err := settings.Find(".")
	if err != nil {
		return nil, err
	}
	if err := file.Check(c.withSettings()); err != nil {
		return nil, err
	}
	given := map[string]bool{}
	c.Flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	c.fromSettings = map[string]bool{}
	for _, set := range file.Flags(c.Name) {
		if given[set.Name] {
			continue
		}
		f := c.Flags.Lookup(set.Name)
		if err := c.Flags.Set(set.Name, set.Value); err != nil {
			if want := wanted(f); want != "" {
				err = errors.New(want)
			}
			return nil, file.Errorf(set.Line, "%s.%s = %q: %w", c.Name, set.Name, set.Value, err)
		}
		c.fromSettings[set.Name] = true
	}
	return file, nil
}

// withSettings are the commands that settings can have tables for, and their flags.
func (c *Command) withSettings() (names []string, flags func(command string) []string) {
	byName := map[string]*Command{}
	for _, other := range c.All {
		if !other.IgnoresSettings {
			names = append(names, other.Name)
			byName[other.Name] = other
		}
	}
	return names, func(command string) []string {
		var all []string
		for _, name := range byName[command].FlagNames() {
			if name != "C" { // by which the module is found
				all = append(all, name)
			}
		}
		return all
	}
}
