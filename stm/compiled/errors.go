package compiled

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/cofferdam-go/cofferdam/stm"
)

// What errors.New makes and fmt.Errorf makes never changes, and its methods do nothing but to
// return what it holds.
var (
	errSimple = errors.New("")
	isSimple  = reflect.TypeOf(errSimple)
	isOne     = reflect.TypeOf(fmt.Errorf("%w", errSimple))
	isMany    = reflect.TypeOf(fmt.Errorf("%w%w", errSimple, errSimple))
)

// Error returns an error that is about to be written out, or wrapped, by a function that calls
// its method. If that was not compiled, for which M and V stand as in Method, or there is another
// one that is called instead, the transaction works in place from here on.
func Error[M, V any](tx *stm.Tx, err error) error {
	switch reflect.TypeOf(err) {
	case nil, isSimple, isOne, isMany:
		return err
	}
	if _, ok := err.(fmt.Formatter); ok {
		tx.Perform()
	}
	return Method[M, V](tx, err)
}

// Chain returns an error that is about to be looked through, with all that it wraps. Whether it
// is another error is told by comparing the two, unless one of them has methods to say so.
func Chain(tx *stm.Tx, err error) error {
	wrapped := err
	for reflect.TypeOf(wrapped) == isOne {
		tx.Check()
		wrapped = errors.Unwrap(wrapped)
	}
	switch wrapped.(type) {
	case interface{ Is(error) bool }, interface{ Unwrap() error }, interface{ Unwrap() []error }:
		tx.Perform()
	}
	return err
}
