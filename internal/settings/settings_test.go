package settings

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestFileSaysWhatIsProtected(t *testing.T) {
	dir := t.TempDir()
	if f, err := Read(dir); err != nil || !reflect.DeepEqual(f, new(File)) {
		t.Errorf("without a file: %v, %v", f, err)
	}
	const text = "# of this module\n[protect] # all of it\nonly = [\"lock:a#b\"]\n\nskip = [ # several\n\t\"func:x\\\"y\", # one\n\t\"var:z\",\n]\nbaseline = \"known.json\"\n"
	if err := os.WriteFile(filepath.Join(dir, Name), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	want := &File{Protect{Only: []string{"lock:a#b"}, Skip: []string{`func:x"y`, "var:z"}, Baseline: "known.json"}}
	if f, err := Read(dir); err != nil || !reflect.DeepEqual(f, want) {
		t.Errorf("got %v, %v, want %v", f, err, want)
	}
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "sub", Name), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(filepath.Join(dir, "sub")); err == nil {
		t.Error("a directory is read as a file")
	}
}

func TestErrorsNameTheLine(t *testing.T) {
	for text, want := range map[string]string{
		"[protect\n":                            "f:1: a table is written [name]",
		"[pro tect]\n":                          "f:1: a table is written [name]",
		"\nonly\n":                              "f:2: a setting is written",
		"[protect]\nonly = []\nonly = []":       "f:3: protect.only was set in line 2 already",
		"[protect]\nskipp = []":                 "f:2: there is no setting protect.skipp; there are [protect.only protect.skip protect.baseline]",
		"[protect]\nskip = \"x\"":               "f:2: protect.skip has to be a list",
		"[protect]\nskip = [\n\"a\",\n":         "f:2: the list has no end",
		"[protect]\nskip = [\"a\"] b":           "f:2: something follows the list",
		"[protect]\nskip = [\n12]":              "f:3: a list has texts in it",
		"[protect]\nskip = \"a":                 "f:2: \"a is no text in quotes",
		"[protect]\nskip = maybe":               "f:2: maybe is no text in quotes, no number and no truth value",
		"[protect]\nskip = 3":                   "f:2: protect.skip has to be a list",
		"[protect]\nbaseline = [\"a\"]":         "f:2: protect.baseline has to be one text",
		"[protect]\nskip = [`a`]":               "f:2: a list has texts in it",
		"[protect]\nskip = [\"a\", # b\n\"c\"]": "",
	} {
		_, err := parse("f", text)
		if got := errorText(err); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
