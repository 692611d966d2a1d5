// Package vet has the analyzers of Cofferdam, for go vet, golangci-lint and other drivers.
//
//	guards        accesses to data without the lock that guards it
//	splitsection  data that is checked in one section of its lock and used in another
//	stmcheck      what must not be in a transaction of package stm
//
// cofferdam vet runs them, and so does go vet with the command as its tool:
//
//	go vet -vettool=$(which cofferdam) ./...
//
// vet.go has the list; golangci is the plugin for golangci-lint.
package vet

import (
	"golang.org/x/tools/go/analysis"

	"github.com/cofferdam-go/cofferdam/stm/stmcheck"
	"github.com/cofferdam-go/cofferdam/vet/guards"
	"github.com/cofferdam-go/cofferdam/vet/splitsection"
)

// Analyzers returns all of them.
func Analyzers() []*analysis.Analyzer {
	return []*analysis.Analyzer{guards.Analyzer, splitsection.Analyzer, stmcheck.Analyzer}
}
