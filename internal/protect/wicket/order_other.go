//go:build !amd64

package wicket

import "sync/atomic"

// storeRelease stores behind all that was loaded and stored before.
func storeRelease(p *uint64, value uint64) { atomic.StoreUint64(p, value) }

// orderLoads has the loads before it made before those behind it. An atomic load orders only what comes behind
// it; an atomic addition orders both.
func orderLoads(p *uint32) { atomic.AddUint32(p, 0) }
