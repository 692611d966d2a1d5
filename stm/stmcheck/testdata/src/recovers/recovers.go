// want package:"analyzed"

// Package recovers has transactions that recover panics.
package recovers

import (
	"errors"
	"strconv"

	"example.com/transactions/src/helper"
	"github.com/cofferdam-go/cofferdam/stm"
)

var x int

var errMine = errors.New("mine")

func mustReport(tx *stm.Tx) (err error) {
	defer func() { // want `this recover also stops the panic by which package stm gives an attempt up`
		if r := recover(); r != nil {
			err = errMine
		}
	}()
	defer helper.Catch() // want `this recover also stops the panic`
	defer catch()        // want `this recover also stops the panic`
	func() {
		defer func() { recover() }() // want `this recover also stops the panic`
		stm.Load(tx, &x)
	}()
	return nil
}

func catch() { recover() }

func mustNotReport(tx *stm.Tx) (n int, err error) {
	defer func() {
		r := recover()
		if r == errMine {
			err = errMine
		} else if r != nil {
			panic(r)
		}
	}()
	func() {
		defer func() { recover() }()
		n, _ = strconv.Atoi("1")
	}()
	parse()
	tx.OnCommit(func() {
		defer func() { recover() }()
	})
	tx.Irrevocable()
	defer catch()
	return n, nil
}

func parse() {
	defer func() { recover() }()
}
