package cofferdam

import (
	"embed"
	"fmt"
	"path"
	"strings"
)

// An instrumented program calls hooks, and its standard library does too. So the hooks, and
// what they import of this module, are laid over the standard library as packages of its
// own: cofferdamrt and those below it. The packages internal/instrument and
// internal/protect do that.
//
//go:embed internal/rt internal/event/*.go internal/sched/*.go internal/trace/*.go internal/wire/*.go internal/wire/ring/*.go
//go:embed tolerate/*.go internal/finding/*.go internal/goroutine/*.go internal/protect/watch/*.go
//go:embed monitor/*.go isolate/*.go internal/page/*.go internal/page/*.s internal/protect/aside/*.go internal/protect/wicket/*.go
//go:embed internal/instrument/*.go internal/instrument/hooks/*.go
var sources embed.FS

const module = "github.com/cofferdam-go/cofferdam/"

// A Source is one file of an instrumented program's hooks.
type Source struct {
	// Name is its path below the standard library: cofferdamrt/memory.go.
	Name string
	Text string
}

// laid returns the directory that a directory of this module is laid over.
func laid(dir string) string {
	if dir == "internal/page" {
		// The assembler runs in the package's directory, so that has to exist. This
		// one does, has no package, and nobody else's programs can import it.
		return "internal/syscall"
	}
	name := strings.TrimPrefix(dir, "internal/")
	if name == "rt" || strings.HasPrefix(name, "rt/") {
		return "cofferdam" + name
	}
	return "cofferdamrt/" + name
}

// Sources returns the files of directories of this module, with their imports of each
// other turned into those of the packages that they are laid over. Tests are not among
// them.
func Sources(dirs ...string) ([]Source, error) {
	var all []Source
	for _, dir := range dirs {
		entries, err := sources.ReadDir(dir)
		if err != nil {
			return nil, fmt.Errorf("reading the embedded sources: %w", err)
		}
		for _, e := range entries {
			ext := path.Ext(e.Name())
			if strings.HasSuffix(e.Name(), "_test.go") || ext != ".go" && ext != ".s" && ext != ".h" {
				continue
			}
			text, err := sources.ReadFile(path.Join(dir, e.Name()))
			if err != nil {
				return nil, fmt.Errorf("reading an embedded source: %w", err)
			}
			s := Source{Name: laid(dir) + "/" + e.Name(), Text: string(text)}
			for _, other := range dirs {
				s.Text = strings.ReplaceAll(s.Text, `"`+module+other+`"`, `"`+laid(other)+`"`)
			}
			all = append(all, s)
		}
	}
	return all, nil
}
