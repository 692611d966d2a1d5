package compiled

// Methods are what a function of package sort or container/heap is given in the place of a
// value whose methods it calls: what these are in the transaction.
type Methods struct {
	length func() int
	less   func(i, j int) bool
	swap   func(i, j int)
	push   func(v any)
	pop    func() any
}

// Len is a method of sort.Interface.
func (m Methods) Len() int { return m.length() }

// Less is one, too.
func (m Methods) Less(i, j int) bool { return m.less(i, j) }

// Swap is one, too.
func (m Methods) Swap(i, j int) { m.swap(i, j) }

// Push is a method of heap.Interface.
func (m Methods) Push(v any) { m.push(v) }

// Pop is one, too.
func (m Methods) Pop() any { return m.pop() }

// SortMethods are what package sort is given.
func SortMethods(length func() int, less func(i, j int) bool, swap func(i, j int)) Methods {
	return Methods{length: length, less: less, swap: swap}
}

// HeapMethods are what package container/heap is given.
func HeapMethods(length func() int, less func(i, j int) bool, swap func(i, j int), push func(v any), pop func() any) Methods {
	return Methods{length, less, swap, push, pop}
}
