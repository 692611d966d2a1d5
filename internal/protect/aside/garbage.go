package aside

import "runtime"

// most is how many fields of objects have pages at a time. That is 64 MiB. Fields that come when there
// are so many are on the heap.
const most = 16384

// made is how many fields have pages. It is guarded by making.
var made int

// giveBackAfter has the pages of a guard given back when what leads to them is garbage. No access
// can be under way then: the collector does not know addresses of pages, but whatever uses one
// names what leads there when it is done.
func giveBackAfter[O any](leads *O, g *Guard) {
	if g != &nowhere {
		runtime.AddCleanup(leads, giveBack, g)
	}
}

func giveBack(g *Guard) {
	making.Lock()
	defer making.Unlock()
	made--
	if err := g.Close(); err != nil {
		refuse(err.Error())
	}
}
