package httpclient

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
)

func start(t *testing.T, s *site) *server {
	t.Helper()
	srv, err := serve(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := srv.close(); err != nil {
			t.Error(err)
		}
	})
	return srv
}

func TestClientVisitsEveryPage(t *testing.T) {
	for _, v := range variants {
		t.Run(string(v), func(t *testing.T) {
			s := &site{domains: 3, shops: 2, pages: 4}
			srv := start(t, s)
			c := New(v, 3, srv.address)
			n, err := c.Fetch(t.Context(), "/", s.domainNames()...)
			if err := errors.Join(err, s.check(n)); err != nil {
				t.Error(err)
			}
			if n != 3*(1+2*(1+3*4)) {
				t.Errorf("fetched %d pages", n)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestWrongCookieIsRefused(t *testing.T) {
	for _, v := range variants {
		t.Run(string(v), func(t *testing.T) {
			s := &site{domains: 2, shops: 2, pages: 2}
			srv := start(t, s)
			c := New(v, 3, srv.address)
			defer c.Close()
			name := s.domainNames()[0]
			wrong := &http.Cookie{Name: "seen", Value: "never", Path: "/shop1/page1"}
			if err := c.keep(name, wrong); err != nil {
				t.Fatal(err)
			}
			n, err := c.Fetch(t.Context(), "/", s.domainNames()...)
			if err == nil || !strings.Contains(err.Error(), "403") {
				t.Errorf("fetched %d pages with a wrong cookie: %v", n, err)
			}
			if s.check(n) == nil {
				t.Error("the site did not notice the wrong cookie")
			}
		})
	}
}

func TestMissingCookieIsRefused(t *testing.T) {
	s := &site{domains: 1, shops: 1, pages: 1}
	srv := start(t, s)
	for _, path := range []string{"/shop0/page0/first", "/shop0/page0/second", "/shop0/page0/third", "/shop0/page0/fourth"} {
		resp, err := http.Get("http://" + srv.address + path)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusForbidden {
			t.Errorf("%s without cookies: %s", path, resp.Status)
		}
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestCancelledFetchEnds(t *testing.T) {
	for _, v := range variants {
		t.Run(string(v), func(t *testing.T) {
			s := &site{domains: 2, shops: 2, pages: 2}
			srv := start(t, s)
			c := New(v, 3, srv.address)
			defer c.Close()
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := c.Fetch(ctx, "/", s.domainNames()...); !errors.Is(err, context.Canceled) {
				t.Errorf("a cancelled fetch ended with %v", err)
			}
		})
	}
}

func TestFetchRefusesNamesThatDoNotFit(t *testing.T) {
	c := New(variants[0], 1, "")
	defer c.Close()
	if _, err := c.Fetch(t.Context(), "/", strings.Repeat("x", maxText+1)); err == nil {
		t.Error("a domain fits that is too long")
	}
}
