package gotool

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// standardLibraryWith returns flags that lay a package over the standard library whose text
// no cache can have yet.
func standardLibraryWith(t *testing.T, tool *Tool, pkg string) []string {
	t.Helper()
	env, err := tool.Environment()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	text := filepath.Join(dir, "text.go")
	overlay := filepath.Join(dir, "overlay.json")
	for name, content := range map[string]string{
		text:    fmt.Sprintf("package %s\n\nconst Now = %d\n", pkg, time.Now().UnixNano()),
		overlay: fmt.Sprintf(`{"Replace": {%q: %q}}`, env.Std(pkg+"/text.go"), text),
	} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return []string{"-overlay=" + overlay}
}

func TestAPackageIsCachedWhenItWasCompiled(t *testing.T) {
	tool := New(t.TempDir(), nil)
	flags := standardLibraryWith(t, tool, "cofferdamcached")
	for _, want := range []bool{false, true} {
		if got, err := tool.Cached(t.Context(), "cofferdamcached", flags...); err != nil || got != want {
			t.Errorf("cached: %t, %v, want %t", got, err, want)
		}
		if _, err := tool.Output(t.Context(), "build", flags[0], "cofferdamcached"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := tool.Cached(t.Context(), "cofferdamnowhere"); err == nil {
		t.Error("a package that does not exist can be asked about")
	}
}

func TestAFirstBuildIsTold(t *testing.T) {
	tool := New(t.TempDir(), nil)
	flags := standardLibraryWith(t, tool, "cofferdamfirst")
	told := make(chan struct{})
	stop := tool.WatchFirstBuild(t.Context(), "cofferdamfirst", flags, func() { close(told) })
	<-told
	stop()
}

func TestAQuickBuildIsNotWatched(t *testing.T) {
	tool := New(t.TempDir(), []string{}) // without an environment there is no go command to ask
	stop := tool.WatchFirstBuild(t.Context(), "cofferdamquick", nil, func() { t.Error("a build was slow that ended at once") })
	stop()
}
