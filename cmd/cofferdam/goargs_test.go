package main

import (
	"errors"
	"flag"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/command"
	"github.com/cofferdam-go/cofferdam/internal/protect"
)

// goCommand takes the arguments of cofferdam run, build or test apart.
func goCommand(t *testing.T, line string) (*protectOptions, error) {
	t.Helper()
	words := strings.Fields(line)
	o := &protectOptions{verb: words[0]}
	c := command.New(words[0], "", "")
	o.declare(c.Flags)
	return o, o.parseGo(c, words[1:])
}

func TestFlagsOfTheGoCommandArePassedOn(t *testing.T) {
	for _, test := range []struct{ line, pass, patterns, load string }{
		{"run .", ".", ".", ""},
		{"run -race . -x -protect=none y", "-race . -x -protect=none y", ".", ""},
		{"run . -- -x", ". -- -x", ".", ""},
		{"run -race -- . -h", "-race . -h", ".", ""},
		{"run a.go b.go c -v d.go", "a.go b.go c -v d.go", "a.go b.go", ""},
		{"run ./pkg a.go", "./pkg a.go", "./pkg", ""},
		{"run -tags x -ldflags=-s -exec time . -tags y", "-tags x -ldflags=-s -exec time . -tags y", ".", "-tags=x"},
		{"run -strict -protect -min 0.7 -maps . -strict", ". -strict", ".", ""},
		{"build", "", "", ""},
		{"build -o app -mod=vendor -v ./a ./b", "-o app -mod=vendor -v ./a ./b", "./a ./b", "-mod=vendor"},
		{"build -- ./a", "./a", "./a", ""},
		{"test", "", "", ""},
		{"test -skip X -skip=lock:a.mu -skip func:f,var:b ./a -skip ^Y:z", "-skip X ./a -skip ^Y:z", "./a", ""},
		{"test ./a ./b -v -run X", "./a ./b -v -run X", "./a ./b", ""},
		{"test -run X -count=2 -strict ./... -short", "-run X -count=2 ./... -short", "./...", ""},
		{"test -test.run X ./a", "-test.run X ./a", "./a", ""},
		{"test ./a -custom value -v", "./a -custom value -v", "./a", ""},
		{"test -custom ./a", "-custom ./a", "", ""},
		{"test -custom -v ./a", "-custom -v ./a", "", ""},
		{"test ./a -v b c", "./a -v b c", "./a", ""},
		{"test ./a -args -strict -h", "./a -args -strict -h", "./a", ""},
		{"test ./a -- -strict", "./a -- -strict", "./a", ""},
		{"test -vet=all -vet off ./a", "./a", "./a", ""},
	} {
		o, err := goCommand(t, test.line)
		if err != nil {
			t.Errorf("%s: %v", test.line, err)
			continue
		}
		got := []string{strings.Join(o.pass, " "), strings.Join(o.patterns, " "), strings.Join(o.load, " ")}
		if diff := cmp.Diff([]string{test.pass, test.patterns, test.load}, got); diff != "" {
			t.Errorf("%s: %s", test.line, diff)
		}
	}
}

// TestRaceBuildsAreKnown: what the table says of isolated fields does not hold for them.
func TestRaceBuildsAreKnown(t *testing.T) {
	for line, want := range map[string]bool{
		"build .": false, "build -race .": true, "build --race=true -trimpath .": true, "run -race=false . -race": false, "test . -race": true,
	} {
		o, err := goCommand(t, line)
		if err != nil || o.race != want {
			t.Errorf("%s: %v, asks for the race detector: %t", line, err, o.race)
		}
	}
}

func TestOwnFlagsOfProtectCommands(t *testing.T) {
	o, err := goCommand(t, "run -protect=detect -min=0.7 -deps -maps -strict -findings f.json -summary=false .")
	if err != nil {
		t.Fatal(err)
	}
	if o.mode.Mode != protect.Detect || o.min != 0.7 || !o.deps || !o.maps || !o.strict || o.findings != "f.json" || o.summary {
		t.Errorf("%+v", o)
	}
	if o, err = goCommand(t, "test --protect"); err != nil || o.mode.Mode != protect.Auto {
		t.Errorf("%+v, %v", o, err)
	}
}

func TestWhatCannotBeRunIsRefused(t *testing.T) {
	for line, want := range map[string]string{
		"run":                   "no package to run",
		"run -race":             "no package to run",
		"run -cover .":          "ignores rewritten sources",
		"test -coverprofile=x":  "ignores rewritten sources",
		"build -overlay x":      "an overlay already",
		"run -o app .":          "neither cofferdam run nor go run has a flag -o",
		"build -exec time .":    "neither cofferdam build nor go build has a flag -exec",
		"build -rac .":          "(did you mean -race?)",
		"build . -race":         "-race follows the packages",
		"run -findings":         "-findings needs a value",
		"build -tags":           "-tags needs a value",
		"run -min 1.5 .":        "a confidence is between 0 and 1",
		"run -protect=magic .":  "give auto, isolate, tolerate, exact or detect",
		"run -strict=perhaps .": "give true or false",
	} {
		if _, err := goCommand(t, line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
	if _, err := goCommand(t, "run -race -h"); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("run -h: %v", err)
	}
}
