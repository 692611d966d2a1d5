//go:build !amd64

package wicket

import "sync/atomic"

// ordersLoads says that the processor makes loads in the order of the program. Where it does not, a look at the word
// behind a load may be made before it: an atomic load orders only what comes behind. So loads are under way like stores.
const ordersLoads = false

// storeRelease stores behind all that was loaded and stored before.
func storeRelease(p *uint64, value uint64) { atomic.StoreUint64(p, value) }
