// Package lint holds the rules of the house as ordinary tests. There is nothing else in
// it.
//
// lint_test.go has which package may import which, where unsafe and assembly may be, and
// what tests must not do. product_test.go has sizes, and that package comments name all
// files. decision_test.go has how decisions are made and source is written, and which
// packages are for tests alone. prose_test.go has what comments and documents must not say, and
// that links lead somewhere.
//
// An exception is a line in a table beside the rule, with its reason.
package lint
