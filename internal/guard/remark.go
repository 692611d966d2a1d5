package guard

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/guard/lockset"
)

// A remark is a comment by which a function does without a lock: one in it that says that none is
// needed from there on, or one on it that says so, or when it may be called. That a function does
// something without a lock, as a comment on it says, is no reason why it may.
//
//	// Header returns the header. It must not be called until after WriteHeader.
//	func (s *Stream) Header() Header { return s.header }
//
//	func (c *Conn) Close() {
//		...
//		// We can safely unlock now, since c.conns == nil keeps others away.
//		c.mu.Unlock()
//		c.resolver.close()

var (
	needless     = regexp.MustCompile(`(?i)\b(?:no need|not need\w*|n't need|needn't|unnecessary|not necessary|safely|safe to|it unlocked)\b`)
	without      = regexp.MustCompile(`(?i)\bwithout\b`)
	ofLocks      = regexp.MustCompile(`(?i)\b(?:locks|locked|locking|unlock|unlocked)\b`)
	notWithout   = regexp.MustCompile(`(?i)\b(?:not|never|cannot|n't)\b.*\b(?:without|safe|safely)\b|\bunsafe\b`)
	aboutItself  = regexp.MustCompile(`(?i)^\s*(?:note:?\s+)?(?:it|this)\b`)
	whenToCallIt = regexp.MustCompile(`(?i)^\s*(?:note:?\s+)?\w+(?: function| method)? is not (?:thread-?|goroutine-?)?safe\b|\bnot be called\b|\b(?:only|must|should) be called (?:by|from|on|before|after|once|prior)\b`)
	calledBefore = regexp.MustCompile(`(?i)\bbe called (?:before|prior)\b`)
)

// saysNeedless reports whether a comment says that no lock is needed.
func saysNeedless(text string, forms ...*regexp.Regexp) bool {
	return slices.ContainsFunc(sentences(text), func(s string) bool {
		says := func(form *regexp.Regexp) bool { return form.MatchString(s) }
		return slices.ContainsFunc(forms, says) && (aLock.MatchString(s) || ofLocks.MatchString(s)) && !notWithout.MatchString(s)
	})
}

// saysWhen reports whether a comment on a function says when that may be called, other than with a lock.
func saysWhen(doc, name string, when *regexp.Regexp) bool {
	return !callerHolds(doc) && slices.ContainsFunc(sentences(doc), func(s string) bool {
		return when.MatchString(s) && (aboutItself.MatchString(s) || strings.HasPrefix(strings.TrimSpace(s), name+" "))
	})
}

// readRemarks reads the remarks of a file.
func (s *declarations) readRemarks(fset *token.FileSet, file *ast.File) {
	lines := fset.File(file.Pos())
	for _, d := range file.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		if saysWhen(comments(fn.Doc), fn.Name.Name, whenToCallIt) || saysNeedless(comments(fn.Doc), needless) {
			s.remarks[fn] = append(s.remarks[fn], fn.Pos())
		}
		for _, c := range file.Comments {
			if fn.Body.Pos() < c.Pos() && c.End() <= fn.Body.End() && saysNeedless(c.Text(), needless, without) {
				s.remarks[fn] = append(s.remarks[fn], lines.LineStart(lines.Line(c.Pos()))) // it may stand behind the access
			}
		}
	}
}

// isForBefore reports whether a comment on a function says that it is for before the object is used.
func isForBefore(fn *ssa.Function) bool {
	syntax, ok := fn.Syntax().(*ast.FuncDecl)
	return ok && saysWhen(comments(syntax.Doc), syntax.Name.Name, calledBefore)
}

// isRemarked reports whether a remark of a function comes before a place in it.
func (s *declarations) isRemarked(fn *ssa.Function, at token.Pos) bool {
	syntax, ok := lockset.Outermost(fn).Syntax().(*ast.FuncDecl)
	return ok && slices.ContainsFunc(s.remarks[syntax], func(remark token.Pos) bool { return remark <= at })
}
