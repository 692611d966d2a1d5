package stmcheck

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/cofferdam-go/cofferdam/internal/locks"
)

// An effect is something that is not undone when a transaction is run again.
type effect struct {
	what string // a clause: "receives from a channel"
	does string // why that is wrong
}

// The kinds of effects, by why a transaction must not have them.
const (
	blocks = "a transaction must not wait for what is not a variable that it has read"
	holds  = "a transaction that is given up while it holds a lock leaves it locked"
	output = "it is done by every attempt, doomed ones too"
	starts = "each attempt starts another, and none is stopped"
	leaves = "nothing can stop it, also in an attempt that is doomed"
)

// The effects of the language.
var (
	sends            = effect{"sends to a channel", blocks}
	receives         = effect{"receives from a channel", blocks}
	selects          = effect{"waits in a select", blocks}
	closes           = effect{"closes a channel", output}
	prints           = effect{"prints", output}
	startsAGoroutine = effect{"starts a goroutine", starts}
)

// A rule says which functions of a package have effects: all but some, or some.
type rule struct {
	does   string
	only   []string // if not nil, these
	except []string
}

// impure are the packages of the standard library (and of golang.org/x/sys) with effects. A name is that of a
// function, or of a method as T.Method; a star stands for anything. Methods that are the same for every type
// are in harmless. Left out are packages whose effects nobody sees: caches, pools, random numbers, the clock.
var impure = map[string][]rule{
	"fmt":                      {{does: output, only: []string{"Print*", "Fprint*", "Scan*", "Fscan*"}}},
	"log":                      {{does: output, except: []string{"New", "Default", "Flags", "Prefix", "Writer", "Logger.Flags", "Logger.Prefix", "Logger.Writer"}}},
	"log/slog":                 {{does: output, only: []string{"Debug*", "Info*", "Warn*", "Error*", "Log*", "Logger.Debug*", "Logger.Info*", "Logger.Warn*", "Logger.Error*", "Logger.Log*"}}},
	"os":                       {{does: output, except: []string{"Getenv", "LookupEnv", "Environ", "Expand*", "Getpid", "Getppid", "Getuid", "Getgid", "Getpagesize", "TempDir", "Is*", "NewSyscallError", "SameFile", "DirFS", "NewFile", "File.Fd", "FileInfo.*", "FileMode.*", "DirEntry.*"}}},
	"os/exec":                  {{does: output, except: []string{"Command*", "Cmd.Environ"}}},
	"os/signal":                {{does: output}},
	"io":                       {{does: output, except: []string{"MultiReader", "MultiWriter", "LimitReader", "NewSectionReader", "NewOffsetWriter", "TeeReader", "NopCloser", "Pipe"}}},
	"io/ioutil":                {{does: output, except: []string{"NopCloser"}}},
	"bufio":                    {{does: output, only: []string{"Writer.*", "Reader.*", "Scanner.Scan", "ReadWriter.*"}, except: []string{"*.Buffered", "*.Available", "*.Size"}}},
	"net":                      {{does: output, except: []string{"Parse*", "JoinHostPort", "SplitHostPort", "IP*", "CIDRMask", "HardwareAddr.*", "Flags.*", "*Addr.*", "Conn.*Addr", "Listener.Addr"}}},
	"net/http":                 {{does: output, only: []string{"Get", "Post*", "Head", "ListenAndServe*", "Serve*", "Error", "NotFound", "Redirect", "Client.*", "Server.*", "ResponseWriter.Write*", "RoundTripper.*"}}},
	"net/rpc":                  {{does: output}},
	"database/sql":             {{does: output, only: []string{"Open*", "DB.*", "Conn.*", "Tx.*", "Stmt.*", "Row.Scan", "Rows.*"}}},
	"syscall":                  {{does: output, except: []string{"Errno.*", "Getpid", "Getpagesize", "Getenv"}}},
	"golang.org/x/sys/unix":    {{does: output, except: []string{"Errno.*"}}},
	"golang.org/x/sys/windows": {{does: output, except: []string{"Errno.*"}}},
	"runtime":                  {{does: leaves, only: []string{"Goexit"}}},
	"time":                     {{does: blocks, only: []string{"Sleep"}}, {does: starts, only: []string{"AfterFunc"}}},
	"context":                  {{does: starts, only: []string{"AfterFunc"}}},
	"sync": {
		{does: holds, only: []string{"Once.Do"}},
		{does: blocks, only: []string{"Cond.Wait", "WaitGroup.Wait"}},
		{does: starts, only: []string{"WaitGroup.Go"}},
	},
	"testing": {{does: output, only: []string{"*.Error*", "*.Fatal*", "*.Fail*", "*.Log*", "*.Skip*", "*.Run"}}},
}

// harmless are methods that have no effects whatever their type.
var harmless = map[string]bool{"Error": true, "String": true, "Unwrap": true, "Is": true, "As": true, "Timeout": true, "Temporary": true, "Name": true, "Len": true}

func (r rule) matches(symbol string) bool {
	return (r.only == nil || match(r.only, symbol)) && !match(r.except, symbol)
}

// match reports whether a symbol is in the list, where a star stands for anything.
func match(list []string, symbol string) bool {
	for _, pattern := range list {
		parts := strings.Split(pattern, "*")
		rest, ok := strings.CutPrefix(symbol, parts[0])
		if len(parts) == 1 {
			ok = ok && rest == ""
		}
		for i, part := range parts[1:] {
			if last := i == len(parts)-2; last {
				ok = ok && strings.HasSuffix(rest, part)
				break
			}
			_, after, found := strings.Cut(rest, part)
			rest, ok = after, ok && found
		}
		if ok {
			return true
		}
	}
	return false
}

// effectOf returns what an event does by itself, or the zero effect.
func (c *checker) effectOf(e event) effect {
	switch {
	case e.kind == acted:
		return e.effect
	case e.kind != called || e.callee == nil || e.callee.Pkg() == nil || e.passed:
		return effect{}
	}
	fn := e.callee
	if m, ok := locks.MethodOf(fn); ok && m.Verb != locks.Release {
		name := symbol(fn)
		if fn.Pkg().Path() == "sync" {
			name = "sync." + name
		}
		return effect{"calls " + name, holds}
	}
	for _, r := range impure[fn.Pkg().Path()] {
		if r.matches(symbol(fn)) && (fn.Signature().Recv() == nil || !harmless[fn.Name()]) && !c.inMemory(e) {
			return effect{"calls " + fn.Pkg().Name() + "." + symbol(fn), r.does}
		}
	}
	return effect{}
}

// inMemory reports whether a call of fmt or io writes to, or reads from, a buffer.
func (c *checker) inMemory(e event) bool {
	call := e.node.(*ast.CallExpr)
	if path := e.callee.Pkg().Path(); path != "fmt" && path != "io" || len(call.Args) == 0 {
		return false
	}
	t := c.info.TypeOf(call.Args[0])
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	return isNamed(t, "bytes", "Buffer") || isNamed(t, "strings", "Builder") || isNamed(t, "strings", "Reader") || isNamed(t, "bytes", "Reader")
}

// instead is what to do about an effect.
const instead = ": do it in tx.OnCommit, or after tx.Irrevocable()"

// checkEvents reports the events that a transactional function must not have before
// it is irrevocable.
func (c *checker) checkEvents(f *function) {
	c.revocable(f, func(e event) {
		if effect := c.effectOf(e); effect.what != "" {
			c.reportf(effectCategory, e.node, "this "+effect.what+" inside a transaction, but "+effect.does+instead)
		} else if e.kind == called && !e.passed {
			c.checkHelper(f, e)
		}
		c.checkCaptured(f, e)
		c.checkPlain(f, e)
	})
}

// checkHelper reports the call of a helper that has effects, or can go on for ever, or allocate
// without a limit.
func (c *checker) checkHelper(f *function, e event) {
	s := c.helper(e)
	name := types.ExprString(e.node.(*ast.CallExpr).Fun)
	if e.callee != nil {
		name = e.callee.Name()
	}
	report := func(category, message string, cause func(*function) token.Pos) {
		d := analysis.Diagnostic{Pos: e.node.Pos(), End: e.node.End(), Category: category, Message: name + message}
		if e.function != nil {
			d.Related = []analysis.RelatedInformation{{Pos: cause(e.function), Message: "here"}}
		}
		c.report(d)
	}
	if s.Effect != "" {
		report(effectCategory, " "+s.Effect+", which is not undone when the transaction is run again"+instead,
			func(f *function) token.Pos { return f.cause })
	}
	if s.Loop != "" {
		report(checkpointCategory, " can go on without a checkpoint ("+s.Loop+"), so that a doomed transaction may never return from it: pass it the Tx, and call tx.Check() there",
			func(f *function) token.Pos { return f.loop })
	}
	call := e.node.(*ast.CallExpr)
	if s.Loop == "" && c.isGivenLoaded(call, s.Counts) {
		c.reportf(checkpointCategory, call, name+" counts to a number that the transaction has read without a checkpoint, and a doomed one can read any: pass it the Tx, and call tx.Check() there")
	}
	if c.isGivenLoaded(call, s.Allocates) && !c.validated(f, call.Pos()) {
		c.reportf(allocationCategory, call, name+" allocates as much as a number says that the transaction has read, and a doomed one can read any: call tx.Validate() before")
	}
}
