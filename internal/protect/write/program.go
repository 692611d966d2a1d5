package write

import "fmt"

// watch has a program tell what it finds: main, or TestMain, begins that and ends it,
// and so does every call of os.Exit.
//
//	func main() {     func main() { defer watch.Start(...)();
//	os.Exit(code)     os.Exit(watch.Exit(code))
func (f *fileWriter) watch() {
	pkg := f.names + "watch"
	if f.file.Entry == nil && len(f.file.Exits) == 0 {
		return
	}
	if d := f.file.Entry; d != nil {
		begin := pkg + ".Test()"
		if !f.plan.Tests {
			begin = fmt.Sprintf("%s.Start(%s.Config{Summary: %q, Findings: %q, Strict: %t})", pkg, pkg, f.plan.String(), f.watching.Findings, f.watching.Strict)
		}
		f.edits.InsertAfter(d.Body.Lbrace+1, fmt.Sprintf(" defer %s();", begin))
	}
	for _, call := range f.file.Exits {
		f.edits.InsertAfter(call.Args[0].Pos(), pkg+".Exit(")
		f.edits.InsertBefore(call.Args[0].End(), ")")
	}
	f.edits.ImportInLine(pkg, "cofferdamrt/protect/watch")
}
