package source

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
	"strings"
	"unicode"
)

// Lookup returns what a name means at a position of the file, nil if nothing.
func (f *File) Lookup(name string, at token.Pos) types.Object {
	scope := f.Types.Scope().Innermost(at)
	if scope == nil {
		return nil
	}
	_, o := scope.LookupParent(name, at)
	return o
}

// Means reports whether an object's name means that object at a position of the file.
func (f *File) Means(o types.Object, at token.Pos) bool { return f.Lookup(o.Name(), at) == o }

// Names gives out names that are free in some syntax: no identifier there is spelled so. So
// a declaration of such a name shadows nothing that is used there, and nothing there shadows
// it.
//
//	names := NamesIn(function)
//	names.Free("result")     result, or result0 if the function has a result already
//	names.Numbered("value")  value0, then value1
type Names struct {
	used map[string]bool
}

// NamesIn returns the names that are free in all the nodes.
func NamesIn(nodes ...ast.Node) *Names {
	n := &Names{used: make(map[string]bool)}
	for _, root := range nodes {
		ast.Inspect(root, func(node ast.Node) bool {
			if id, ok := node.(*ast.Ident); ok {
				n.used[id.Name] = true
			}
			return true
		})
	}
	return n
}

// Free returns a word if it is free, or else with a number. It is not free from then on.
func (n *Names) Free(word string) string {
	if n.used[word] {
		return n.Numbered(word)
	}
	n.used[word] = true
	return word
}

// Numbered returns a word with the first number that makes it free. It is not free from then
// on.
func (n *Names) Numbered(word string) string {
	for i := 0; ; i++ {
		if name := word + strconv.Itoa(i); !n.used[name] {
			n.used[name] = true
			return name
		}
	}
}

// UnusedPrefix returns a prefix that no identifier of the files begins with: the word, with
// as many underscores in front of it as that takes. With it, any number of names can be made
// up that are free in the whole package.
func UnusedPrefix(word string, files ...*ast.File) string {
	for {
		taken := false
		for _, f := range files {
			ast.Inspect(f, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && strings.HasPrefix(id.Name, word) {
					taken = true
				}
				return !taken
			})
		}
		if !taken {
			return word
		}
		word = "_" + word
	}
}

// Unexported is a name as only its package sees it, initials in capitals as one word:
//
//	Get, URL, HTTPClient     get, url, httpClient
func Unexported(name string) string {
	letters := []rune(name)
	for i, letter := range letters {
		if !unicode.IsUpper(letter) || i > 0 && i+1 < len(letters) && unicode.IsLower(letters[i+1]) {
			break
		}
		letters[i] = unicode.ToLower(letter)
	}
	return string(letters)
}
