//go:build go1.22

package go121

import (
	"fmt"
	"testing"
)

func TestAFileOfALaterVersion(t *testing.T) {
	var fs []func() int
	for i, v := range []int{1, 2, 3} {
		fs = append(fs, func() int { i++; return i*10 + v })
	}
	for i := range 2 {
		fs = append(fs, func() int { i++; return i })
	}
	for _, f := range fs {
		fmt.Print(f(), " ")
	}
	fmt.Println()
}
