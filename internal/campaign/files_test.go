package campaign

import (
	"archive/tar"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"
)

func TestFilesAreTheSameOnAnotherMachine(t *testing.T) {
	from, to, archive := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "a")
	for name, text := range map[string]string{"go.mod": "module m\n", "p/testdata/x": "1\n", ".git/secret": "s\n", ".env": "s\n"} {
		name = filepath.Join(from, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	if err := packFiles(from, archive); err != nil {
		t.Fatal(err)
	}
	first, err := contentHash(archive)
	if err != nil {
		t.Fatal(err)
	}
	if err := packFiles(from, archive); err != nil {
		t.Fatal(err)
	}
	if again, err := contentHash(archive); err != nil || again != first {
		t.Errorf("the same files make another archive: %v", err)
	}
	if err := unpackFiles(archive, to); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(to, "p/testdata/x")); err != nil || string(text) != "1\n" {
		t.Errorf("%q, %v", text, err)
	}
	for _, hidden := range []string{".git", ".env"} {
		if _, err := os.Stat(filepath.Join(to, hidden)); err == nil {
			t.Errorf("%s was sent along", hidden)
		}
	}
}

func TestAnArchiveWritesNothingOutside(t *testing.T) {
	for _, h := range []tar.Header{{Name: "../out", Typeflag: tar.TypeReg}, {Name: "/out", Typeflag: tar.TypeReg}, {Name: "link", Typeflag: tar.TypeSymlink, Linkname: "/"}} {
		archive := filepath.Join(t.TempDir(), "a")
		f, err := os.Create(archive)
		if err != nil {
			t.Fatal(err)
		}
		zip := gzip.NewWriter(f)
		w := tar.NewWriter(zip)
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		w.Close()
		zip.Close()
		f.Close()
		if err := unpackFiles(archive, t.TempDir()); err == nil {
			t.Errorf("%s was unpacked", h.Name)
		}
	}
}
