package campaign

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
)

// certificates makes a certificate for this machine, and one for the authority that has signed it, in
// files.
func certificates(t *testing.T) (ca, cert, key string) {
	t.Helper()
	dir := t.TempDir()
	write := func(name, kind string, der []byte) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	sign := func(template, parent *x509.Certificate, parentKey *ecdsa.PrivateKey) (der []byte, own *ecdsa.PrivateKey) {
		own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		if parentKey == nil {
			parentKey = own
		}
		der, err = x509.CreateCertificate(rand.Reader, template, parent, &own.PublicKey, parentKey)
		if err != nil {
			t.Fatal(err)
		}
		return der, own
	}
	valid := x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	authority := valid
	rootDER, rootKey := sign(&authority, &authority, nil)
	leaf := valid
	leaf.SerialNumber, leaf.Subject, leaf.IsCA, leaf.KeyUsage = big.NewInt(2), pkix.Name{CommonName: "server"}, false, x509.KeyUsageDigitalSignature
	leaf.IPAddresses, leaf.ExtKeyUsage = []net.IP{net.IPv4(127, 0, 0, 1)}, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	leafDER, leafKey := sign(&leaf, &authority, rootKey)
	keyDER, err := x509.MarshalECPrivateKey(leafKey)
	if err != nil {
		t.Fatal(err)
	}
	return write("ca.pem", "CERTIFICATE", rootDER), write("cert.pem", "CERTIFICATE", leafDER), write("key.pem", "EC PRIVATE KEY", keyDER)
}

// TestAPortIsForThoseWithTheTokenAndTheRightCertificate: the coordinator reaches its own server, and a
// worker does with what it was given, and not without.
func TestAPortIsForThoseWithTheTokenAndTheRightCertificate(t *testing.T) {
	t.Parallel()
	ca, cert, key := certificates(t)
	otherCA, _, _ := certificates(t)
	for name, secured := range map[string]bool{"plain": false, "TLS": true} {
		t.Run(name, func(t *testing.T) {
			l := Listening{Address: "127.0.0.1:0", Token: "secret"}
			if secured {
				l.Cert, l.Key = cert, key
			}
			dir, err := OpenDir(filepath.Join(t.TempDir(), "state"))
			if err != nil {
				t.Fatal(err)
			}
			defer dir.Close()
			server, store, err := OpenLocal(t.Context(), dir, 0, l, func(text string) { t.Error(text) })
			if err != nil {
				t.Fatal(err)
			}
			defer server.Close()
			defer store.Close()
			if strings.HasPrefix(server.URL(), "tls://") != secured {
				t.Errorf("workers are told to join at %s", server.URL())
			}
			for _, one := range []struct {
				with Connection
				want bool
			}{
				// One that was given certificates insists on them.
				{Connection{URL: server.URL(), Token: "secret", CA: ca}, secured},
				{Connection{URL: server.URL(), Token: "secret"}, !secured},
				{Connection{URL: server.URL(), Token: "secret", CA: otherCA}, false},
				{Connection{URL: server.URL(), Token: "wrong", CA: ca}, false},
				{Connection{URL: server.URL(), Token: "wrong"}, false},
				{Connection{URL: server.URL(), CA: ca}, false},
				{Connection{URL: server.URL()}, false},
				{Connection{URL: server.URL(), Token: "secret", CA: "nowhere.pem"}, false},
			} {
				nc, err := one.with.Connect(t.Context())
				if (err == nil) != one.want {
					t.Errorf("%+v: %v", one.with, err)
				}
				if err != nil {
					continue
				}
				if _, err := JoinStore(t.Context(), nc, LocalPrefix); err != nil {
					t.Error(err)
				}
				if _, err := JoinStore(t.Context(), nc, "other"); err == nil {
					t.Error("a campaign is joined that is not there")
				}
				nc.Close()
			}
		})
	}
	for name, l := range map[string]Listening{"no port": {Address: "127.0.0.1"}, "an odd port": {Address: "127.0.0.1:nats"}, "no certificate": {Address: "127.0.0.1:0", Cert: "nowhere", Key: key}, "another's key": {Address: "127.0.0.1:0", Cert: ca, Key: key}} {
		if s, err := StartServer(t.TempDir(), 0, l); err == nil {
			s.Close()
			t.Errorf("%s: a server listens", name)
		}
	}
}

// TestAServerIsReachedByCredentials: a server that knows users by what an operator has signed, as those
// of a team do.
func TestAServerIsReachedByCredentials(t *testing.T) {
	t.Parallel()
	pair := func(make func() (nkeys.KeyPair, error)) (nkeys.KeyPair, string) {
		t.Helper()
		k, err := make()
		if err != nil {
			t.Fatal(err)
		}
		public, err := k.PublicKey()
		if err != nil {
			t.Fatal(err)
		}
		return k, public
	}
	text := func(text string, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	operator, operatorID := pair(nkeys.CreateOperator)
	account, accountID := pair(nkeys.CreateAccount)
	stranger, _ := pair(nkeys.CreateAccount)
	_, systemID := pair(nkeys.CreateAccount)
	claims := jwt.NewAccountClaims(accountID)
	claims.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: -1, DiskStorage: -1, Streams: -1, Consumer: -1}
	resolver := &server.MemAccResolver{}
	operatorClaims := jwt.NewOperatorClaims(operatorID)
	operatorClaims.SystemAccount = systemID
	decoded, err := jwt.DecodeOperatorClaims(text(operatorClaims.Encode(operator)))
	if err != nil {
		t.Fatal(err)
	}
	for id, token := range map[string]string{accountID: text(claims.Encode(operator)), systemID: text(jwt.NewAccountClaims(systemID).Encode(operator))} {
		if err := resolver.Store(id, token); err != nil {
			t.Fatal(err)
		}
	}
	s, err := server.NewServer(&server.Options{
		ServerName: "s", Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), NoLog: true, NoSigs: true,
		TrustedOperators: []*jwt.OperatorClaims{decoded}, AccountResolver: resolver, SystemAccount: systemID,
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	defer func() {
		s.Shutdown()
		s.WaitForShutdown()
	}()
	credentials := func(signer nkeys.KeyPair) string {
		t.Helper()
		user, userID := pair(nkeys.CreateUser)
		seed, err := user.Seed()
		if err != nil {
			t.Fatal(err)
		}
		config, err := jwt.FormatUserConfig(text(jwt.NewUserClaims(userID).Encode(signer)), seed)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "user.creds")
		if err := os.WriteFile(file, config, 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	nc, err := (&Connection{URL: s.ClientURL(), Credentials: credentials(account)}).Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if _, err := OpenStore(t.Context(), nc, "team", 1); err != nil {
		t.Error(err)
	}
	for name, c := range map[string]Connection{"those of a stranger": {Credentials: credentials(stranger)}, "none": {}, "a file that is not there": {Credentials: "nowhere.creds"}} {
		c.URL = s.ClientURL()
		if nc, err := c.Connect(t.Context()); err == nil {
			nc.Close()
			t.Errorf("credentials: %s are taken", name)
		}
	}
}

// TestCampaignsShareAServerUnderTheirOwnPrefixes: two coordinators of two repositories at a time, each
// with a worker of its own, and a third that has the prefix of the first.
func TestCampaignsShareAServerUnderTheirOwnPrefixes(t *testing.T) {
	t.Parallel()
	shared, err := StartServer(t.TempDir(), 0, Listening{Address: "127.0.0.1:0", Token: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	defer shared.Close()
	open := func(prefix string) (*Dir, *Store) {
		t.Helper()
		dir, err := OpenDir(filepath.Join(t.TempDir(), "state"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(dir.Close)
		nc, err := (&Connection{URL: shared.URL(), Token: "secret"}).Connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(nc.Close)
		store, err := OpenStore(t.Context(), nc, prefix, 1)
		if err != nil {
			t.Fatal(err)
		}
		return dir, store
	}
	third, thirdStore := open("one")
	refused := sync.OnceFunc(func() {
		_, err := Run(t.Context(), third, thirdStore, toyTargets(t, "1"), &Options{Search: toySearch})
		if err == nil || !strings.Contains(err.Error(), "another coordinator") {
			t.Errorf("a second coordinator with the prefix: %v", err)
		}
	})
	var both sync.WaitGroup
	for prefix, bugs := range map[string][]string{"one": {"2121"}, "two": {"2211"}} {
		dir, store := open(prefix)
		public, err := dir.Key.PublicKey()
		if err != nil {
			t.Fatal(err)
		}
		y := &toy{steps: 4, bugs: map[string][]string{"1/TestA": bugs}}
		targets := toyTargets(t, "1")
		both.Go(func() {
			ctx, cancel := context.WithCancel(t.Context())
			var over sync.WaitGroup
			defer over.Wait()
			defer cancel()
			over.Go(func() {
				_ = NewWorker(store, WorkerOptions{Name: prefix, Trusted: []string{public}, Slots: 1, Do: y.do("1")}).Run(ctx)
			})
			report, err := Run(ctx, dir, store, targets, &Options{Search: toySearch, Told: func(e Event) {
				if prefix == "one" && e.Finding != nil {
					refused()
				}
			}})
			if err != nil {
				t.Error(err)
				return
			}
			if want := []string{"TestA " + bugs[0] + " new"}; !slices.Equal(found(t, dir.Path), want) {
				t.Errorf("%s has found %q, want %q", prefix, found(t, dir.Path), want)
			}
			for _, w := range report.Workers {
				if w.Name != prefix {
					t.Errorf("%s sees worker %s", prefix, w.Name)
				}
			}
		})
	}
	both.Wait()
}
