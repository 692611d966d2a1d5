package instrument

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// parts returns the packages that a binary consists of, without the standard library.
func (b *builder) parts(roots []*packages.Package, target *packages.Package) []*packages.Package {
	from := []*packages.Package{target}
	if b.Tests {
		from = slices.DeleteFunc(slices.Clone(roots), func(p *packages.Package) bool { return p.ForTest != target.ForTest })
	}
	var parts []*packages.Package
	packages.Visit(from, func(p *packages.Package) bool {
		if b.isStd(p) {
			return false
		}
		parts = append(parts, p)
		return true
	}, nil)
	slices.SortFunc(parts, func(p, q *packages.Package) int { return strings.Compare(p.ID, q.ID) })
	return parts
}

// identity returns the hash of a binary: of the hooks, and of the files of all packages
// that it consists of. The standard library is told by its version.
func (b *builder) identity(parts []*packages.Package) (string, error) {
	h := sha256.New()
	h.Write(b.hash.Sum(nil))
	for _, p := range parts {
		for _, f := range slices.Concat(p.GoFiles, p.OtherFiles, p.EmbedFiles) {
			text, err := b.source(f)
			if err != nil {
				return "", fmt.Errorf("identifying %s: %w", p.PkgPath, err)
			}
			fmt.Fprintln(h, p.PkgPath, filepath.Base(f), len(text))
			h.Write(text)
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}

// source returns the text of a file, before it gets hooks.
func (b *builder) source(file string) ([]byte, error) {
	if text, ok := b.Overlay[file]; ok {
		return text, nil
	}
	return os.ReadFile(file)
}
