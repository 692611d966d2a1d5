// Package campaign is exploration that goes on, remembers, and spreads over machines.
//
// # Terms
//
// A target is a test of a package, or what else package explore can search. Its build identifies
// everything that its runs depend on: the program (sources, hooks, the version of Go), its
// arguments, and the options of the search. An edit that changes the program of a package changes
// the build of its targets, and of no others.
//
// A unit is what sched.Plan divides a search into: numbered runs by chance, or a subtree of the tree
// of all schedules. What comes of a unit depends on the unit and the build alone. A lease is work
// that one worker does: some units of a target (explore), a failure to be shrunk and recorded
// (confirm), or the schedule of an earlier finding to be run in a new build (recheck). A result is
// what came of a lease.
//
// The ledger of a target is what is known of its build: the search (which ranges and subtrees are
// done, which schedules were seen), the coverage (pairs of conflicting accesses, by the orders they
// were seen in), the failures that were looked into, and the troubles of the tool itself. A record
// is a finding over time: when it was seen first and last, its status, its trace.
//
// # How it works
//
// One coordinator decides, any number of workers do. Both talk to a NATS server with JetStream: one
// in the coordinator's process, with its files in the state directory and no port, or a cluster.
//
//	coordinator                         NATS                         worker
//	explore.Search --- lease -------> P-work   (work queue) -------> verifies the signature,
//	      ^                                                          explore.Hands.Do
//	      |                           P-results (stream) <---------- result, then ack of the lease
//	      `--- units, once each <---------'
//	ledger, record  ----------------> P-targets, P-findings (KV), P-objects
//
// A worker of the coordinator's own process takes leases as all others do, so that one machine and a
// hundred are one mechanism. What came of a target's turn is saved as a ledger: the search's state is
// put into the object store under a new name, the record in the KV bucket is made to point to it by
// compare-and-set, and only then are the results that it includes purged from the stream.
//
// # Why an end at any moment does no harm
//
// A result is in the stream before its lease is acknowledged, so that a lease whose worker ends is
// delivered again. A coordinator that starts reads all results that are left. Those of units that
// its ledger does not include are kept for when the search asks for the unit again, which it does,
// because what a plan hands out depends on its state alone; nothing is leased that has a result.
// Those of units that the ledger includes are asked for by nothing, and are purged with the next
// ledger. So each unit is done at least once, counted once, and not done again once its result is
// acknowledged. Records are written by what they are, not by what is added: to write one twice
// is to write it once.
//
// # Trust
//
// A worker executes programs that it is sent. It does so only for leases that are signed by a
// coordinator whose public key it was given; the lease names the program by its hash, and the program
// names its files by theirs. See docs/campaigns.md.
//
//	state.go      the state directory: layout, version, lock; lock_unix.go, lock_windows.go
//	view.go       what other processes read in it: status and findings; marks for the coordinator
//	server.go     the server in the process, and connections
//	store.go      streams and buckets; objects.go what is large
//	lease.go      leases and results; sign.go their signatures
//	worker.go     a worker; programs.go the programs that it runs; files.go the files around them
//	campaign.go   the coordinator; turns.go the turns of targets; agenda.go which is next
//	ledger.go     what is known of a target; coverage.go pairs of accesses
//	dispatch.go   leases that are out, and results that came
//	records.go    findings over time; failures.go failures becoming them, recheck.go those of earlier builds
//	check.go      whether a state directory is whole; retention.go how large it may become
package campaign
