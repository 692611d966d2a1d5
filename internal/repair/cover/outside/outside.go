// Package outside knows which calls reach files, connections, or other programs and machines: they take as long as
// what is at the other end likes.
//
// outside.go is all of it.
package outside

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/locks"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// Reaches reports whether a call reads or writes files, connections or the like.
func Reaches(info *types.Info, c *ast.CallExpr) bool {
	fn, _ := info.Uses[source.CalleeName(c)].(*types.Func)
	return fn != nil && fn.Pkg() != nil && (reaching[fn.Pkg().Path()] || reaching[fn.FullName()])
}

// reaching are packages whose functions read and write what is outside the program, and functions of
// others that do.
var reaching = map[string]bool{
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

// A Call is one by which a goroutine waits for another program or machine.
type Call struct {
	File *source.File
	Call *ast.CallExpr
}

// Calls are those in statements, and in functions of the program that they call.
func Calls(program *source.Program, known *locks.Program, stmts []ast.Stmt) []Call {
	var all []Call
	seen := make(map[ast.Node]bool)
	var look func(stmts []ast.Stmt)
	look = func(stmts []ast.Stmt) {
		for _, s := range stmts {
			f := program.FileOf(s)
			if f == nil {
				continue
			}
			known.EachAtOnce(f.Info, s, func(n ast.Node) {
				c, ok := n.(*ast.CallExpr)
				if !ok {
					return
				}
				if asksOthers(f.Info, c) {
					all = append(all, Call{f, c})
				}
				for _, callee := range known.Callees(f.Info, c) {
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

// transferring are methods of connections that wait for the other end.
var transferring = map[string]bool{"Flush": true, "Read": true, "ReadFrom": true, "Write": true, "WriteTo": true}

// asksOthers reports whether a call of a library waits for another program or machine: it is one of a
// function that does, or of one that reads or writes a connection that it is given.
func asksOthers(info *types.Info, c *ast.CallExpr) bool {
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
		if made, ok := ast.Unparen(method.X).(*ast.CallExpr); ok && reaching[fn.FullName()] {
			given = made.Args // json.NewEncoder(w).Encode(x)
		}
	}
	writes := reaching[fn.Pkg().Path()] || reaching[fn.FullName()] || fn.Pkg().Path() == "fmt" || fn.Pkg().Path() == "html/template" || fn.Pkg().Path() == "text/template"
	return writes && slices.ContainsFunc(given, func(e ast.Expr) bool { return isConnection(info.TypeOf(e)) }) && !isConstructor(fn)
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
