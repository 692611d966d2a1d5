package transactions

import (
	"time"

	"github.com/cofferdam-go/cofferdam/bench/stamp/genome"
	"github.com/cofferdam-go/cofferdam/bench/stamp/intruder"
	"github.com/cofferdam-go/cofferdam/bench/stamp/kmeans"
	"github.com/cofferdam-go/cofferdam/bench/stamp/labyrinth"
	"github.com/cofferdam-go/cofferdam/bench/stamp/ssca2"
	"github.com/cofferdam-go/cofferdam/bench/stamp/vacation"
	"github.com/cofferdam-go/cofferdam/stm"
)

// A program is one of STAMP's.
type program struct {
	name   string
	figure int     // of the paper
	limit  float64 // time by one goroutine over that of the sequential program: to be reached
	cpp    float64 // the same of NOrec in C++, native sets
	sets   map[size]func() input
}

// The programs in the order of the paper's figures.
var programs = []program{
	{"genome", 4, 1.5, 1.40, genomes.sets(genome.Simulator, genome.Medium, genome.Native)},
	{"intruder", 5, 1.4, 1.30, intruders.sets(intruder.Simulator, intruder.Medium, intruder.Native)},
	{"kmeans low", 6, 1.8, 1.66, clusters.sets(kmeans.SimulatorLow, kmeans.MediumLow, kmeans.NativeLow)},
	{"kmeans high", 6, 2.8, 2.66, clusters.sets(kmeans.SimulatorHigh, kmeans.MediumHigh, kmeans.NativeHigh)},
	{"labyrinth", 7, 1.15, 1.10, mazes.sets(labyrinth.Simulator, labyrinth.Medium, labyrinth.Native)},
	{"ssca2", 8, 1.8, 1.71, graphs.sets(ssca2.Simulator, ssca2.Medium, ssca2.Native)},
	{"vacation low", 9, 1.4, 1.29, agencies.sets(vacation.SimulatorLow, vacation.MediumLow, vacation.NativeLow)},
	{"vacation high", 9, 1.5, 1.40, agencies.sets(vacation.SimulatorHigh, vacation.MediumHigh, vacation.NativeHigh)},
}

// An input is data for one program, and the ways to run it.
type input struct {
	sequential    func() outcome
	mutex         func(goroutines int) outcome
	transactional func(goroutines int, o stm.Options) outcome
	atomic        func(goroutines int) outcome // transactions that are plain code
}

// An outcome is what a run took, and whether its result is right.
type outcome struct {
	elapsed time.Duration
	verify  func() error
}

// A suite is the functions that every package of STAMP has.
type suite[P, I, R any] struct {
	generate      func(P) *I
	sequential    func(*I) *R
	mutex         func(*I, int) *R
	transactional func(*I, int, stm.Options) *R
	atomic        func(*I, int) *R
	verify        func(*I, *R) error
	elapsed       func(*R) time.Duration
}

var (
	genomes = suite[genome.Params, genome.Input, genome.Result]{genome.Generate, genome.Sequential, genome.Mutex, genome.Transactional, genome.Atomic,
		(*genome.Input).Verify, func(r *genome.Result) time.Duration { return r.Elapsed }}
	intruders = suite[intruder.Params, intruder.Input, intruder.Result]{intruder.Generate, intruder.Sequential, intruder.Mutex, intruder.Transactional, intruder.Atomic,
		(*intruder.Input).Verify, func(r *intruder.Result) time.Duration { return r.Elapsed }}
	clusters = suite[kmeans.Params, kmeans.Input, kmeans.Result]{kmeans.Generate, kmeans.Sequential, kmeans.Mutex, kmeans.Transactional, kmeans.Atomic,
		(*kmeans.Input).Verify, func(r *kmeans.Result) time.Duration { return r.Elapsed }}
	mazes = suite[labyrinth.Params, labyrinth.Input, labyrinth.Result]{labyrinth.Generate, labyrinth.Sequential, labyrinth.Mutex, labyrinth.Transactional, labyrinth.Atomic,
		(*labyrinth.Input).Verify, func(r *labyrinth.Result) time.Duration { return r.Elapsed }}
	graphs = suite[ssca2.Params, ssca2.Input, ssca2.Result]{ssca2.Generate, ssca2.Sequential, ssca2.Mutex, ssca2.Transactional, ssca2.Atomic,
		(*ssca2.Input).Verify, func(r *ssca2.Result) time.Duration { return r.Elapsed }}
	agencies = suite[vacation.Params, vacation.Input, vacation.Result]{vacation.Generate, vacation.Sequential, vacation.Mutex, vacation.Transactional, vacation.Atomic,
		(*vacation.Input).Verify, func(r *vacation.Result) time.Duration { return r.Elapsed }}
)

func (s suite[P, I, R]) sets(simulator, between, real P) map[size]func() input {
	return map[size]func() input{
		quick:  func() input { return s.input(simulator) },
		medium: func() input { return s.input(between) },
		native: func() input { return s.input(real) },
	}
}

func (s suite[P, I, R]) input(p P) input {
	in := s.generate(p)
	done := func(r *R) outcome {
		return outcome{s.elapsed(r), func() error { return s.verify(in, r) }}
	}
	return input{
		sequential:    func() outcome { return done(s.sequential(in)) },
		mutex:         func(goroutines int) outcome { return done(s.mutex(in, goroutines)) },
		transactional: func(goroutines int, o stm.Options) outcome { return done(s.transactional(in, goroutines, o)) },
		atomic:        func(goroutines int) outcome { return done(s.atomic(in, goroutines)) },
	}
}
