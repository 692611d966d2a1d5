package variant

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/source"
)

// Write writes the plan into edits of files.
func (p *Plan) Write(edits func(*source.File) *source.Edits) {
	for _, f := range p.needed {
		e := edits(f.file)
		gone := make(map[ast.Stmt]bool) // a deferred literal may have several operations
		for _, s := range f.operations {
			if !gone[s] {
				e.Delete(s)
			}
			gone[s] = true
		}
		if f.two {
			p.writeTwo(e, f)
			continue
		}
		held := p.wordsIn(f)
		comment := fmt.Sprintf("// %s is called with %s held.\n", f.decl.Name.Name, held)
		if f.decl.Doc != nil {
			comment = "//\n// It is called with " + held + " held.\n"
		}
		e.InsertBefore(f.decl.Pos(), comment)
	}
	for name, f := range p.held {
		if f.two {
			edits(p.source.FileOf(name)).Replace(name, f.variant)
		}
	}
}

// wordsIn is how comments of a function name the lock: one that is embedded has the name of its type
// there.
func (p *Plan) wordsIn(f *function) string {
	name := p.lock.Name(f.decl)
	if p.lock.Class != nil && p.lock.Class.Embedded() {
		return name + "." + p.lock.Class.Name()
	}
	return name
}

// writeTwo makes two of a function, of which one takes the lock and calls the other.
func (p *Plan) writeTwo(e *source.Edits, f *function) {
	lock := p.lock.Name(f.decl)
	take, release := lock+".Lock()", lock+".Unlock()"
	if p.lock.RW && !f.write {
		take, release = lock+".RLock()", lock+".RUnlock()"
	}
	d := f.decl
	call := f.variant + typeArguments(d) + "(" + strings.Join(arguments(d), ", ") + ")"
	if d.Recv != nil {
		call = d.Recv.List[0].Names[0].Name + "." + call
	}
	if d.Type.Results != nil {
		call = "return " + call
	}
	head := f.file.Between(d.Pos(), d.Body.Pos())
	e.InsertBefore(d.Pos(), fmt.Sprintf("%s{\n%s\ndefer %s\n%s\n}\n\n// %s is %s with %s held.\n", head, take, release, call, f.variant, d.Name.Name, p.wordsIn(f)))
	e.Replace(d.Name, f.variant)
}

// arguments are the parameters of a function, as they are handed on.
func arguments(d *ast.FuncDecl) []string {
	var all []string
	for _, field := range d.Type.Params.List {
		for _, id := range field.Names {
			name := id.Name
			if _, variadic := field.Type.(*ast.Ellipsis); variadic {
				name += "..."
			}
			all = append(all, name)
		}
	}
	return all
}

// typeArguments hand on the type parameters of a function, which its arguments need not tell.
func typeArguments(d *ast.FuncDecl) string {
	if d.Type.TypeParams == nil {
		return ""
	}
	var names []string
	for _, field := range d.Type.TypeParams.List {
		for _, id := range field.Names {
			names = append(names, id.Name)
		}
	}
	return "[" + strings.Join(names, ", ") + "]"
}

// nameFor is a name for the variant of a function that its package, or the function's receiver, has
// for nothing else.
func (p *Plan) nameFor(f *function) string {
	word := source.Unexported(f.decl.Name.Name) + "Locked"
	name := word
	for i := 2; p.isTaken(f, name); i++ {
		name = fmt.Sprintf("%s%d", word, i)
	}
	return name
}

func (p *Plan) isTaken(f *function, name string) bool {
	if slices.ContainsFunc(p.needed, func(o *function) bool { return o != f && o.variant == name }) {
		return true
	}
	if f.decl.Recv != nil {
		t := f.file.Info.TypeOf(f.decl.Recv.List[0].Type)
		if _, pointer := t.(*types.Pointer); !pointer {
			t = types.NewPointer(t)
		}
		o, _, _ := types.LookupFieldOrMethod(t, true, f.file.Types, name)
		return o != nil
	}
	for id := range f.file.Info.Defs {
		if id.Name == name {
			return true
		}
	}
	return false
}
