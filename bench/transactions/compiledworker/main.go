// Command compiledworker is the worker of bench stm for transactions that are written as plain
// code. It is built with -stm.
package main

import (
	"os"

	"github.com/cofferdam-go/cofferdam/bench/transactions"
)

func main() { os.Exit(transactions.Benchmark.Worker(os.Stdin, os.Stdout)) }
