// Package rounds writes tests with fewer rounds of their loops.
//
// A test that does something two hundred times has runs that are too long for all of their
// schedules to be tried, and nearly always fails in two or three rounds as well:
//
//	for i := range 200 {               for i := range 3 {
//		wg.Go(func() { s.Add(i) })         wg.Go(func() { s.Add(i) })
//	}                                  }
//	wg.Wait()                          wg.Wait()
//	if s.count != 200 {                if s.count != 3 {
//
// Whether the shorter test shows the same failure is for the caller to see. rounds.go is all of it.
package rounds

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/source"
)

// A Test is a test with fewer rounds.
type Test struct {
	// File has From in the lines named, in the place of which To is written.
	File  string `json:"file"`
	Lines []int  `json:"lines"`
	From  int    `json:"from"`
	To    int    `json:"to"`

	Name string `json:"-"` // of the file, with its directory
	Text []byte `json:"-"` // of the file
}

// fewRounds are what is tried in the place of a number of rounds, of manyRounds at least.
var fewRounds = []int{2, 3}

const manyRounds = 8

// Fewer are the test with fewer rounds of the loop that has most of them, the fewest first.
// All numbers of the test that are the same stand for the rounds, as in what it expects.
func Fewer(files []*source.File, target string) []*Test {
	name, _, _ := strings.Cut(target, "/")
	for _, file := range files {
		if !strings.HasSuffix(file.Name, "_test.go") {
			continue
		}
		for _, d := range file.Syntax.Decls {
			decl, ok := d.(*ast.FuncDecl)
			if !ok || decl.Name.Name != name || decl.Recv != nil || decl.Body == nil {
				continue
			}
			rounds := mostRounds(decl.Body)
			if rounds < manyRounds {
				return nil
			}
			var all []*Test
			for _, n := range fewRounds {
				if s := withRounds(file, decl.Body, rounds, n); s != nil {
					all = append(all, s)
				}
			}
			return all
		}
	}
	return nil
}

// withRounds is the test with another number in the place of one; nil if it cannot be written.
func withRounds(file *source.File, body ast.Node, from, to int) *Test {
	s := &Test{File: filepath.Base(file.Name), From: from, To: to, Name: file.Name}
	edits := file.EditInPlace()
	ast.Inspect(body, func(n ast.Node) bool {
		if e, ok := n.(ast.Expr); ok && number(e) == from {
			edits.Replace(e, strconv.Itoa(to))
			if line := file.Line(e.Pos()); !slices.Contains(s.Lines, line) {
				s.Lines = append(s.Lines, line)
			}
		}
		return true
	})
	var err error
	if s.Text, err = edits.Bytes(); err != nil {
		return nil
	}
	return s
}

// mostRounds is the greatest number that bounds a loop; 0 if there is none.
func mostRounds(body ast.Node) int {
	most := 0
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.RangeStmt:
			most = max(most, number(n.X))
		case *ast.ForStmt:
			if c, ok := n.Cond.(*ast.BinaryExpr); ok && (c.Op == token.LSS || c.Op == token.LEQ || c.Op == token.NEQ) {
				most = max(most, number(c.Y))
			}
		case *ast.ValueSpec: // const rounds = 200
			for _, v := range n.Values {
				most = max(most, number(v))
			}
		}
		return true
	})
	return most
}

// number is the number that an expression spells, 0 if it spells none.
func number(e ast.Expr) int {
	if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.INT {
		if n, err := strconv.ParseInt(lit.Value, 0, 32); err == nil {
			return int(n)
		}
	}
	return 0
}
