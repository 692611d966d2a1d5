// Package served has a test with a server and two clients.
package served

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

func TestServed(t *testing.T) {
	var mu sync.Mutex
	visits := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		visits++
	}))
	defer s.Close()
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			resp, err := s.Client().Get(s.URL)
			if err != nil {
				t.Error(err)
				return
			}
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		})
	}
	wg.Wait()
	if visits != 2 {
		t.Error(visits)
	}
}
