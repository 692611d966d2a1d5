package campaign

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/cofferdam-go/cofferdam/internal/await"
)

// startCluster starts servers on loopback that know each other. A port that was free may be taken
// before a server has it: then all begins anew.
func startCluster(t *testing.T, n int) []*server.Server {
	t.Helper()
	for {
		var routes []string
		var ports []int
		for range n {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			ports = append(ports, l.Addr().(*net.TCPAddr).Port)
			routes = append(routes, "nats://"+l.Addr().String())
			l.Close()
		}
		if all := serversAt(t, ports, strings.Join(routes, ",")); all != nil {
			return all
		}
	}
}

// serversAt starts servers with these ports for each other; nil if one is taken.
func serversAt(t *testing.T, ports []int, routes string) (all []*server.Server) {
	t.Helper()
	for i, port := range ports {
		s, err := server.NewServer(&server.Options{
			ServerName: fmt.Sprint("s", i), Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), NoLog: true, NoSigs: true,
			Cluster: server.ClusterOpts{Name: "c", Host: "127.0.0.1", Port: port}, Routes: server.RoutesFromStr(routes),
		})
		if err != nil {
			t.Fatal(err)
		}
		go s.Start() // which waits for the others
		t.Cleanup(func() {
			s.Shutdown()
			s.WaitForShutdown()
		})
		all = append(all, s)
	}
	for _, s := range all {
		if !s.ReadyForConnections(await.Patience(t) / 4) {
			return nil
		}
	}
	await.Until(t, "the cluster has a leader", func() bool {
		wait(t.Context(), 5*time.Millisecond) // an election takes seconds, in which others have the processor
		return slices.ContainsFunc(all, func(s *server.Server) bool {
			return s.JetStreamIsLeader() && len(s.JetStreamClusterPeers()) == len(all)
		})
	})
	return all
}

// TestACampaignOutlivesANodeOfItsCluster: three servers, everything on each of them, and one of them
// ends at the first finding.
func TestACampaignOutlivesANodeOfItsCluster(t *testing.T) {
	t.Parallel()
	cluster := startCluster(t, 3)
	var urls []string
	for _, s := range cluster {
		urls = append(urls, s.ClientURL())
	}
	connect := func(prefix string, replicas int) *Store {
		t.Helper()
		nc, err := (&Connection{URL: strings.Join(urls, ",")}).Connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(nc.Close)
		s, err := OpenStore(t.Context(), nc, prefix, replicas)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	dir, err := OpenDir(filepath.Join(t.TempDir(), "state"))
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	public, err := dir.Key.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	store := connect("one", 3)
	var over sync.WaitGroup
	defer over.Wait()
	defer cancel()
	y := &toy{steps: 4, bugs: planted}
	over.Go(func() {
		_ = NewWorker(store, WorkerOptions{Name: "toy", Trusted: []string{public}, Slots: 2, Do: y.do("1")}).Run(ctx)
	})
	lose := sync.OnceFunc(cluster[2].Shutdown)
	report, err := Run(ctx, dir, store, toyTargets(t, "1"), &Options{
		Search: toySearch,
		Told: func(e Event) {
			if e.Finding != nil {
				lose()
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"TestA 2121 new", "TestA 2211 new", "TestB 112212 new"}; !slices.Equal(found(t, dir.Path), want) {
		t.Errorf("found %q, want %q", found(t, dir.Path), want)
	}
	for _, target := range report.Targets {
		if !target.Search.Complete() {
			t.Errorf("%s: %s", target.Test, target.Search)
		}
	}
}

// TestAWorkerDoesOnlyWhatIsSigned: what is not signed by a key that it trusts, or was changed
// afterwards, is refused; and a program that is not what its name says is not run.
func TestAWorkerDoesOnlyWhatIsSigned(t *testing.T) {
	dir, err := OpenDir(filepath.Join(t.TempDir(), "state"))
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	public, err := dir.Key.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	m, err := signed("x", &Lease{ID: "1", Task: Explore, Program: "p"}, dir.Key)
	if err != nil {
		t.Fatal(err)
	}
	if l, err := verified(m.Data, m.Header, []string{"other", public}); err != nil || l.ID != "1" {
		t.Errorf("what is signed: %+v, %v", l, err)
	}
	changed := []byte(strings.Replace(string(m.Data), `"p"`, `"q"`, 1))
	for name, err := range map[string]error{
		"nothing is trusted":   second(verified(m.Data, m.Header, nil)),
		"another is trusted":   second(verified(m.Data, m.Header, []string{"UOTHER"})),
		"it was changed":       second(verified(changed, m.Header, []string{public})),
		"it has no signature":  second(verified(m.Data, nats.Header{signerHeader: {public}}, []string{public})),
		"it has no signer":     second(verified(m.Data, nats.Header{}, []string{public})),
		"an empty key is none": second(verified(m.Data, nats.Header{}, []string{""})),
	} {
		if !errors.Is(err, errNotTrusted) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if CheckKey(public) != nil || CheckKey("x") == nil {
		t.Error("keys are not told apart")
	}
	_, store, err := OpenLocal(t.Context(), dir, 0, Listening{}, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if _, err := store.objects.PutBytes(t.Context(), "program-"+strings.Repeat("0", 64), []byte("{}")); err != nil {
		t.Fatal(err)
	}
	if _, err := (&programs{dir: t.TempDir()}).get(t.Context(), store, strings.Repeat("0", 64)); !errors.Is(err, errTampered) {
		t.Errorf("a program with another name: %v", err)
	}
}

func second(_ *Lease, err error) error { return err }
