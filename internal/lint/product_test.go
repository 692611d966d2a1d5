package lint

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A productFile is a Go file of the repository that is not a test.
type productFile struct {
	path   string // below the root, with slashes
	lines  int
	code   int // lines that hold more than a comment
	fset   *token.FileSet
	syntax *ast.File
}

// products are the files of all packages, by the package's folder; testdata is left out.
var products = sync.OnceValue(func() map[string][]*productFile {
	all := map[string][]*productFile{}
	fset := token.NewFileSet()
	err := walk(func(name string, text []byte) error {
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		syntax, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		f := &productFile{path: name, lines: strings.Count(string(text), "\n"), code: codeLines(text), fset: fset, syntax: syntax}
		all[path.Dir(name)] = append(all[path.Dir(name)], f)
		return nil
	})
	if err != nil {
		panic(err)
	}
	return all
})

// codeLines counts the lines on which a token begins or ends.
func codeLines(text []byte) int {
	fset := token.NewFileSet()
	file := fset.AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, 0)
	seen := map[int]bool{}
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return len(seen)
		}
		if tok == token.SEMICOLON && lit == "\n" {
			continue // which the scanner has inserted
		}
		first := file.Line(pos)
		for line := range 1 + strings.Count(lit, "\n") {
			seen[first+line] = true
		}
	}
}

// folders are those that have product files, in order.
func folders() []string { return slices.Sorted(maps.Keys(products())) }

// name is a file's name in its folder.
func (f *productFile) name() string { return path.Base(f.path) }

// at is a position for a message.
func (f *productFile) at(n ast.Node) token.Position { return f.fset.Position(n.Pos()) }

// Sizes beyond which a package, or a file, has more than one reason to exist.
const (
	mostPackageCode = 3500 // lines that hold more than a comment
	mostFileLines   = 450
)

// undivided is a package that is too large, because its hooks all work on the state of the
// scheduler while their goroutine holds the token: to divide it further would export that
// state. What needs no scheduler is in packages below it.
const undivided = "internal/rt"

func TestPackagesAndFilesHaveOneReasonToExist(t *testing.T) {
	for _, folder := range folders() {
		code := 0
		for _, f := range products()[folder] {
			code += f.code
			if f.lines > mostFileLines {
				t.Errorf("%s has %d lines, want at most %d: give a part of it a file of its own", f.path, f.lines, mostFileLines)
			}
		}
		if code > mostPackageCode && folder != undivided {
			t.Errorf("%s has %d lines of code, want at most %d: give a part of it a package of its own", folder, code, mostPackageCode)
		}
	}
}

// packageComment is the text of the package comments of a folder's files.
func packageComment(files []*productFile) string {
	var b strings.Builder
	for _, f := range files {
		if f.syntax.Doc != nil {
			b.WriteString(f.syntax.Doc.Text())
		}
	}
	return b.String()
}

// TestPackageCommentsNameEveryFile: a reader should understand a package from its comment
// and the list of its files. The file that has the comment need not be named in it, nor
// are examples, which are programs of a file or two.
func TestPackageCommentsNameEveryFile(t *testing.T) {
	for _, folder := range folders() {
		files := products()[folder]
		comment := packageComment(files)
		if comment == "" {
			t.Errorf("%s has no package comment", folder)
			continue
		}
		if strings.HasPrefix(folder, "examples/") {
			continue
		}
		for _, f := range files {
			if f.syntax.Doc == nil && !strings.Contains(comment, f.name()) && !strings.Contains(comment, plainName(f.name())) {
				t.Errorf("%s is not named in the comment of its package", f.path)
			}
		}
	}
}

// TestArchitectureNamesEveryPackage: the map is of the whole tree. Examples and the
// benchmarks, which have a page of their own, are named by their folder.
func TestArchitectureNamesEveryPackage(t *testing.T) {
	text, err := os.ReadFile("../../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders() {
		if folder == "." || strings.HasPrefix(folder, "bench") || strings.HasPrefix(folder, "examples/") {
			continue
		}
		if !strings.Contains(string(text), "`"+folder+"`") && !strings.Contains(string(text), "`"+path.Base(folder)+"`") {
			t.Errorf("%s is not named in ARCHITECTURE.md: say there what it is", folder)
		}
	}
}

// plainName is a file's name without what the build system and the rules of the house
// read in it: token.go for token_unsafe.go and token_amd64.go.
func plainName(name string) string {
	stem := strings.TrimSuffix(name, ".go")
	for _, suffix := range []string{"_amd64", "_arm64", "_linux", "_unix", "_windows", "_race", "_norace", "_other", "_unsafe"} {
		stem = strings.TrimSuffix(stem, suffix)
	}
	return stem + ".go"
}
