// Package versions has the subcommand version, which prints the version of Cofferdam and the versions of Go
// that it supports.
package versions

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/command"
	"github.com/cofferdam-go/cofferdam/internal/instrument"
)

// release is the version of a build by release.sh, which sets it: what is built without version control does
// not know its own.
var release string

// NewCommand returns cofferdam version.
func NewCommand() *command.Command {
	c := command.New("version", "", "print the version, and the versions of Go that it supports")
	c.IgnoresSettings = true
	c.Long = `Version prints which Cofferdam this is, the revision and the version of Go that it was built
with, and the versions of Go whose programs can be explored, fixed and protected.`
	c.Work = func(_ context.Context, inv *command.Invocation) error {
		if len(inv.Operands) > 0 {
			return c.Errorf("version takes no arguments")
		}
		info, ok := debug.ReadBuildInfo()
		if !ok {
			info = &debug.BuildInfo{}
		}
		return writeVersion(inv.Stdout, info)
	}
	return c
}

// writeVersion tells what is known of the build. A build from a working copy has no
// version, and one without version control no revision.
func writeVersion(w io.Writer, info *debug.BuildInfo) error {
	version := info.Main.Version
	switch {
	case release != "":
		version = release
	case version == "" || version == "(devel)":
		version = "of a working copy"
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	var b strings.Builder
	fmt.Fprintf(&b, "cofferdam %s\n", version)
	if revision := settings["vcs.revision"]; revision != "" {
		if settings["vcs.modified"] == "true" {
			revision += ", changed since"
		}
		fmt.Fprintf(&b, "revision        %s\n", revision)
	}
	if info.GoVersion != "" {
		fmt.Fprintf(&b, "built with      %s, %s/%s\n", info.GoVersion, runtime.GOOS, runtime.GOARCH)
	}
	fmt.Fprintf(&b, "for programs of %s\n", strings.Join(instrument.GoVersions, ", "))
	_, err := io.WriteString(w, b.String())
	return err
}
