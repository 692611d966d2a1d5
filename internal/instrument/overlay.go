package instrument

import (
	"fmt"
	"go/version"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/tools/go/packages"

	"github.com/cofferdam-go/cofferdam/internal/load"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// Blocks of site numbers. The standard library's come first, at fixed places,
// because the texts of its packages must be the same for all programs.
const (
	stdBlock  = 2048
	block     = 256
	firstSite = 0
)

// later is the first version of Go in which every hook can be called (any type may
// be a map's key, as far as type parameters go), and the last before loops changed.
const later = "go1.21"

// A job is a package to rewrite.
type job struct {
	p    *packages.Package
	mode Mode
	in   scope

	files   []rewritten
	checked *load.Checked
	err     error
}

// rewrite rewrites all packages that take part.
func (b *builder) rewrite(roots []*packages.Package) error {
	var jobs []*job
	for _, p := range variants(roots) {
		mode, why := b.mode(p)
		b.prog.Packages = append(b.prog.Packages, Package{Path: p.PkgPath, Mode: mode, Why: why, Std: b.isStd(p)})
		if mode == Plain {
			continue
		}
		j := &job{p: p, mode: mode}
		if b.isStd(p) {
			j.in = stdScope(p.PkgPath)
		}
		jobs = append(jobs, j)
	}
	// What is not rewritten is still overlaid.
	for name, text := range b.Overlay {
		b.over.Text[name] = string(text)
	}
	checker := load.NewChecker()
	checker.Overlay = b.Overlay
	limit := make(chan struct{}, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for _, j := range jobs {
		wg.Add(1)
		go func() {
			defer wg.Done()
			limit <- struct{}{}
			defer func() { <-limit }()
			if j.checked, j.err = checker.Check(j.p); j.err == nil {
				j.files = rewritePackage(j.checked, j.mode, j.in)
			}
		}()
	}
	wg.Wait()
	std := make(map[string]string)
	base := uint32(firstSite)
	order := slices.Sorted(keys(rewrittenStd))
	after := uint32(len(order) * stdBlock)
	for _, j := range jobs {
		if j.err != nil {
			return j.err
		}
		isStd := b.isStd(j.p)
		if isStd {
			base = uint32(slices.Index(order, j.p.PkgPath) * stdBlock)
		} else {
			base = after
		}
		first := base
		if !isStd {
			b.prog.LibraryCalls = append(b.prog.LibraryCalls, libraryCalls(j.checked)...)
		}
		marked := isStd
		for _, f := range j.files {
			b.prog.Missed = append(b.prog.Missed, f.missed...)
			if !f.hooked {
				continue
			}
			text := number(f.text, base)
			if !marked {
				marked = true
				b.marks[j.p.PkgPath] = true
				text += "\nvar _ = " + f.rt + ".Mark(" + strconv.Quote(mark(j.p.PkgPath)) + ")\n"
			}
			for _, s := range f.sites {
				s.ID += base
				b.prog.Sites = append(b.prog.Sites, s)
			}
			base += uint32(len(f.sites))
			if isStd {
				std[f.name] = text
			} else {
				b.over.Add(j.p, f.name, text)
			}
		}
		if isStd && base-first > stdBlock {
			return fmt.Errorf("package %s has %d sites, more than there is room for", j.p.PkgPath, base-first)
		}
		if !isStd {
			after = (base + block - 1) / block * block
			if v := j.checked.Language(); v != "" && version.Compare(v, later) < 0 {
				b.early = append(b.early, j.p.PkgPath)
			}
		}
	}
	slices.SortFunc(b.prog.Sites, func(x, y trace.Site) int { return int(int64(x.ID) - int64(y.ID)) })
	for file, text := range std {
		b.over.Text[file] = text
	}
	patched, err := patchStd(filepath.Join(b.env.GOROOT, "src"), std)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(keys(patched)) {
		b.over.Text[b.over.Std(name)] = patched[name]
		io.WriteString(b.hash, patched[name])
	}
	return nil
}

// mark is a text that the binary of a rewritten package contains.
func mark(pkg string) string { return "cofferdam: " + pkg + " has hooks" }

func keys[K comparable, V any](m map[K]V) func(func(K) bool) {
	return func(yield func(K) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// variants returns each package of the list once, in the order of import paths:
// of those that are the same but for test files, the one with most files.
func variants(roots []*packages.Package) []*packages.Package {
	best := make(map[string]*packages.Package)
	packages.Visit(roots, nil, func(p *packages.Package) {
		if strings.HasSuffix(p.ID, ".test") && p.Name == "main" && p.ForTest == "" {
			return // what go test makes to run tests
		}
		if old := best[p.PkgPath]; old == nil || len(p.GoFiles) > len(old.GoFiles) {
			best[p.PkgPath] = p
		}
	})
	var all []*packages.Package
	for _, path := range slices.Sorted(keys(best)) {
		all = append(all, best[path])
	}
	return all
}

func (b *builder) isStd(p *packages.Package) bool {
	return p.Module == nil && b.env.InStd(dirOf(p))
}

// mode decides how a package is built.
func (b *builder) mode(p *packages.Package) (Mode, string) {
	switch {
	case p.PkgPath == "unsafe" || len(p.GoFiles) == 0:
		return Plain, ""
	case b.isStd(p):
		switch _, ok := rewrittenStd[p.PkgPath]; {
		case sharedStd[p.PkgPath]:
			return Memory, ""
		case ok:
			return Sync, ""
		}
		return Plain, ""
	case b.wanted(p.PkgPath):
		return Memory, "asked for"
	case p.Module == nil || p.Module.Main || b.Deps:
		return Memory, ""
	}
	return Sync, ""
}

// wanted reports whether a package was named for memory mode.
func (b *builder) wanted(path string) bool {
	for _, m := range b.Memory {
		if below, ok := strings.CutSuffix(m, "/..."); m == path || ok && (path == below || strings.HasPrefix(path, below+"/")) {
			return true
		}
	}
	return false
}
