// Package httpclient is the application that the Isolator paper calls
// httpclient: goroutines that fetch pages, and share the cookies they were given
// and the transfers that are still to be made.
//
// # Terms
//
// A transfer is a page to be fetched: a domain and a path. Those to be made are
// on a stack; a page that was fetched names further ones. The jar has the cookies.
// It is a trie whose nodes are domains, and below them the elements of paths: a
// cookie for /shop goes with every page below /shop, so that the cookies of a page
// are those on the way from the root to its node.
//
// Both are on the Go heap (heap.go) or in guarded memory (guarded.go), each with
// a lock of its own. Nobody holds both.
//
// # The server
//
// The pages come from a server in the same process, on the loopback interface,
// over connections that are kept. All domains are on it. It gives cookies, asks
// for them, takes them back, and refuses a page to a request without exactly the
// cookies that it should have (site.go); so a jar that loses a cookie, or keeps one too
// long, does not go unnoticed.
//
// shared.go says what a jar and a stack are, case.go makes the cases that are measured.
package httpclient

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/cofferdam-go/cofferdam/bench/measure"
)

// A Client fetches pages. It is used once.
type Client struct {
	goroutines int
	server     string // address of the server that all domains are on
	http       http.Client
	jar        jar
	stack      stack
}

// New returns a client whose shared data is of a variant.
func New(v measure.Variant, goroutines int, server string) *Client {
	c := &Client{
		goroutines: goroutines,
		server:     server,
		http:       http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: goroutines}},
	}
	if v == measure.Heap {
		c.jar, c.stack = newHeapJar(), newHeapStack()
	} else {
		c.jar, c.stack = newGuardedJar(v), newGuardedStack(v)
	}
	return c
}

// Close closes the connections and returns the memory.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return errors.Join(c.jar.free(), c.stack.free())
}

// Fetch fetches a page of each domain, and every page that these name. It returns
// the number of pages.
func (c *Client) Fetch(ctx context.Context, path string, domains ...string) (int, error) {
	for _, d := range domains {
		t, err := newTransfer(d, path)
		if err != nil {
			return 0, err
		}
		c.stack.push(t)
	}
	pages := make([]int, c.goroutines)
	failed := make([]error, c.goroutines)
	var all sync.WaitGroup
	for i := range c.goroutines {
		all.Go(func() { pages[i], failed[i] = c.work(ctx) })
	}
	all.Wait()
	sum := 0
	for _, n := range pages {
		sum += n
	}
	return sum, errors.Join(failed...)
}

// work makes transfers until there are none, or one fails.
func (c *Client) work(ctx context.Context) (pages int, err error) {
	for {
		t, ok := c.stack.pop()
		if !ok {
			return pages, nil
		}
		if err := c.transfer(ctx, t); err != nil {
			c.stack.stop()
			return pages, fmt.Errorf("fetching %s%s: %w", t.domain, t.path, err)
		}
		c.stack.done()
		pages++
	}
}

// transfer fetches a page with its cookies, and puts what comes with it into the
// jar and onto the stack.
func (c *Client) transfer(ctx context.Context, t transfer) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+c.server+t.path.String(), nil)
	if err != nil {
		return err
	}
	req.Host = t.domain.String()
	key, err := newKey(req.Host, req.URL.Path)
	if err != nil {
		return err
	}
	for _, k := range c.jar.match(key, nil) {
		req.AddCookie(&http.Cookie{Name: k.name.String(), Value: k.value.String()})
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		why, _ := io.ReadAll(io.LimitReader(resp.Body, 200))
		return fmt.Errorf("%s: %s", resp.Status, strings.TrimSpace(string(why)))
	}
	for _, k := range resp.Cookies() {
		if err := c.keep(req.Host, k); err != nil {
			return err
		}
	}
	links := bufio.NewScanner(resp.Body)
	for links.Scan() {
		t, err := newTransfer(req.Host, links.Text())
		if err != nil {
			return err
		}
		c.stack.push(t)
	}
	return links.Err()
}

// keep does what the server says about a cookie.
func (c *Client) keep(domain string, k *http.Cookie) error {
	key, err := newKey(domain, k.Path)
	if err != nil {
		return err
	}
	name, err := newText(k.Name)
	if err != nil {
		return err
	}
	if k.MaxAge < 0 {
		c.jar.remove(key, name)
		return nil
	}
	value, err := newText(k.Value)
	if err != nil {
		return err
	}
	c.jar.set(key, cookie{name, value})
	return nil
}
