// want package:"analyzed"

// Package captured has transactions that write variables from outside.
package captured

import (
	"bytes"
	"encoding/json"
	"math/rand"
	"slices"
	"sync/atomic"

	"example.com/transactions/src/helper"
	"github.com/cofferdam-go/cofferdam/stm"
)

type account struct {
	balance int
	names   []string
}

var total int

func mustReport(p *account, in []byte) {
	result, list, m, buf := 0, []int{1}, map[int]int{}, bytes.Buffer{}
	var table helper.Table
	var r *rand.Rand
	var array [3]int
	var dynamic func(*int)
	closure := func() { result++ }
	stm.Atomically(func(tx *stm.Tx) error {
		result = 1                  // want `this writes result, a variable from outside of the transaction, without stm.Store`
		result++                    // want `this writes result`
		list = append(list, 1)      // want `this writes list`
		list[0] = 1                 // want `this writes through list`
		array[0] = 1                // want `this writes array`
		m[1] = 2                    // want `this writes through m`
		delete(m, 1)                // want `this writes through m`
		copy(list, list)            // want `this writes through list`
		p.balance += 3              // want `this writes through p`
		p.names[0] = ""             // want `this writes through p`
		*p = account{}              // want `this writes through p`
		total = 1                   // want `this writes total`
		json.Unmarshal(in, &result) // want `this call may write result`
		buf.WriteString("")         // want `this call may write buf`
		table.Grow()                // want `this call may write table`
		helper.Fill(&result)        // want `this call may write result`
		set(p)                      // want `this call may write through p`
		setAgain(p)                 // want `this call may write through p`
		r.Int()                     // want `this call may write through r`
		slices.Sort(list)           // want `this call may write through list`
		dynamic(&result)            // want `this call may write result`
		helper.Next()               // want `this call writes counter`
		bump()                      // want `this call writes total`
		closure()                   // want `this call writes result`
		for result = range 3 {      // want `this writes result`
		}
		func() { result = 2 }() // want `this writes result`
		return nil
	})
}

func set(p *account) { p.balance = 1 }

func setAgain(p *account) { set(p) }

func bump() { total++ }

func get(p *account) int { return p.balance }

func mustNotReport(p *account, in []byte) {
	result, table := 0, helper.Table{}
	var n atomic.Int64
	var plain int64
	var v stm.Var[int]
	stm.Atomically(func(tx *stm.Tx) error {
		mine, list, m := 0, make([]int, 3), map[int]int{}
		mine++
		list[0], m[1] = 2, 3
		fresh := &account{}
		fresh.balance = 1
		set(fresh)
		helper.Fill(&mine)
		func() { mine = 3 }()
		stm.Atomically(func(inner *stm.Tx) error {
			mine = 4
			return nil
		})
		stm.Store(tx, &p.balance, stm.Load(tx, &p.balance)+1)
		stm.Store(tx, &result, 1)
		v.Store(tx, helper.Get(tx, &result))
		json.Unmarshal(in, &mine)
		_ = get(p) + table.Size() + helper.Read(&result)
		n.Add(1)
		atomic.AddInt64(&plain, 1)
		tx.OnCommit(func() { result = 1; p.balance = 2 })
		after := func() { total = 3 }
		tx.OnAbort(after)
		tx.Irrevocable()
		result++
		set(p)
		return nil
	})
	result++
}

func parameters(tx *stm.Tx, out *int, list []int) {
	*out, list[0] = 1, 2
	total++ // want `this writes total`
}
