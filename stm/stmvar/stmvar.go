// Package stmvar publishes the statistics of package stm with package expvar, as "stm". It is
// imported for that alone:
//
//	import _ "github.com/cofferdam-go/cofferdam/stm/stmvar"
//
// It is a package of its own because package expvar brings an HTTP server with it.
package stmvar

import (
	"expvar"

	"github.com/cofferdam-go/cofferdam/stm"
)

func init() { expvar.Publish("stm", expvar.Func(func() any { return stm.ReadStats() })) }
