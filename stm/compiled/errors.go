package compiled

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/cofferdam-go/cofferdam/stm"
)

// What errors.New, fmt.Errorf and errors.Join make never changes, and its methods do nothing but
// to return what it holds, and to call the method Error of what was joined.
var (
	errSimple = errors.New("")
	isSimple  = reflect.TypeOf(errSimple)
	isOne     = reflect.TypeOf(fmt.Errorf("%w", errSimple))
	isMany    = reflect.TypeOf(fmt.Errorf("%w%w", errSimple, errSimple))
	isJoined  = reflect.TypeOf(errors.Join(errSimple))
)

// Error returns an error that is about to be written out, or wrapped, by a function that calls
// its method. If that was not compiled, for which M and V stand as in Method, or there is another
// one that is called instead, the transaction works in place from here on.
func Error[M, V any](tx *stm.Tx, err error) error {
	switch reflect.TypeOf(err) {
	case nil, isSimple, isOne, isMany:
		return err
	case isJoined:
		for _, one := range err.(interface{ Unwrap() []error }).Unwrap() {
			tx.Check()
			Error[M, V](tx, one)
		}
		return err
	}
	if _, ok := err.(fmt.Formatter); ok {
		tx.Perform()
	}
	return Method[M, V](tx, err)
}

// Text returns a value that is about to be written out by a function that calls its method Error
// or String, if it has one. If that was not compiled, for which EM, EV, SM and SV stand as in
// Method, or the value leads to memory, the transaction works in place from here on.
func Text[EM, EV, SM, SV any](tx *stm.Tx, v any) any {
	switch v := v.(type) {
	case nil, bool, string, int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64, uintptr, float32, float64, complex64, complex128, time.Time, time.Duration:
		return v
	case fmt.Formatter:
		tx.Perform()
		return v
	case error:
		return Error[EM, EV](tx, v)
	case fmt.Stringer:
		return Method[SM, SV](tx, v)
	}
	return Flat(tx, v)
}

// Flat returns a value that is about to be written out as what it is. If it may lead to memory
// that changes, or writes itself, the transaction works in place from here on.
func Flat[T any](tx *stm.Tx, v T) T {
	switch t := reflect.TypeOf(v); {
	case t == nil, t == isSimple, t == isOne, t == isMany:
	case !leadsNowhere(t): //stmcheck:ok a type has an end
		tx.Perform()
	}
	return v
}

// leadsNowhere reports whether values of a type, and their parts, refer to no memory that changes,
// and have no methods by which they write themselves.
func leadsNowhere(t reflect.Type) bool {
	if slices.ContainsFunc(writing, t.Implements) {
		return false
	}
	switch kind := t.Kind(); kind {
	case reflect.Array:
		return leadsNowhere(t.Elem())
	case reflect.Struct:
		for f := range t.Fields() {
			if !leadsNowhere(f.Type) {
				return false
			}
		}
		return true
	default:
		return kind == reflect.String || reflect.Bool <= kind && kind <= reflect.Complex128
	}
}

// writing are interfaces with the methods by which values write themselves.
var writing = []reflect.Type{reflect.TypeFor[fmt.Formatter](), reflect.TypeFor[fmt.GoStringer](), reflect.TypeFor[fmt.Stringer](), reflect.TypeFor[error]()}

// Flats is Flat for each of some values, which it returns in a slice of the transaction's own.
func Flats(tx *stm.Tx, values []any) []any {
	values = Elements(tx, values)
	for _, v := range values {
		Flat(tx, v)
	}
	return values
}

// Chain returns an error that is about to be looked through, with all that it wraps. Whether it
// is another error is told by comparing the two, unless one of them has methods to say so. If such
// a method was not compiled, or is one that assigns, the transaction works in place from here on:
// IM and IV stand for Is as in Method, and UM and UV for Unwrap.
func Chain[IM, IV, UM, UV any](tx *stm.Tx, err error) error {
	for wrapped := err; wrapped != nil; {
		tx.Check()
		switch reflect.TypeOf(wrapped) {
		case isSimple:
			return err
		case isOne:
			wrapped = errors.Unwrap(wrapped)
			continue
		case isMany, isJoined:
			for _, one := range wrapped.(interface{ Unwrap() []error }).Unwrap() {
				Chain[IM, IV, UM, UV](tx, one)
			}
			return err
		}
		switch e := wrapped.(type) {
		case interface{ As(any) bool }, interface{ Unwrap() []error }:
			tx.Perform()
			return err
		case interface{ Is(error) bool }:
			Method[IM, IV](tx, e)
		}
		next, ok := wrapped.(interface{ Unwrap() error })
		if !ok {
			return err
		}
		wrapped = Method[UM, UV](tx, next).Unwrap()
	}
	return err
}

// As is errors.As(err, target), whose target can be shared. The names of its types are those of
// Chain.
func As[IM, IV, UM, UV, T any](tx *stm.Tx, err error, target *T) bool {
	if target == nil {
		return errors.As(err, target) // which panics
	}
	var found T
	if !errors.As(Chain[IM, IV, UM, UV](tx, err), &found) {
		return false
	}
	stm.Store(tx, target, found)
	return true
}
