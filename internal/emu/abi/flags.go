package abi

// Flags of open.
const (
	OpenWrite    = 1
	OpenRDWR     = 2
	OpenAccess   = 3
	OpenCreate   = 0o100
	OpenExcl     = 0o200
	OpenTrunc    = 0o1000
	OpenAppend   = 0o2000
	OpenNonblock = 0o4000
	OpenDir      = 0o200000
	OpenNoLink   = 0o400000
	OpenCloexec  = 0o2000000
)

// Flags of clone.
const (
	CloneVM           = 0x100
	CloneVfork        = 0x4000
	CloneThread       = 0x10000
	CloneSetTLS       = 0x80000
	CloneParentSetTID = 0x100000
	CloneChildClear   = 0x200000
	CloneChildSetTID  = 0x1000000
	// All handlers of signals become the default.
	CloneClearHandlers = 0x100000000
)
