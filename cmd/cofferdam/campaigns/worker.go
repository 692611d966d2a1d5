package campaigns

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/command"
	"github.com/cofferdam-go/cofferdam/internal/campaign"
	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/scratch"
)

// workerFlags are those of worker.
type workerFlags struct {
	connection
	prefix, trust, name, network string
	slots                        int
	longest                      time.Duration
	memory                       byteSize
}

// NewWorker returns the command worker.
func NewWorker() *command.Command {
	f := &workerFlags{}
	c := command.New("worker", "", "do work for a campaign of another machine").BuildsPrograms()
	c.Long = `Worker takes leases of a campaign that has a port (cofferdam campaign -listen) or a NATS
cluster (-nats), does them, and sends back what came of them, until it is interrupted. It
needs no Go and no source: the instrumented tests come with the work. What a worker has not
finished when it ends, however it ends, another one does.

A worker executes other people's tests. It does only what is signed by the coordinators
whose public keys -trust names; campaign prints its own. The tests run as the user who
starts the worker, without network unless -network host is given, and see none of the
environment but PATH, HOME and TMPDIR. See docs/campaigns.md for what that protects from,
and what not.`
	c.Notes = `Examples:

  COFFERDAM_TOKEN=secret cofferdam worker -join nats://build1:4222 -trust UDXU4RCS...
  cofferdam worker -join tls://nats1 -creds w.creds -trust UDXU4RCS... -memory 2GB

Exit codes: 0 never by itself, 2 error, 130 interrupted.

See also: cofferdam help campaign`
	c.Flags.StringVar(&f.url, "join", "", "the `URLs` of the NATS servers")
	c.Flags.StringVar(&f.prefix, "prefix", campaign.LocalPrefix, "what the names of the campaign's streams begin with")
	c.Flags.StringVar(&f.trust, "trust", "", "do what is signed by these public `keys`, with commas between them")
	c.Flags.StringVar(&f.creds, "creds", "", "the `file` with credentials for the servers")
	c.Flags.StringVar(&f.ca, "tls-ca", "", "the `file` with the certificates that the servers are known by")
	c.Flags.StringVar(&f.name, "name", "", "what the worker is called (default: the machine and the process)")
	c.Flags.IntVar(&f.slots, "j", 0, "do this many leases side by side (0: one for each processor)")
	c.Flags.DurationVar(&f.longest, "longest", 10*time.Minute, "give up a lease that takes longer")
	c.Flags.Var(&f.memory, "memory", "the `size` of data that one program may have, such as 2GB (default: any)")
	c.Flags.StringVar(&f.network, "network", "none", "what the tests see: none, or host for that of this machine")
	c.Work = func(ctx context.Context, inv *command.Invocation) error {
		f.token = os.Getenv(tokenVariable)
		switch {
		case len(inv.Operands) > 0:
			return c.Errorf("worker takes no arguments")
		case f.url == "":
			return c.Errorf("-join is missing: where is the campaign?")
		case f.trust == "":
			return c.Errorf("-trust is missing: a worker executes what it is sent, so say whose work that may be; cofferdam campaign prints its key")
		case f.network != "none" && f.network != "host":
			return c.Errorf("-network %s: give none or host", f.network)
		case f.slots < 0:
			return c.Errorf("-j %d: give 0 or more", f.slots)
		}
		for _, key := range strings.Split(f.trust, ",") {
			if err := campaign.CheckKey(key); err != nil {
				return err
			}
		}
		if err := campaign.CheckPrefix(f.prefix); err != nil {
			return err
		}
		return f.work(ctx, inv)
	}
	return c
}

// work takes leases until the command is interrupted.
func (f *workerFlags) work(ctx context.Context, inv *command.Invocation) error {
	limits := explore.Limits{Memory: uint64(f.memory), NoNetwork: f.network == "none"}
	if err := explore.CheckLimits(limits); err != nil {
		return fmt.Errorf("%w; with -network host, and without -memory, nothing is limited", err)
	}
	inv.Status.Phase("joining " + f.url)
	if f.name == "" {
		f.name = campaign.MachineName()
	}
	nc, err := f.connect("cofferdam worker " + f.name).Connect(ctx)
	if err != nil {
		return err
	}
	defer nc.Close()
	store, err := campaign.JoinStore(ctx, nc, f.prefix)
	if err != nil {
		return err
	}
	dir, err := scratch.Dir()
	if err != nil {
		return err
	}
	defer scratch.Remove(dir)
	if f.slots == 0 {
		f.slots = runtime.GOMAXPROCS(0)
	}
	refused := ""
	told := func(p campaign.Progress) {
		text := fmt.Sprintf("%s, %s", plural(p.Leases, "lease", "leases"), plural(p.Runs, "schedule", "schedules"))
		inv.Status.Detail(text)
		inv.Signals.Reach(text + " done")
		if p.Refused != "" && p.Refused != refused {
			refused = p.Refused
			fmt.Fprintf(inv.Stderr, "cofferdam: a lease was left to others: %s\n", refused)
		}
	}
	inv.Status.Phase("working for " + f.prefix)
	w := campaign.NewWorker(store, campaign.WorkerOptions{
		Name: f.name, Trusted: strings.Split(f.trust, ","), Slots: f.slots, Longest: f.longest, Dir: dir, Limits: limits,
		Environment: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir}, Told: told,
	})
	return errors.Join(w.Run(ctx), context.Cause(ctx))
}
