package cover

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/repair/cover/statement"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// A lock may be held while its holder reads or writes what is outside the program, and had better not be:
// others wait as long as what is at the other end likes. What stands before a return is done after the lock
// was released, and of the rest the report tells:
//
//	if !p.open {                                 if !p.open {
//		http.Error(w, "closed", http.StatusGone) 	p.mu.Unlock()
//		return                                   	http.Error(w, "closed", http.StatusGone)
//	}                                            	return
//	                                             }

// ReachesOutside reports whether a region reads or writes files, connections or the like, which takes
// as long as whatever is at the other end likes. A lock may be held meanwhile, and had better not be.
func (code *Code) ReachesOutside(r *Region) bool {
	found := false
	code.locks.EachAtOnce(r.info(), &ast.BlockStmt{List: r.statements()}, func(n ast.Node) {
		if c, ok := n.(*ast.CallExpr); ok {
			fn, _ := r.info().Uses[source.CalleeName(c)].(*types.Func)
			found = found || fn != nil && fn.Pkg() != nil && (outside[fn.Pkg().Path()] || outside[fn.FullName()])
		}
	})
	return found
}

// outside are packages whose functions read and write what is outside the program, and functions of
// others that do.
var outside = map[string]bool{
	"bufio": true, "database/sql": true, "io": true, "io/ioutil": true, "net": true, "net/http": true, "net/rpc": true, "net/smtp": true, "os": true, "os/exec": true,
	"(*encoding/json.Decoder).Decode": true, "(*encoding/json.Encoder).Encode": true, "(*encoding/gob.Decoder).Decode": true, "(*encoding/gob.Encoder).Encode": true,
}

// askingOthers are functions that wait for other programs or machines, whatever they are given.
var askingOthers = map[string]bool{
	"net.Dial": true, "net.DialTimeout": true, "(*net.Dialer).Dial": true, "(*net.Dialer).DialContext": true,
	"net/http.Get": true, "net/http.Head": true, "net/http.Post": true, "net/http.PostForm": true,
	"(*net/http.Client).Do": true, "(*net/http.Client).Get": true, "(*net/http.Client).Head": true,
	"(*net/http.Client).Post": true, "(*net/http.Client).PostForm": true,
	"(*net/http.Request).FormFile": true, "(*net/http.Request).FormValue": true, "(*net/http.Request).ParseForm": true,
	"(*net/http.Request).ParseMultipartForm": true, "(*net/http.Request).PostFormValue": true, "(*net/http.Request).Write": true,
	"(*net/rpc.Client).Call": true, "net/smtp.SendMail": true,
	"(*os/exec.Cmd).CombinedOutput": true, "(*os/exec.Cmd).Output": true, "(*os/exec.Cmd).Run": true, "(*os/exec.Cmd).Wait": true,
	"(*database/sql.DB).Begin": true, "(*database/sql.DB).BeginTx": true, "(*database/sql.DB).Exec": true, "(*database/sql.DB).ExecContext": true,
	"(*database/sql.DB).Ping": true, "(*database/sql.DB).PingContext": true, "(*database/sql.DB).Query": true, "(*database/sql.DB).QueryContext": true,
	"(*database/sql.DB).QueryRow": true, "(*database/sql.DB).QueryRowContext": true, "(*database/sql.Tx).Commit": true, "(*database/sql.Tx).Exec": true,
	"(*database/sql.Tx).ExecContext": true, "(*database/sql.Tx).Query": true, "(*database/sql.Tx).QueryContext": true,
	"(*database/sql.Tx).QueryRow": true, "(*database/sql.Tx).QueryRowContext": true,
}

// transferring are methods of connections that wait for the other end.
var transferring = map[string]bool{"Flush": true, "Read": true, "ReadFrom": true, "Write": true, "WriteTo": true}

// asksOthers reports whether a call waits for another program or machine: it is one of a function that
// does, or a function of a library reads or writes a connection that it is given.
func (code *Code) asksOthers(info *types.Info, c *ast.CallExpr) bool {
	fn, _ := info.Uses[source.CalleeName(c)].(*types.Func)
	if fn == nil || fn.Pkg() == nil {
		return false
	}
	if askingOthers[fn.FullName()] {
		return true
	}
	given := c.Args
	if method, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr); ok && info.Selections[method] != nil {
		if isConnection(info.TypeOf(method.X)) {
			return transferring[fn.Name()]
		}
		if made, ok := ast.Unparen(method.X).(*ast.CallExpr); ok && outside[fn.FullName()] {
			given = made.Args // json.NewEncoder(w).Encode(x)
		}
	}
	writes := outside[fn.Pkg().Path()] || outside[fn.FullName()] || fn.Pkg().Path() == "fmt" || fn.Pkg().Path() == "html/template" || fn.Pkg().Path() == "text/template"
	return writes && code.Declaration(fn.Origin()) == nil && slices.ContainsFunc(given, func(e ast.Expr) bool { return isConnection(info.TypeOf(e)) }) && !isConstructor(fn)
}

// isConstructor reports whether a function makes something of what it is given, as bufio.NewReader does.
func isConstructor(fn *types.Func) bool {
	results := fn.Signature().Results()
	return fn.Signature().Recv() == nil && results.Len() == 1 && fn.Pkg().Path() != "fmt" && !types.Identical(results.At(0).Type(), types.Universe.Lookup("error").Type())
}

// isConnection reports whether a type is one of what leads to another program or machine.
func isConnection(t types.Type) bool {
	if t == nil {
		return false
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || n.Obj().Pkg() == nil {
		return false
	}
	switch n.Obj().Pkg().Path() + "." + n.Obj().Name() {
	case "net/http.ResponseWriter", "net.Conn", "net.TCPConn", "net.UDPConn", "net.UnixConn", "crypto/tls.Conn":
		return true
	}
	return false
}

// outsideCalls are the calls in statements by which a goroutine waits for another program or machine, also
// in functions of the program that are called.
func (code *Code) outsideCalls(stmts []ast.Stmt) []Place {
	var all []Place
	seen := make(map[ast.Node]bool)
	var look func(stmts []ast.Stmt)
	look = func(stmts []ast.Stmt) {
		for _, s := range stmts {
			f := code.FileOf(s)
			if f == nil {
				continue
			}
			code.locks.EachAtOnce(f.Info, s, func(n ast.Node) {
				c, ok := n.(*ast.CallExpr)
				if !ok {
					return
				}
				if code.asksOthers(f.Info, c) {
					line := f.LineBefore(c.Pos())
					all = append(all, Place{Function: source.CalleeName(c).Name, File: f.Name, From: line, To: line})
				}
				for _, callee := range code.locks.Callees(f.Info, c) {
					if !seen[callee] {
						seen[callee] = true
						look(source.Body(callee).List)
					}
				}
			})
		}
	}
	look(stmts)
	return all
}

// releasedEarly are the ways out of a region that end with such calls and an empty return, by the return: the
// lock is released before the first of the calls, which are the last in the list.
func (code *Code) releasedEarly(r *Region) map[*ast.ReturnStmt][]ast.Stmt {
	early := make(map[*ast.ReturnStmt][]ast.Stmt)
	statement.Each(r.statements(), func(n ast.Node) {
		b, ok := n.(*ast.BlockStmt)
		if !ok {
			return
		}
		s, _ := statement.Last(b).(*ast.ReturnStmt)
		if s == nil || len(s.Results) > 0 {
			return
		}
		for i := len(b.List) - 2; i >= 0; i-- {
			call, ok := b.List[i].(*ast.ExprStmt)
			if !ok || r.hasDataIn(call) || len(code.outsideCalls(b.List[i:i+1])) == 0 {
				break
			}
			early[s] = append(early[s], call)
		}
	})
	return early
}
