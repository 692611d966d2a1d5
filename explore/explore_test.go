package explore

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestWithGoTestItIsASubtest(t *testing.T) {
	ran := ""
	Test(t, func(t *testing.T) { ran = t.Name() })
	if ran != t.Name()+"/explored" {
		t.Errorf("it ran as %q", ran)
	}
}

func TestAMarkedTestIsListedAndNotRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "marked")
	t.Setenv(listVariable, file)
	t.Run("one", func(t *testing.T) {
		Test(t, func(*testing.T) { t.Error("it was run") }, Options{Strategy: "dfs", Budget: time.Second})
	})
	text, err := os.ReadFile(file)
	if want := `{"test":"TestAMarkedTestIsListedAndNotRun/one","strategy":"dfs","budget":1000000000}` + "\n"; err != nil || string(text) != want {
		t.Errorf("%s, %v", text, err)
	}
}
