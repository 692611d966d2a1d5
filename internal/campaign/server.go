package campaign

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// A Server is a NATS server in this process.
type Server struct{ server *server.Server }

// Listening says where a server in this process takes connections from other machines. Its zero
// value is nowhere.
type Listening struct {
	Address   string // host and port
	Token     string // that workers have to give
	Cert, Key string // files for TLS; none: without
}

// A Damaged error says that the files of the server cannot be used.
type Damaged struct{ Err error }

func (e *Damaged) Error() string { return e.Err.Error() }
func (e *Damaged) Unwrap() error { return e.Err }

// starting is how long a server may take to read its files.
const starting = 2 * time.Minute

// StartServer starts a server with its files in a directory, which may take so many bytes; 0 for as
// many as there are.
func StartServer(dir string, size int64, l Listening) (*Server, error) {
	o := &server.Options{
		ServerName: "cofferdam", JetStream: true, StoreDir: dir, JetStreamMaxStore: size, DontListen: true,
		NoLog: true, NoSigs: true, MaxPayload: maxMessage,
	}
	if l.Address != "" {
		if err := l.apply(o); err != nil {
			return nil, err
		}
	}
	s, err := server.NewServer(o)
	if err != nil {
		return nil, fmt.Errorf("starting the server of the campaign: %w", err)
	}
	s.Start()
	if !s.ReadyForConnections(starting) || !s.JetStreamEnabled() {
		(&Server{s}).Close()
		return nil, &Damaged{fmt.Errorf("the server of the campaign does not start with the files in %s", dir)}
	}
	return &Server{s}, nil
}

// apply has a server listen.
func (l *Listening) apply(o *server.Options) error {
	host, port, err := net.SplitHostPort(l.Address)
	if err != nil {
		return fmt.Errorf("-listen %s: %w", l.Address, err)
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return fmt.Errorf("-listen %s: the port is no number", l.Address)
	}
	if n == 0 {
		n = server.RANDOM_PORT
	}
	o.DontListen, o.Host, o.Port, o.Authorization = false, host, n, l.Token
	if l.Cert == "" {
		return nil
	}
	pair, err := tls.LoadX509KeyPair(l.Cert, l.Key)
	if err != nil {
		return fmt.Errorf("-tls-cert, -tls-key: %w", err)
	}
	o.TLSConfig, o.TLS, o.TLSTimeout = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, true, 5
	return nil
}

// URL is where other machines find the server.
func (s *Server) URL() string { return s.server.ClientURL() }

// closeWait is how long a server may take to end.
const closeWait = 10 * time.Second

// Close ends the server. Everything that was acknowledged is in its files. One whose files are damaged
// may wait for itself for ever, and is left behind: what it had in its hands is moved aside.
func (s *Server) Close() {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.server.Shutdown()
		s.server.WaitForShutdown()
	}()
	select {
	case <-ended:
	case <-time.After(closeWait):
	}
}

// A Connection is how to get to a server: in this process, or elsewhere.
type Connection struct {
	Server *Server
	URL    string
	// Credentials is a file, as nsc makes them; Token a word that the server knows. CA is a file with
	// the certificates by which it is known, if those of the system are not.
	Credentials, Token, CA string
	// Name is told to the server.
	Name string
	// Dialer, if it is there, makes the connections.
	Dialer nats.CustomDialer
}

// Connect connects. A connection that breaks is made again for as long as it takes.
func (c *Connection) Connect(ctx context.Context) (*nats.Conn, error) {
	o := []nats.Option{nats.Name(c.Name), nats.MaxReconnects(-1), nats.ReconnectWait(reconnectWait), nats.ReconnectBufSize(-1)}
	url := c.URL
	if c.Server != nil {
		o, url = append(o, nats.InProcessServer(c.Server.server)), ""
	}
	for _, file := range []string{c.Credentials, c.CA} {
		if file == "" {
			continue
		}
		if _, err := os.Stat(file); err != nil {
			return nil, fmt.Errorf("connecting to %s: %w", url, err)
		}
	}
	if c.Token != "" {
		o = append(o, nats.Token(c.Token))
	}
	if c.Credentials != "" {
		o = append(o, nats.UserCredentials(c.Credentials))
	}
	if c.CA != "" {
		o = append(o, nats.RootCAs(c.CA))
	}
	if c.Dialer != nil {
		o = append(o, nats.SetCustomDialer(c.Dialer))
	}
	nc, err := nats.Connect(url, o...)
	switch {
	case errors.Is(err, nats.ErrAuthorization):
		return nil, fmt.Errorf("connecting to %s: %w: put the token of the server into the environment variable COFFERDAM_TOKEN, or give -creds", url, err)
	case err != nil:
		return nil, fmt.Errorf("connecting to %s: %w", url, err)
	case ctx.Err() != nil:
		nc.Close()
		return nil, context.Cause(ctx)
	}
	return nc, nil
}

// reconnectWait is how long a broken connection is left before it is tried again.
const reconnectWait = 250 * time.Millisecond
