//go:build !padded

package main

type padding struct{}
