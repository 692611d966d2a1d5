package wicket

// storeRelease stores behind all that was loaded and stored before, which is so on amd64.
func storeRelease(p *uint64, value uint64) { *p = value }

// orderLoads has the loads before it made before those behind it, which is so on amd64.
func orderLoads(*uint32) {}
