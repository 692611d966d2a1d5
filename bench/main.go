// Command bench reproduces the figures of the papers that Cofferdam is built on,
// side by side with what a program would use otherwise, in one run:
//
//	go run ./bench isolate
//	go run ./bench stm
//	go run ./bench guards
//	go run ./bench protect
//	go run ./bench protect-corpus
//	go run ./bench race-corpus
//	go run ./bench explore
//	go run ./bench explore-modules
//	go run ./bench sli
//
// It owns no logic: each benchmark is a package below this one.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/cofferdam-go/cofferdam/bench/exploring"
	"github.com/cofferdam-go/cofferdam/bench/guards"
	"github.com/cofferdam-go/cofferdam/bench/isolator"
	"github.com/cofferdam-go/cofferdam/bench/protecting"
	"github.com/cofferdam-go/cofferdam/bench/racecorpus"
	"github.com/cofferdam-go/cofferdam/bench/sli"
	"github.com/cofferdam-go/cofferdam/bench/transactions"
)

// benchmarks by the names that they are called with.
var benchmarks = []struct {
	name, about string
	run         func(args []string, stdout, stderr io.Writer) int
}{
	{"isolate", "figures 8, 9 and 11 of the Isolator paper, faults, and the race detector", isolator.Main},
	{"stm", "transactions beside a mutex and another library, and STAMP: figures 3 to 9 of the sandboxing paper", transactions.Main},
	{"guards", "how precise inferred guards are on five real modules", guards.Main},
	{"protect", "what protection costs a program that was not changed for it, beside -race", protecting.Main},
	{"protect-corpus", "real modules' own tests, with their guarded data protected", protecting.Corpus},
	{"race-corpus", "missed and false reports on Go's race detector corpus, beside -race", racecorpus.Main},
	{"explore", "what it takes to find a bug, beside go test and -race; schedules per second; recording", exploring.Main},
	{"sli", "fixing the examples of the lock insertion paper, tables 1 and 2; a corpus of racy programs; three real modules", sli.Main},
	{"explore-modules", "real modules' own tests under the default schedule and under a hundred random ones", exploring.Modules},
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		help(stdout)
		return 0
	}
	switch args[0] {
	case "-h", "-help", "--help", "help":
		help(stdout)
		return 0
	}
	for _, b := range benchmarks {
		if b.name == args[0] {
			return b.run(args[1:], stdout, stderr)
		}
	}
	fmt.Fprintf(stderr, "bench: there is no benchmark %q\n\n", args[0])
	help(stderr)
	return 2
}

func help(w io.Writer) {
	fmt.Fprint(w, "usage: go run ./bench NAME [flags]\n\nBenchmarks:\n")
	for _, b := range benchmarks {
		fmt.Fprintf(w, "  %-16s %s\n", b.name, b.about)
	}
	fmt.Fprint(w, "\nFlags of each: go run ./bench NAME -h\n")
}
