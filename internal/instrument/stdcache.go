package instrument

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/tools/go/packages"

	"github.com/cofferdam-go/cofferdam"
	"github.com/cofferdam-go/cofferdam/internal/instrument/hooks"
)

// What the standard library becomes is the same for all programs, and takes longer to find
// out than all the rest of a build that the go command has cached. So it is kept in the
// user's cache, by package, under a hash of what it is made from: the package's files, the
// release of Go, and the source of the rewriter. A cache that cannot be read or written is
// done without.

// rewriter is a hash of the sources of this package and of hooks.
var rewriter = sync.OnceValues(func() ([]byte, error) {
	sources, err := cofferdam.Sources("internal/instrument", "internal/instrument/hooks")
	if err != nil {
		return nil, err
	}
	h := sha256.New()
	for _, s := range sources {
		fmt.Fprintln(h, s.Name, len(s.Text))
		io.WriteString(h, s.Text)
	}
	return h.Sum(nil), nil
})

// stdCacheFile returns where the rewritten files of a package of the standard library are
// kept, "" if nowhere.
func (b *builder) stdCacheFile(p *packages.Package) string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	sum, err := rewriter()
	if err != nil {
		return ""
	}
	h := sha256.New()
	h.Write(sum)
	fmt.Fprintln(h, b.env.GOVERSION, b.env.GOROOT, b.env.GOOS, b.env.GOARCH, p.PkgPath)
	for _, f := range p.GoFiles {
		text, err := os.ReadFile(f)
		if err != nil {
			return ""
		}
		fmt.Fprintln(h, f, len(text))
		h.Write(text)
	}
	return filepath.Join(dir, "cofferdam", "std", hex.EncodeToString(h.Sum(nil)[:16])+".json")
}

// cachedStd returns the rewritten files that are kept in a file.
func cachedStd(name string) (files []hooks.File, ok bool) {
	data, err := os.ReadFile(name)
	if err != nil || json.Unmarshal(data, &files) != nil {
		return nil, false
	}
	return files, true
}

// keepStd keeps rewritten files. Several processes may do so at the same time.
func keepStd(name string, files []hooks.File) {
	data, err := json.Marshal(files)
	if err != nil || os.MkdirAll(filepath.Dir(name), 0o777) != nil {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(name), "new")
	if err != nil {
		return
	}
	_, err = f.Write(data)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		os.Remove(f.Name())
	}
}
