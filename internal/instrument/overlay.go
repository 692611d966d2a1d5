package instrument

import (
	"fmt"
	"go/version"
	"io"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/tools/go/packages"

	"github.com/cofferdam-go/cofferdam/internal/instrument/hooks"
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
	mode hooks.Mode
	in   hooks.Scope

	files   []hooks.File
	checked *load.Checked
	err     error
}

// rewrite rewrites all packages that take part, and lays the results over the originals.
func (b *builder) rewrite(roots []*packages.Package) error {
	jobs := b.jobs(roots)
	// What is not rewritten is still overlaid.
	for name, text := range b.Overlay {
		b.over.Text[name] = string(text)
	}
	b.rewriteAll(jobs)
	order := slices.Sorted(maps.Keys(controlledStd))
	std := make(map[string]string) // texts by file
	var own []*load.Checked
	next := uint32(firstSite + len(order)*stdBlock)
	b.prog.OwnSites = next
	for _, j := range jobs {
		if j.err != nil && b.isStd(j.p) {
			return j.err
		} else if j.err != nil {
			b.untyped[j.p.PkgPath] = j.err
			continue
		}
		if !b.isStd(j.p) {
			own = append(own, j.checked)
			next = (b.place(j, next) + block - 1) / block * block
			continue
		}
		at := slices.Index(order, j.p.PkgPath)
		room := uint32(stdBlock)
		if at < 0 {
			at, room = 0, 0 // its hooks have no sites
		}
		first := uint32(firstSite + at*stdBlock)
		if end := b.placeStd(j, first, std); end-first > room {
			return fmt.Errorf("package %s has %d sites, more than there is room for", j.p.PkgPath, end-first)
		}
	}
	if b.Tests {
		b.parallel = findParallel(own)
	}
	slices.SortFunc(b.prog.Sites, func(x, y trace.Site) int { return int(int64(x.ID) - int64(y.ID)) })
	return b.overStd(std)
}

// jobs returns the packages to rewrite, and notes how each package is built.
func (b *builder) jobs(roots []*packages.Package) []*job {
	var jobs []*job
	for _, p := range load.Variants(roots) {
		mode, why := b.mode(p)
		b.prog.Packages = append(b.prog.Packages, Package{Path: p.PkgPath, flagsOf: flagsOf(p), Mode: mode, Why: why, Std: b.isStd(p)})
		if mode == hooks.Plain {
			continue
		}
		j := &job{p: p, mode: mode}
		if b.isStd(p) {
			j.in = stdScope(p.PkgPath)
		}
		jobs = append(jobs, j)
	}
	return jobs
}

// rewriteAll does the jobs, some at the same time.
func (b *builder) rewriteAll(jobs []*job) {
	checker := load.NewChecker()
	checker.Overlay = b.Overlay
	limit := make(chan struct{}, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for _, j := range jobs {
		wg.Go(func() {
			limit <- struct{}{}
			defer func() { <-limit }()
			b.rewriteOne(checker, j)
		})
	}
	wg.Wait()
}

// rewriteOne does a job.
func (b *builder) rewriteOne(checker *load.Checker, j *job) {
	cache := ""
	if b.isStd(j.p) {
		cache = b.stdCacheFile(j.p)
		var ok bool
		if j.files, ok = cachedStd(cache); ok {
			return
		}
	}
	j.checked, j.err = checker.Check(j.p)
	if j.err == nil && (j.mode != hooks.Library || seesAll(j.checked)) {
		j.files = hooks.Rewrite(j.checked, j.mode, j.in)
		for i := range j.files {
			addDigests(j.files[i].Sites, j.files[i].Name, j.checked)
		}
	}
	if j.err == nil && cache != "" {
		keepStd(cache, j.files)
	}
}

// place lays the files of a package over the originals, with sites that are numbered from
// first on. It returns the number after the last.
func (b *builder) place(j *job, first uint32) (next uint32) {
	b.prog.LibraryCalls = append(b.prog.LibraryCalls, hooks.LibraryCalls(j.checked)...)
	marked := false
	next = b.number(j, first, func(f *hooks.File, text string) {
		if !marked {
			marked = true
			b.marks[j.p.PkgPath] = true
			text += "\nvar _ = " + f.Runtime + ".Mark(" + strconv.Quote(mark(j.p.PkgPath)) + ")\n"
		}
		b.over.Add(j.p, f.Name, text)
	})
	if v := j.checked.Language(); v != "" && version.Compare(v, later) < 0 {
		b.early = append(b.early, flagsOf(j.p))
	}
	return next
}

// placeStd is place for a package of the standard library, whose texts are patched before
// they are laid over it.
func (b *builder) placeStd(j *job, first uint32, texts map[string]string) (next uint32) {
	return b.number(j, first, func(f *hooks.File, text string) { texts[f.Name] = text })
}

// number numbers the sites of a package from first on, and calls put with the text of each
// file that has hooks. It returns the number after the last.
func (b *builder) number(j *job, first uint32, put func(f *hooks.File, text string)) (next uint32) {
	for i := range j.files {
		f := &j.files[i]
		if j.mode != hooks.Library {
			b.prog.Missed = append(b.prog.Missed, f.Missed...)
		}
		if !f.Hooked {
			continue
		}
		put(f, f.Text(first))
		for _, s := range f.Sites {
			s.ID += first
			b.prog.Sites = append(b.prog.Sites, s)
		}
		first += uint32(len(f.Sites))
	}
	return first
}

// overStd patches the standard library, of which some files have been rewritten.
func (b *builder) overStd(rewritten map[string]string) error {
	for file, text := range rewritten {
		b.over.Text[file] = text
	}
	patched, err := patchStd(filepath.Join(b.env.GOROOT, "src"), rewritten)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(patched)) {
		b.over.Text[b.over.Std(name)] = patched[name]
		io.WriteString(b.hash, patched[name])
	}
	return nil
}

// mark is a text that the binary of a rewritten package contains.
func mark(pkg string) string { return "cofferdam: " + pkg + " has hooks" }

func (b *builder) isStd(p *packages.Package) bool {
	return p.Module == nil && b.env.InStd(dirOf(p))
}

// mode decides how a package is built.
func (b *builder) mode(p *packages.Package) (hooks.Mode, string) {
	switch {
	case p.PkgPath == "unsafe" || len(p.GoFiles) == 0:
		return hooks.Plain, ""
	case b.isStd(p):
		return stdMode(p.PkgPath), ""
	case p.Module == nil || load.Own(p):
		return hooks.Memory, ""
	case b.wanted(p.PkgPath):
		return hooks.Memory, "asked for"
	}
	return hooks.Sync, ""
}

// wanted reports whether a dependency's package was named for memory mode.
func (b *builder) wanted(path string) bool {
	for i, pattern := range b.Deps {
		if Matches(pattern, path) {
			b.matched[i] = true
			return true
		}
	}
	return false
}

// Matches reports whether a pattern of Config.Deps names a package: it is the package's path or
// that of a module or folder that the package is in, with /... at its end or without; ... alone
// names all.
func Matches(pattern, path string) bool {
	below := strings.TrimSuffix(pattern, "/...")
	return pattern == AllDeps || path == below || strings.HasPrefix(path, below+"/")
}

// AllDeps is the pattern that names all dependencies.
const AllDeps = "..."
