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
// from section to section, and says that the end is missing. [Seal] adds it.
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
//	trace.go     what a trace says beside its events
//	section.go   framing, checksums and their errors
//	codec.go     events in a block
//	access.go    those of them that are most frequent
//	summary.go   what is in a block
//	index.go     where the blocks are
//	writer.go    streamed writing
//	seal.go      completing a file
//	reader.go    opening, and reading a block
//	scan.go      opening what was cut off
//	cache.go     the last blocks that were read
//	cursor.go    iteration both ways, filtered
//	query.go     last store, allocation, call stack
//	compare.go   are two traces the same run?
//	validate.go  does a trace make sense?
//	text.go      a line for a person
//	value.go     memory as values of Go
//	json.go      a line for a program
//	about.go     a trace in a few lines
//
// # Invariants
//
//   - Seq rises strictly through the file.
//   - A length that was read is believed only as far as the file is long and its kind
//     of section can be: no corrupt length makes the reader allocate.
//   - Decoded events are shared by a cache and never modified.
//
// The writer is linked into instrumented programs, so the package imports the
// standard library and package event alone. Neither a Writer nor a Reader may be
// used by two goroutines at the same time.
package trace

import "time"

// Version is the version of the file format.
const Version = 3

// A Header says what was run.
type Header struct {
	// Format is the version of the file format. The Writer sets it.
	Format int `json:"format"`
	// Kinds identifies the kinds of events and their numbers, which the blocks use.
	// The Writer sets it.
	Kinds string `json:"kinds"`
	// Program identifies the instrumented program: a hash of all that went into it.
	// A trace is only replayed by the same program.
	Program string `json:"program"`
	Go      string `json:"go,omitempty"`
	GOOS    string `json:"goos,omitempty"`
	GOARCH  string `json:"goarch,omitempty"`

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
	Strategy string `json:"strategy,omitempty"` // how the schedule was found

	// Own are the packages of the program itself: what is recorded access by access, and
	// is not the standard library.
	Own []string `json:"own,omitempty"`

	// Options are what else must be the same when it is run again.
	Options map[string]string `json:"options,omitempty"`
}

// An Outcome says how a run ended.
type Outcome struct {
	// Result is one word: "ok", "failed", "cut off", ...
	Result   string    `json:"result"`
	Failures []Failure `json:"failures,omitempty"`
	// Schedule is the schedule as it was taken, if it is not the one in the header.
	Schedule string `json:"schedule,omitempty"`
	// Steps counts the points at which the schedule could decide.
	Steps uint64 `json:"steps,omitempty"`
	// Elapsed is real time, Virtual what the program's clock says has passed.
	Elapsed time.Duration `json:"elapsedNanoseconds,omitempty"`
	Virtual time.Duration `json:"virtualNanoseconds,omitempty"`
	// Texts are the strings that events hold by address.
	Texts []Text `json:"texts,omitempty"`
	// Outside lists what ran without control and may make a replay differ.
	Outside []string `json:"outside,omitempty"`
}

// A Text is a string of the program, or the beginning of a long one.
type Text struct {
	Addr   uint64 `json:"address"`
	Length uint64 `json:"length"`
	Text   string `json:"text"`
}

// A Failure is one thing that went wrong.
type Failure struct {
	Kind    string `json:"kind"` // "panic", "deadlock", "data race", ...
	Message string `json:"message"`
	Point
	// Others are the other accesses of a data race, the other waiters of a deadlock.
	Others []Point `json:"others,omitempty"`
}

// A Point is an event or what a goroutine was about to do; what is not known is 0.
type Point struct {
	Kind  string `json:"operation,omitempty"`
	G     uint32 `json:"goroutine,omitempty"`
	Seq   uint64 `json:"seq,omitempty"`
	Site  uint32 `json:"site,omitempty"`
	Frame uint32 `json:"frame,omitempty"`
	Addr  uint64 `json:"address,omitempty"`
	Stack []Call `json:"stack,omitempty"` // innermost first
}

// A Call is a line of a stack.
type Call struct {
	Function string `json:"function"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
}

// InLibrary is the kind of a site that calls a function of the standard library, which does
// something there that the call itself does not say: that fmt uses a pool, for example.
const InLibrary = "in library"

// A Site is a place in the program's source at which events happen.
type Site struct {
	ID        uint32 `json:"site"`
	Package   string `json:"package,omitempty"`
	File      string `json:"file,omitempty"`
	Line      int    `json:"line,omitempty"`
	Column    int    `json:"column,omitempty"`
	EndColumn int    `json:"endColumn,omitempty"`
	Function  string `json:"function,omitempty"`
	Expr      string `json:"expression,omitempty"`
	Kind      string `json:"kind,omitempty"` // what the rewriting saw there: "load", "call", ...
	// Type is how a value that is accessed there lies in memory, see value.go; empty if
	// that is not known.
	Type string `json:"type,omitempty"`
}
