package write

import "fmt"

// watch has a program tell what it finds: main, or TestMain, begins that, and ends it if it
// panics. Package watch knows of all other ends by itself.
//
//	func main() {     func main() { defer watch.Start(...)();
func (f *fileWriter) watch() {
	pkg := f.names + "watch"
	if f.file.Entry == nil {
		return
	}
	begin := pkg + ".Test()"
	if w := f.watching; !f.plan.Tests {
		begin = fmt.Sprintf("%s.Start(%s.Config{Summary: %q, Findings: %q, Limit: %d, Baseline: %q, Log: %t, Strict: %t})",
			pkg, pkg, f.plan.String(), w.Findings, w.Limit, w.Baseline, w.Log, w.Strict)
	}
	f.edits.InsertAfter(f.file.Entry.Body.Lbrace+1, fmt.Sprintf(" defer %s();", begin))
	f.edits.ImportInLine(pkg, "cofferdamrt/protect/watch")
	if f.watching.Monitor && !f.plan.Tests {
		f.edits.ImportInLine("_", "cofferdamrt/monitor")
	}
}
