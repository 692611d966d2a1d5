// Package trace is the log of a controlled run: every event in the one order in
// which they happened, written while the program runs and read back in pieces.
//
// # Terms
//
// A trace is a file. It holds a [Header] (what was run, and how to run it again),
// the events (package event) in blocks, the sites they happened at, and an
// [Outcome]. A site is a place in the source, numbered when the program was
// instrumented; events carry the number, the table of sites gives its meaning.
//
// # The file
//
// After eight bytes of magic come sections. Each has a marker, a kind, a length and
// a checksum, and is complete in itself:
//
//	header    JSON of Header; the first section
//	block     some 64 KB of events, as differences to the one before. The first event
//	          of a block is a difference to nothing: a block is read without the others
//	summary   follows each block: what is in it, see below
//	sites     a piece of the table of sites
//	outcome   JSON of Outcome
//	index     where all of that is
//
// and then a trailer of fixed size that says where the index is. A [Writer] only
// appends. When the recorded program dies, what was written up to then lacks the
// index and the outcome, and nothing else: a [Reader] finds the blocks by stepping
// from section to section, and says that the end is missing.
//
// # Finding an event
//
// Nothing that grows with the number of events is held in memory, except some sixty
// bytes for each block. A summary tells the goroutines, kinds and sites in its block,
// and has Bloom filters of the addresses that were touched, written and allocated,
// so a search for "the last store to this address" decodes the blocks that have one
// and few others. Filters that are exact would be larger than the blocks; an index
// sorted by address could not be written in one pass and bounded memory.
//
//	trace.go     what was run, and the version of the format
//	failure.go   how it ended
//	waiting.go   what waits for ever at its end
//	site.go      where events happen
//	section.go   framing, checksums and their errors
//	codec.go     events in a block
//	access.go    those of them that are most frequent
//	summary.go   what is in a block
//	filter.go    which memory a block may have touched
//	index.go     where the blocks are
//	writer.go    streamed writing
//	reader.go    opening, and reading a block
//	scan.go      opening what was cut off
//	cache.go     the last blocks that were read
//	cursor.go    iteration both ways, filtered
//	query.go     last store, allocation, call stack
//	streams.go   the events of each goroutine by themselves, words.go accesses by address
//	object.go    allocations of addresses that come again and again
//	compare.go   are two traces the same run?
//	place.go     which sites are the same in two builds of a program?
//	validate.go  does a trace make sense?
//
// # Invariants
//
//   - Seq rises strictly through the file.
//   - A length that was read is believed only as far as the file is long and its kind
//     of section can be: no corrupt length makes the reader allocate.
//   - Decoded events are shared by a cache and never modified.
//
// What a trace looks like to a person is made by package show.
//
// The writer is linked into instrumented programs, so the package imports the
// standard library and package event alone. Neither a Writer nor a Reader may be
// used by two goroutines at the same time.
package trace

// Version is the version of the file format.
const Version = 6

// A Header says what was run.
type Header struct {
	// Format is the version of the file format. The Writer sets it.
	Format int `json:"format"`
	// Kinds identifies the kinds of events and their numbers, which the blocks use.
	// The Writer sets it.
	Kinds string `json:"kinds"`
	// Program identifies the instrumented program: a hash of all that went into it. Inputs
	// is that of all but the program's own source.
	Program string `json:"program"`
	Inputs  string `json:"inputs,omitempty"`
	// Image is from where to where the program's code and variables lie in memory; empty if
	// that is not known.
	Image  []uint64 `json:"image,omitempty"`
	Go     string   `json:"go,omitempty"`
	GOOS   string   `json:"goos,omitempty"`
	GOARCH string   `json:"goarch,omitempty"`

	// What to run again: a test of a package, or a main package.
	Package    string   `json:"package"`
	Files      []string `json:"files,omitempty"` // of a package that was given by its files
	Test       string   `json:"test,omitempty"`  // the name of the test; empty for a main package
	Args       []string `json:"args,omitempty"`
	BuildFlags []string `json:"buildFlags,omitempty"`

	// Schedule is the text form of the schedule that leads to this run, Seed what
	// random choices of the program were seeded with.
	Schedule string `json:"schedule"`
	Seed     uint64 `json:"seed"`
	// Day is the day that the program saw: when it begins, in seconds since 1970.
	Day      int64  `json:"day,omitempty"`
	Strategy string `json:"strategy,omitempty"` // how the schedule was found

	// Own are the packages of the program itself: what is recorded access by access, and
	// is not the standard library.
	Own []string `json:"own,omitempty"`

	// Options are what else must be the same when it is run again.
	Options Options `json:"options"`

	// Binary is what was run if it is a program without source; Package and Args are
	// empty then.
	Binary *Binary `json:"binary,omitempty"`
}

// A Binary is a program without source, and all that its runs depend on.
type Binary struct {
	Path  string   `json:"path"`
	Args  []string `json:"args"`
	Env   []string `json:"env,omitempty"`
	Dir   string   `json:"dir,omitempty"`
	Input []byte   `json:"input,omitempty"` // its standard input
	// Shared are the words of 8 bytes that the schedule is about, by address.
	Shared []uint64 `json:"shared,omitempty"`
	// Atomics are those that atomic instructions access, if races are failures.
	Atomics []uint64 `json:"atomics,omitempty"`
}

// Options are how a run was made.
type Options struct {
	Tests  bool   `json:"tests,omitempty"`  // of a package's tests, not of its main function
	Leaks  bool   `json:"leaks,omitempty"`  // goroutines that are left waiting are failures
	Races  bool   `json:"races,omitempty"`  // a data race is a failure
	WarmUp bool   `json:"warmUp,omitempty"` // another run came before it in the process
	Steps  uint64 `json:"steps,omitempty"`  // the limit
	// Deps are patterns of the dependencies that are under control access by access.
	Deps []string `json:"deps,omitempty"`
	// Stall is for how many nanoseconds time was let move on while goroutines were ready.
	Stall int64 `json:"stall,omitempty"`
}
