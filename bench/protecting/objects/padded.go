//go:build padded

package main

// padding is as large as what protection adds to an account.
type padding [24]byte
