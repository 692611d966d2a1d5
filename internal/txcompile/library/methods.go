package library

import (
	"go/types"
	"slices"
)

// sorting and heaps are functions that do what they do by the methods of their first argument.
var (
	sorting = []string{"sort.IsSorted", "sort.Sort", "sort.Stable"}
	heaps   = []string{"container/heap.Fix", "container/heap.Init", "container/heap.Pop", "container/heap.Push", "container/heap.Remove"}
)

// ByMethods returns what package compiled makes of the first argument of a function that sorts, or
// keeps a heap, "" if it is none, and which methods of that it calls, in the order of the
// parameters there.
func ByMethods(fullName string) (name string, methods []string) {
	switch {
	case slices.Contains(sorting, fullName):
		return "SortMethods", []string{"Len", "Less", "Swap"}
	case slices.Contains(heaps, fullName):
		return "HeapMethods", []string{"Len", "Less", "Swap", "Push", "Pop"}
	}
	return "", nil
}

// OwnMethod returns the method of a name that a type has itself, or the type that it points
// to, nil if there is none.
func OwnMethod(t types.Type, name string) *types.Func {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	named, ok := types.Unalias(t).(*types.Named)
	if !ok || types.IsInterface(named) {
		return nil
	}
	for m := range named.Origin().Methods() {
		if m.Name() == name {
			return m
		}
	}
	return nil
}

// OwnMethods returns the methods of some names that a type has itself, none if one is missing.
func OwnMethods(t types.Type, names []string) (all []*types.Func) {
	for _, name := range names {
		m := OwnMethod(t, name)
		if m == nil {
			return nil
		}
		all = append(all, m)
	}
	return all
}

// Parameters are those of the methods by which things are ordered, and how they are handed on.
var Parameters = map[string]struct{ Declared, Given string }{
	"Len": {"() int", ""}, "Less": {"(i, j int) bool", ", i, j"}, "Swap": {"(i, j int)", ", i, j"}, "Push": {"(v interface{})", ", v"}, "Pop": {"() interface{}", ""},
}
