//go:build 386 || arm || mips || mipsle

package stm

// The logs are made of words of eight bytes, each of which may be a pointer.
var _ = stm_needs_a_64_bit_platform
