package protect

import (
	"os"
	"path/filepath"
	"testing"
)

// TestModulesForEarlierVersionsOfGoAreProtectedAsOthers: what is written for sections may use the
// language of the hooks, and none that is younger. A function that does not build would be left
// alone.
func TestModulesForEarlierVersionsOfGoAreProtectedAsOthers(t *testing.T) {
	text, err := os.ReadFile("testdata/earlier/main.go")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	write := func(name string, text []byte) {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("earlier/main.go", text)
	compare := func(language string) {
		write("go.mod", []byte("module example.com/p\n\ngo "+language+"\n"))
		compareModes(t, []string{"earlier.go"})
		for _, mode := range Modes {
			b, err := Prepare(Config{Patterns: []string{"./..."}, Mode: mode})
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			for _, s := range b.Sections {
				if s.Why == doesNotBuildRewritten {
					t.Errorf("go %s, %s: the section at %s is left alone: %s", language, mode, s.At, s.Why)
				}
			}
		}
	}
	compare("1.16")
	compare("1.21")
}
