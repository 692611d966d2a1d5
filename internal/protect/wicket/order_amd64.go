package wicket

// ordersLoads says that the processor makes loads in the order of the program.
const ordersLoads = true

// storeRelease stores behind all that was loaded and stored before, which is so on amd64.
func storeRelease(p *uint64, value uint64) { *p = value }
