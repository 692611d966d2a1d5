package cofferdam_test

import (
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDockerfileNamesWhatThereIs holds the Dockerfile against the tree, since building it takes a daemon and
// a registry: its sources, the version of Go, and that what is copied and started is what was built.
func TestDockerfileNamesWhatThereIs(t *testing.T) {
	text, err := os.ReadFile("Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	module, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(string(module))[1]
	var built, installed []string
	started := false
	for line := range strings.Lines(string(text)) {
		switch word, rest, _ := strings.Cut(strings.TrimSpace(line), " "); word {
		case "FROM":
			if image := strings.Fields(rest)[0]; image != "golang:"+version {
				t.Errorf("FROM %s, and go.mod asks for Go %s", image, version)
			}
		case "RUN":
			if m := regexp.MustCompile(`go build .*-o (\S+) (\./\S+)$`).FindStringSubmatch(rest); m != nil {
				built = append(built, m[1])
				if _, err := os.Stat(m[2]); err != nil {
					t.Errorf("RUN builds %s: %v", m[2], err)
				}
			}
		case "COPY":
			args := strings.Fields(rest)
			if strings.HasPrefix(args[0], "--from=build") {
				if !slices.Contains(built, args[1]) {
					t.Errorf("COPY %s: built are %v", rest, built)
				}
				installed = append(installed, path.Base(args[2]))
			} else if _, err := os.Stat(args[0]); err != nil {
				t.Errorf("COPY %s: %v", rest, err)
			}
		case "ENTRYPOINT":
			started = true
			if command := strings.Trim(rest, `[]"`); !slices.Contains(installed, command) {
				t.Errorf("ENTRYPOINT %s: installed are %v", command, installed)
			}
		}
	}
	if !started || len(built) == 0 {
		t.Errorf("built are %v, started: %t", built, started)
	}
}
