// Package pairs holds, for each construct of Go that explore controls, tests that
// some schedule makes fail (TestBug...) and tests that none does (TestFine...).
package pairs
