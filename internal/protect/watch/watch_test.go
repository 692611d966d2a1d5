package watch

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/finding"
	"github.com/cofferdam-go/cofferdam/tolerate"
)

// TestFindingsAreWritten: what a program found is in its file when it ends, and the
// file is there from the beginning, which tells that the program was protected.
func TestFindingsAreWritten(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(Directory, dir)
	end := Test()
	names, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(names) != 1 {
		t.Fatalf("there are %v, %v; want one file", names, err)
	}
	n := 1
	tolerate.PutScalar(&n, 0, 0, &tolerate.Label{Name: "n"})
	end()
	f, err := os.Open(names[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := finding.ReadJSON(f)
	if err != nil || len(all) != 1 || all[0].Guard.Name != "n" {
		t.Errorf("the file has %v, %v; want one finding about n", all, err)
	}
}
