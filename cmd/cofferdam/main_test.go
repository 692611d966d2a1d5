package main

import (
	"flag"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// scriptCommands are what scripts can call beside cofferdam and the commands of
// testscript. The test file of a subcommand adds its own.
var scriptCommands = map[string]func(ts *testscript.TestScript, neg bool, args []string){}

var update = flag.Bool("update", false, "rewrite what the scripts expect")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"cofferdam": main,
	})
}

func TestScripts(t *testing.T) {
	// Scripts have a home of their own. With a build cache of their own too, each
	// would compile the standard library.
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		Cmds:          scriptCommands,
		UpdateScripts: *update,
		Setup: func(env *testscript.Env) error {
			env.Setenv("GOCACHE", strings.TrimSpace(string(cache)))
			env.Setenv("COFFERDAM", root)
			return nil
		},
	})
}
