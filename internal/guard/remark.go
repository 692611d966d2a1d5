package guard

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/guard/lockset"
)

// A remark is a comment by which a function does without a lock: one in it that says that none is needed from
// there on, or one on it that says so, when it may be called, or that it is for tests, which have the object
// for themselves. That a function does something without a lock, as a comment on it says, is no reason why it
// may. The annotation +checklocksignore is a remark, too.
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
	whenToCallIt = regexp.MustCompile(`(?i)^\s*(?:note:?\s+)?\w+(?: function| method)? is not (?:thread-?|goroutine-?)?safe\b|\bnot be called\b|\b(?:only|must|should|has to|have to|needs to) be (?:called|used) (?:by|from|on|before|after|once|prior)\b`)
	notSafe      = regexp.MustCompile(`(?i)(?:^\s*(?:note:?\s+)?|\b(?:note|warning|caution): )(?:unsafe|not (?:\w+[- ])?safe)\b`)
	forOne       = regexp.MustCompile(`(?i)\b(?:not|never|\w+n't)\b[^.]{0,40}\b(?:(?:goroutine|thread|concurrency)[- ]?safe|safe for (?:\w+ )?(?:concurrent|unsynchroni[sz]ed|parallel|simultaneous)|(?:use|used|call|called|accessed|shared) (?:\w+ )?(?:concurrently|simultaneously|in parallel|across goroutines|(?:by|from|between) (?:multiple|several|more)))`)
	ofSharing    = regexp.MustCompile(`(?i)\b(?:mutex|racy|races?|concurren\w+|goroutines?|threads?|thread-?unsafe|unsafe)\b`)
	isSafe       = regexp.MustCompile(`(?i)\b(?:is|are|be|can|may)\b.*\b(?:safe|concurrently)\b|\b(?:thread|goroutine|concurrency)[- ]?safe\b`)
	forTests     = regexp.MustCompile(`(?i)\btests?[- ]only\b|\bonly (?:\w+ )?(?:for|in|by|from) (?:unit[- ]?)?test(?:s|ing)\b|\bfor (?:unit[- ]?)?test(?:s|ing)(?: purposes)? only\b`)
	notOnly      = regexp.MustCompile(`(?i)\bnot\b[^.]{0,20}\bonly\b`)
	calledBefore = regexp.MustCompile(`(?i)\bbe called (?:before|prior)\b`)
)

// saysNeedless reports whether a comment says that no lock is needed.
func saysNeedless(text string, forms ...*regexp.Regexp) bool {
	return slices.ContainsFunc(sentences(text), func(s string) bool {
		says := func(form *regexp.Regexp) bool { return form.MatchString(s) }
		return slices.ContainsFunc(forms, says) && (aLock.MatchString(s) || ofLocks.MatchString(s)) && !notWithout.MatchString(s)
	})
}

// saysWhen reports whether a comment on a function says when that may be called, other than with a lock. A
// sentence that begins with what is not safe is about the function.
func saysWhen(doc, name string, when *regexp.Regexp) bool {
	return !callerHolds(doc) && slices.ContainsFunc(sentences(doc), func(s string) bool {
		return notSafe.MatchString(s) && when == whenToCallIt || when.MatchString(s) && (aboutItself.MatchString(s) || strings.HasPrefix(strings.TrimSpace(s), name+" "))
	})
}

// isForTests reports whether a comment on a function says that nothing but tests is to call it.
//
//	// Dump is for testing only.
func isForTests(doc string) bool {
	return slices.ContainsFunc(sentences(doc), func(s string) bool { return forTests.MatchString(s) && !notOnly.MatchString(s) })
}

// speaksOfSharing reports whether a comment on a function speaks of locks, goroutines or the like, and not to
// say that it is safe: what it does without a lock was thought about.
//
//	// Iterator returns an iterator. It is not protected by a lock.
func speaksOfSharing(fn *ssa.Function) bool {
	syntax, ok := fn.Syntax().(*ast.FuncDecl)
	if !ok {
		return false
	}
	return slices.ContainsFunc(sentences(comments(syntax.Doc)), func(s string) bool {
		return (ofSharing.MatchString(s) || aLock.MatchString(s) || ofLocks.MatchString(s)) && (!isSafe.MatchString(s) || forOne.MatchString(s))
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
		doc := comments(fn.Doc)
		if saysWhen(doc, fn.Name.Name, whenToCallIt) || saysNeedless(doc, needless) || isForTests(doc) || ignorePattern.MatchString(doc) {
			s.remarks[fn] = append(s.remarks[fn], fn.Pos())
		}
		for _, c := range file.Comments {
			if fn.Body.Pos() < c.Pos() && c.End() <= fn.Body.End() && saysNeedless(c.Text(), needless, without) {
				s.remarks[fn] = append(s.remarks[fn], lines.LineStart(lines.Line(c.Pos()))) // it may stand behind the access
			}
		}
	}
}

// readForOne reads which types are for one goroutine at a time: a comment on the type, or on a method of it
// that names the type, says so.
//
//	// Flush writes what is buffered. A Writer is not safe for concurrent use.
//	func (w *Writer) Flush() { ... }
func (r *declarationReader) readForOne() {
	for _, d := range r.ast.Decls {
		switch d := d.(type) {
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if t, ok := spec.(*ast.TypeSpec); ok {
					r.addForOne(r.info.Defs[t.Name], comments(d.Doc, t.Doc), aboutItself)
				}
			}
		case *ast.FuncDecl:
			if fn, ok := r.info.Defs[d.Name].(*types.Func); ok && fn.Signature().Recv() != nil {
				if named, ok := types.Unalias(pointedTo(fn.Signature().Recv().Type())).(*types.Named); ok {
					r.addForOne(named.Obj(), comments(d.Doc), nil)
				}
			}
		}
	}
}

// addForOne adds a type if a sentence that names it, or begins in another way, says that it is for one goroutine.
func (r *declarationReader) addForOne(of types.Object, doc string, begin *regexp.Regexp) {
	name, ok := of.(*types.TypeName)
	if !ok {
		return
	}
	names := regexp.MustCompile(`\b` + regexp.QuoteMeta(name.Name()) + `s?\b`)
	if slices.ContainsFunc(sentences(doc), func(s string) bool {
		return forOne.MatchString(s) && (names.MatchString(s) || begin != nil && begin.MatchString(s))
	}) {
		r.forOne[name] = true
	}
}

// isForOne reports whether a comment says that the object of a method is for one goroutine at a time.
func (s *declarations) isForOne(fn *ssa.Function) bool {
	owner := receiverOf(lockset.Outermost(fn))
	return owner != nil && s.forOne[owner.Obj()]
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
