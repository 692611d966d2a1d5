// Package campaigns has the commands for exploration that goes on: campaign, findings and worker, on
// the command line. What they do is in package campaign.
//
//	campaign.go  campaign; report.go what it tells
//	status.go    campaign -status
//	findings.go  findings
//	worker.go    worker
//	words.go     sizes, findings in a line
package campaigns

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/command"
	"github.com/cofferdam-go/cofferdam/internal/campaign"
	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/finding"
	"github.com/cofferdam-go/cofferdam/internal/worktree"
)

// A Search is what campaign has in common with explore: the flags that say which tests are searched
// and how, and the building of these.
type Search struct {
	Declare func(*flag.FlagSet, time.Duration)
	// Declined are flags that a user may expect, with the reason why they are not there.
	Declined map[string]string
	// TestFlags are the names of those that are for tests alone.
	TestFlags []string
	// Check refuses values that make no sense.
	Check func() error
	Build func(context.Context, *command.Invocation) (*explore.Build, error)
	List  func(context.Context, *command.Invocation, *explore.Build) ([]explore.Target, error)
	// Incomplete is the error that part of what was to be explored was not.
	Incomplete func() error
	// Asked is what the flags say, once they are read.
	Asked func() Asked
}

// Asked is what the flags of a search say.
type Asked struct {
	explore.Options
	BuildFlags []string
	// WholePackages says that no test of a package is left out.
	WholePackages bool
}

// campaignFlags are those of campaign.
type campaignFlags struct {
	Search
	asked    Asked
	asJSON   bool
	state    string
	status   bool
	check    bool
	shard    string
	since    string
	baseline string
	size     byteSize
	listen   campaign.Listening
	idle     bool
	replicas int
	prefix   string
	connection
}

// connection are the flags that say how to get to a NATS server.
type connection struct{ url, creds, token, ca string }

// tokenVariable is the environment variable with a token, which is not for command lines: others can
// see those.
const tokenVariable = "COFFERDAM_TOKEN"

// connect is the connection that the flags name.
func (c *connection) connect(name string) *campaign.Connection {
	return &campaign.Connection{URL: c.url, Credentials: c.creds, Token: c.token, CA: c.ca, Name: name}
}

// NewCampaign returns the command campaign, with the tests that a search is of.
func NewCampaign(search Search) *command.Command {
	f := &campaignFlags{Search: search}
	c := command.New("campaign", "[packages] [-- arguments]", "explore tests for hours, go on where it was left, and spread over machines").BuildsPrograms()
	c.RunsProgram = true
	c.Declined = f.Declined
	c.Long = `Campaign explores the tests of the packages as explore does, and remembers: which schedules
were tried of each test, which pairs of conflicting accesses were seen in which order, and
what was found. Stop it in any way and start it again, and it goes on. The time goes to the
tests that still show something new. All failures of a test are looked for; each is seen
again in a fresh process, and has an id, a status and a trace.

What is remembered is in the state directory, .cofferdam unless -state names another one. It
is kept for each test and each build of it: an edit begins anew what it changes, and nothing
else. The schedules of earlier findings are run first; a finding is then still there, not
failing, or not reproducible. A finding that was not seen again is fixed when all schedules
were tried, or ten times as many as it took to find it, and at least 2000.

A finding is new until a person marks it as known (cofferdam findings -mark known), or it is
in the -baseline, or it is fixed or gone. The exit code is 1 if there are new ones.

Other machines help with cofferdam worker: give -listen for a port of this process, or -nats
for a NATS cluster with JetStream, where several campaigns can work side by side, each with
a -prefix of its own. What workers have to trust is in docs/campaigns.md.`
	c.Notes = `Examples:

  cofferdam campaign -budget 8h ./...
  cofferdam campaign -status
  cofferdam campaign -shard 2/4 -since origin/main -baseline known.json ./...
  COFFERDAM_TOKEN=secret cofferdam campaign -budget 0 -listen :4222 ./...
  cofferdam campaign -nats tls://nats1,tls://nats2 -creds team.creds -replicas 3 ./...

Exit codes: 0 no new findings, 1 new findings, 2 error, also if a package or a test could
not be explored; with -check, 1 if something is damaged.

See also: cofferdam help findings, cofferdam help worker, cofferdam help exitcodes`
	f.Declare(c.Flags, 10*time.Minute)
	fl := c.Flags
	fl.StringVar(&f.state, "state", campaign.DefaultDir, "keep what is remembered in this `directory`")
	fl.BoolVar(&f.status, "status", false, "show how far the campaign in the state directory is, as long as it goes on")
	fl.BoolVar(&f.asJSON, "json", false, "write new findings as lines of JSON; with -status, the campaign")
	fl.BoolVar(&f.check, "check", false, "look whether everything in the state directory can be read")
	fl.StringVar(&f.shard, "shard", "", "explore one part of the tests, such as `2/4`, the second of four; every test is in one part")
	fl.StringVar(&f.since, "since", "", "explore only the packages whose tests may see what has changed since this git `revision`")
	fl.StringVar(&f.baseline, "baseline", "", "findings in this `file`, which cofferdam findings -json has written, are known")
	fl.Var(&f.size, "size", "keep the state directory below this `size`, such as 2GB: traces of what is fixed go first, then what is known of tests that are not explored any more")
	fl.StringVar(&f.listen.Address, "listen", "", "let workers join at this `address` of this machine, such as :4222; the token that they have to give is in "+tokenVariable)
	fl.StringVar(&f.listen.Cert, "tls-cert", "", "with -listen, the `file` with the certificate for TLS")
	fl.StringVar(&f.listen.Key, "tls-key", "", "and the `file` with its key")
	fl.BoolVar(&f.idle, "coordinate", false, "with -listen or -nats, do no work in this process: leave all of it to workers")
	fl.StringVar(&f.url, "nats", "", "use the NATS servers at these `URLs` instead of one in this process")
	fl.StringVar(&f.prefix, "prefix", campaign.LocalPrefix, "with -nats, what the names of this campaign's streams begin with")
	fl.IntVar(&f.replicas, "replicas", 1, "with -nats, on how many servers everything is kept")
	fl.StringVar(&f.creds, "creds", "", "with -nats, the `file` with credentials")
	fl.StringVar(&f.ca, "tls-ca", "", "with -nats, the `file` with the certificates that the servers are known by")
	c.Work = func(ctx context.Context, inv *command.Invocation) error {
		f.token = os.Getenv(tokenVariable)
		switch {
		case f.status:
			return f.follow(ctx, inv)
		case f.check:
			return f.checkState(ctx, inv)
		}
		if err := errors.Join(c.Excludes("nats", "listen"), c.Excludes("main", f.TestFlags...), f.checkFlags()); err != nil {
			return err
		}
		return f.campaign(ctx, inv)
	}
	return c
}

// checkFlags refuses values that make no sense.
func (f *campaignFlags) checkFlags() error {
	if err := f.Check(); err != nil {
		return err
	}
	switch f.asked = f.Asked(); {
	case f.asked.Runs != 0:
		return errors.New("-runs: a campaign is limited by -budget: leave it out")
	case f.listen.Address != "" && f.token == "":
		return fmt.Errorf("-listen %s: whoever reaches this port can send results: put a token that workers have to give into the environment variable %s", f.listen.Address, tokenVariable)
	case f.idle && f.listen.Address == "" && f.url == "":
		return errors.New("-coordinate: workers have no way to get here: give -listen or -nats as well")
	case (f.listen.Cert == "") != (f.listen.Key == ""):
		return errors.New("-tls-cert and -tls-key go together: give both")
	case f.replicas < 1 || f.replicas > 5:
		return fmt.Errorf("-replicas %d: give 1 to 5", f.replicas)
	}
	if _, _, err := f.part(); err != nil {
		return err
	}
	return campaign.CheckPrefix(f.prefix)
}

// part is what -shard names: one of so many; 0 of 0 if it is not given.
func (f *campaignFlags) part() (i, n int, err error) {
	if f.shard == "" {
		return 0, 0, nil
	}
	if _, err := fmt.Sscanf(f.shard, "%d/%d", &i, &n); err != nil || i < 1 || i > n || fmt.Sprintf("%d/%d", i, n) != f.shard {
		return 0, 0, fmt.Errorf("-shard %s: give a part and how many there are, such as 2/4", f.shard)
	}
	return i, n, nil
}

// campaign goes on with the campaign.
func (f *campaignFlags) campaign(ctx context.Context, inv *command.Invocation) error {
	baseline, err := f.readBaseline()
	if err != nil {
		return err
	}
	if f.since != "" {
		switch some, err := f.affected(ctx, inv); {
		case err != nil:
			return err
		case !some:
			fmt.Fprintf(inv.Stdout, "nothing that the tests see has changed since %s\n", f.since)
			return nil
		}
	}
	dir, err := campaign.OpenDir(f.state)
	if errors.Is(err, campaign.ErrBusy) {
		return fmt.Errorf("%w: look at it with cofferdam campaign -status, or give another directory with -state", err)
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	build, err := f.Build(ctx, inv)
	if err != nil {
		return err
	}
	defer build.Close()
	targets, err := f.List(ctx, inv, build)
	if err != nil {
		return err
	}
	if targets, err = f.sharded(targets); err != nil {
		return err
	}
	if len(targets) == 0 {
		fmt.Fprintf(inv.Stdout, "no test is in part %s\n", f.shard)
		return f.Incomplete()
	}
	store, done, err := f.open(ctx, inv, dir)
	if err != nil {
		return err
	}
	defer done()
	tell := &campaignTeller{inv: inv, state: f.state, asJSON: f.asJSON}
	report, err := campaign.Run(ctx, dir, store, targets, f.options(inv, baseline, tell))
	if report != nil {
		tell.end(report)
	}
	switch {
	case err != nil && ctx.Err() == nil:
		return err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case tell.givenUp > 0:
		err = &command.Exit{Code: command.ExitError, Err: fmt.Errorf("%s given up", plural(tell.givenUp, "test was", "tests were"))}
	}
	if err = errors.Join(err, f.Incomplete()); err != nil {
		return &command.Exit{Code: command.ExitError, Err: err}
	}
	if report.Findings[campaign.New] > 0 {
		return &command.Exit{Code: command.ExitFound}
	}
	return nil
}

// options are those of the campaign.
func (f *campaignFlags) options(inv *command.Invocation, baseline *finding.Baseline, tell *campaignTeller) *campaign.Options {
	inv.Status.Phase("campaign")
	o, slots := &f.asked, 0
	if !f.idle {
		slots = o.Processes()
	}
	return &campaign.Options{
		Search: campaign.SearchOptions{
			Strategy: o.Strategy, Preemptions: o.Preemptions, Seed: o.Seed, Steps: o.Steps, Within: o.Within, Stall: o.Stall, Races: o.Races, Leaks: o.Leaks,
		},
		Budget: o.Budget, Slots: slots, Remote: f.url != "" || f.listen.Address != "", Size: int64(f.size), Baseline: baseline, Told: tell.tell,
		WholePackages: o.WholePackages && f.shard == "",
	}
}

// open opens what the campaign has come to so far.
func (f *campaignFlags) open(ctx context.Context, inv *command.Invocation, dir *campaign.Dir) (*campaign.Store, func(), error) {
	inv.Status.Phase("opening the state")
	public, err := dir.Key.PublicKey()
	if err != nil {
		return nil, nil, fmt.Errorf("reading the key of the campaign: %w", err)
	}
	if f.url != "" {
		nc, err := f.connect("cofferdam coordinator").Connect(ctx)
		if err != nil {
			return nil, nil, err
		}
		store, err := campaign.OpenStore(ctx, nc, f.prefix, f.replicas)
		if err != nil {
			nc.Close()
			return nil, nil, err
		}
		fmt.Fprintf(inv.Stderr, "cofferdam: workers join with: cofferdam worker -join %s -prefix %s -trust %s\n", f.url, f.prefix, public)
		return store, store.Close, nil
	}
	f.listen.Token = f.token
	server, store, err := campaign.OpenLocal(ctx, dir, 0, f.listen, func(text string) { fmt.Fprintf(inv.Stderr, "cofferdam: %s\n", text) })
	if err != nil {
		return nil, nil, err
	}
	if f.listen.Address != "" {
		fmt.Fprintf(inv.Stderr, "cofferdam: workers join with: %s=... cofferdam worker -join %s -trust %s\n", tokenVariable, server.URL(), public)
	}
	return store, func() {
		store.Close()
		server.Close()
	}, nil
}

// readBaseline reads the findings that are known.
func (f *campaignFlags) readBaseline() (*finding.Baseline, error) {
	if f.baseline == "" {
		return nil, nil
	}
	file, err := os.Open(f.baseline)
	if err != nil {
		return nil, fmt.Errorf("-baseline: %w", err)
	}
	defer file.Close()
	return finding.ReadBaseline(file)
}

// affected leaves only the packages to be explored that -since says, and reports whether there are
// any.
func (f *campaignFlags) affected(ctx context.Context, inv *command.Invocation) (bool, error) {
	inv.Status.Phase("looking for changes")
	files, err := worktree.ChangedSince(ctx, ".", f.since)
	if err != nil {
		return false, fmt.Errorf("-since %s: %w", f.since, err)
	}
	patterns := inv.Operands
	if len(patterns) == 0 {
		patterns = []string{"."}
	}
	state, err := filepath.Abs(f.state)
	if err != nil {
		return false, fmt.Errorf("-since %s: %w", f.since, err)
	}
	files = slices.DeleteFunc(files, func(name string) bool { return worktree.Below(name, state) })
	inv.Operands, err = worktree.Affected(ctx, "", patterns, f.asked.BuildFlags, files)
	return len(inv.Operands) > 0, err
}

// sharded are the targets of the part that -shard names. Which part a target is in depends on
// nothing but its name.
func (f *campaignFlags) sharded(targets []explore.Target) ([]explore.Target, error) {
	i, n, err := f.part()
	if err != nil || n == 0 {
		return targets, err
	}
	return slices.DeleteFunc(targets, func(t explore.Target) bool {
		h := fnv.New32a()
		h.Write([]byte(campaign.TargetKey(t)))
		return int(h.Sum32()%uint32(n)) != i-1
	}), nil
}

// checkState tells whether the state directory is whole.
func (f *campaignFlags) checkState(ctx context.Context, inv *command.Invocation) error {
	if _, err := os.Stat(f.state); err != nil {
		return fmt.Errorf("%s: %w", f.state, campaign.ErrNoCampaign)
	}
	dir, err := campaign.OpenDir(f.state)
	if err != nil {
		return err
	}
	defer dir.Close()
	is, err := campaign.Check(ctx, dir)
	if err != nil {
		return err
	}
	fmt.Fprintf(inv.Stdout, "version %d, %s: %s, %s, %s, %s that no ledger includes yet\n", campaign.Version, byteSize(is.Size).String(),
		plural(is.Targets, "target", "targets"), plural(is.Findings, "finding", "findings"), plural(is.Traces, "trace", "traces"), plural(is.Results, "result", "results"))
	for _, p := range is.Problems {
		fmt.Fprintf(inv.Stdout, "%s: the next campaign goes on: %s\n", p.What, p.Then)
	}
	if len(is.Problems) > 0 {
		return &command.Exit{Code: command.ExitFound, Err: errors.New(plural(len(is.Problems), "thing is damaged", "things are damaged"))}
	}
	return nil
}
