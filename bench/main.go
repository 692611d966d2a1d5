// Command bench reproduces the figures of the papers that Cofferdam is built on,
// side by side with what a program would use otherwise, in one run:
//
//	go run ./bench isolate
//	go run ./bench stm
//	go run ./bench guards
//	go run ./bench protect
//	go run ./bench protect-corpus
//	go run ./bench protect-fuzz
//	go run ./bench protect-soak
//	go run ./bench protect-objects
//	go run ./bench race-corpus
//	go run ./bench blocking-corpus
//	go run ./bench explore
//	go run ./bench explore-modules
//	go run ./bench campaign
//	go run ./bench truth
//	go run ./bench fix-fuzz
//	go run ./bench stm-fuzz
//	go run ./bench sli
//	go run ./bench binary
//
// It owns no logic: each benchmark is a package below this one, and package command
// is what they have in common.
package main

import (
	"os"

	"github.com/cofferdam-go/cofferdam/bench/binary"
	"github.com/cofferdam-go/cofferdam/bench/blocking"
	"github.com/cofferdam-go/cofferdam/bench/campaigns"
	"github.com/cofferdam-go/cofferdam/bench/command"
	"github.com/cofferdam-go/cofferdam/bench/exploring"
	"github.com/cofferdam-go/cofferdam/bench/fixfuzz"
	"github.com/cofferdam-go/cofferdam/bench/guards"
	"github.com/cofferdam-go/cofferdam/bench/isolator"
	"github.com/cofferdam-go/cofferdam/bench/protecting"
	"github.com/cofferdam-go/cofferdam/bench/racecorpus"
	"github.com/cofferdam-go/cofferdam/bench/sli"
	"github.com/cofferdam-go/cofferdam/bench/transactions"
	"github.com/cofferdam-go/cofferdam/bench/truth"
	"github.com/cofferdam-go/cofferdam/bench/txfuzz"
)

// benchmarks in the order in which they are listed.
var benchmarks = []*command.Benchmark{
	isolator.Benchmark,
	transactions.Benchmark,
	guards.Benchmark,
	protecting.Benchmark,
	protecting.Corpus,
	protecting.Fuzz,
	protecting.Soak,
	protecting.Objects,
	racecorpus.Benchmark,
	blocking.Benchmark,
	exploring.Benchmark,
	exploring.Modules,
	campaigns.Benchmark,
	truth.Benchmark,
	fixfuzz.Benchmark,
	txfuzz.Benchmark,
	sli.Benchmark,
	binary.Benchmark,
}

func main() { os.Exit(command.Run(benchmarks, os.Args[1:], os.Stdout, os.Stderr)) }
