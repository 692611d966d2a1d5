package protect

import (
	"fmt"
	"go/ast"
	"strconv"
	"strings"
)

// summaryMark stands for the summary, which is known when all has been rewritten.
const summaryMark = "cofferdam: the summary"

// watch has a program tell what it finds: main, or TestMain, begins that and ends it,
// and so does every call of os.Exit.
//
//	func main() {     func main() { defer watch.Start(...)();
//	os.Exit(code)     os.Exit(watch.Exit(code))
func (f *file) watch() {
	pkg := f.names + "watch"
	before := len(f.edits)
	for _, d := range f.syntax.Decls {
		d, ok := d.(*ast.FuncDecl)
		switch {
		case !ok || d.Recv != nil || d.Body == nil:
		case f.Tests && d.Name.Name == "TestMain" && strings.HasSuffix(f.tok.Name(), "_test.go"):
			f.insert(d.Body.Lbrace+1, atEnd, fmt.Sprintf(" defer %s.Test()();", pkg))
		case !f.Tests && d.Name.Name == "main" && f.pkg.Name == "main":
			f.insert(d.Body.Lbrace+1, atEnd, fmt.Sprintf(" defer %s.Start(%s.Config{Summary: %s, Findings: %q, Strict: %t})();",
				pkg, pkg, strconv.Quote(summaryMark), f.Findings, f.Strict))
		}
	}
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && len(call.Args) == 1 {
			if callee := calleeOf(f.info, call.Fun); callee != nil && callee.FullName() == "os.Exit" {
				f.insert(call.Args[0].Pos(), atEnd, pkg+".Exit(")
				f.insert(call.Args[0].End(), atStart, ")")
			}
		}
		return true
	})
	if len(f.edits) > before {
		f.insert(f.syntax.Name.End(), atEnd, "; import "+pkg+` "cofferdamrt/protect/watch"`)
	}
}
