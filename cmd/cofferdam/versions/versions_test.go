package versions

import (
	"os"
	"reflect"
	"runtime/debug"
	"strings"
	"testing"
)

// TestAReleaseSaysWhichItIs: release.sh sets the variable by its name, which the linker does not look for.
func TestAReleaseSaysWhichItIs(t *testing.T) {
	script, err := os.ReadFile("../../../release.sh")
	if err != nil {
		t.Fatal(err)
	}
	type here struct{}
	if want := "-X " + reflect.TypeFor[here]().PkgPath() + ".release=$version"; !strings.Contains(string(script), want) {
		t.Errorf("release.sh does not build with %s", want)
	}
	for _, test := range []struct{ release, built, want string }{
		{"v1.2.3", "(devel)", "cofferdam v1.2.3\n"},
		{"", "v1.2.4", "cofferdam v1.2.4\n"},
		{"", "(devel)", "cofferdam of a working copy\n"},
	} {
		release = test.release
		var out strings.Builder
		if err := writeVersion(&out, &debug.BuildInfo{Main: debug.Module{Version: test.built}}); err != nil || !strings.HasPrefix(out.String(), test.want) {
			t.Errorf("of release %q, built of %q, version says %q, %v; want %q", test.release, test.built, out.String(), err, test.want)
		}
	}
	release = ""
}
