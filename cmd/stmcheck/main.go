// Stmcheck finds what a transaction of package stm should not do: loops without a
// checkpoint, effects that cannot be undone, writes to captured variables, a Tx that
// escapes, and a recover that swallows the unwinding. See package stmcheck.
//
//	go vet -vettool=$(go env GOPATH)/bin/stmcheck ./...
//	stmcheck ./...
//	stmcheck -fix ./...
package main

import (
	"golang.org/x/tools/go/analysis/singlechecker"

	"github.com/cofferdam-go/cofferdam/stm/stmcheck"
)

// Singlechecker speaks the protocol of go vet when it is called by that, and loads
// the packages by itself otherwise.
func main() { singlechecker.Main(stmcheck.Analyzer) }
