package report

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/report/page"
)

// A Server shows reports of a file or a folder as they are when they are asked for. A page that is
// open is told when its files change, and loads itself again.
type Server struct {
	path    string
	options Options
	// Interval is how often files are looked at while a page waits for news.
	Interval time.Duration
}

// NewServer returns a server for a file or a folder.
func NewServer(path string, o Options) *Server {
	return &Server{path: path, options: o, Interval: 500 * time.Millisecond}
}

// Serve serves until the context ends.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{Handler: s, BaseContext: func(net.Listener) context.Context { return ctx }, ReadHeaderTimeout: 10 * time.Second}
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	select {
	case err := <-done:
		return fmt.Errorf("serving reports: %w", err)
	case <-ctx.Done():
		server.Close()
		<-done
		return nil
	}
}

// ServeHTTP answers for the list, for the page of a file, and for what has changed.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		http.Error(w, "only GET", http.StatusMethodNotAllowed)
		return
	}
	if !addressed(r) {
		http.Error(w, "ask for this machine by its address, or as localhost", http.StatusForbidden)
		return
	}
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	if r.URL.Path == "/changed" {
		s.changed(w, r)
		return
	}
	d, err := s.document(r.URL.Path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		http.NotFound(w, r)
		return
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	d.Live = s.stamp()
	var out bytes.Buffer
	if err := page.Write(&out, d); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Write(out.Bytes())
}

// addressed reports whether a request names the machine by an address or as localhost. A page from
// elsewhere can have its own name lead to this machine, and must not read reports by that.
func addressed(r *http.Request) bool {
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	return host == "localhost" || net.ParseIP(strings.Trim(host, "[]")) != nil
}

// document is that of a path: the list at the root, and NAME.html for a file that the list has.
func (s *Server) document(path string) (*page.Document, error) {
	kind, err := Detect(s.path)
	if err != nil {
		return nil, err
	}
	if path == "/" {
		return load(s.path, kind, s.options)
	}
	name, ok := strings.CutSuffix(strings.TrimPrefix(path, "/"), ".html")
	if !ok || kind != Folder {
		return nil, os.ErrNotExist
	}
	list, err := Scan(s.path)
	if err != nil {
		return nil, err
	}
	for _, item := range list.Items {
		if item.Path != name {
			continue
		}
		d, err := load(filepath.Join(s.path, filepath.FromSlash(name)), item.Kind, s.options)
		if err == nil {
			d.Home = "/"
		}
		return d, err
	}
	return nil, os.ErrNotExist
}

// longPoll is how long a page waits for news before it asks again.
const longPoll = 25 * time.Second

// campaignNews is how many intervals news of a campaign may take. It has some every second, and a page
// that a person reads should not change that often.
const campaignNews = 5

// changed answers when the files are others than those of the stamp that the page has.
func (s *Server) changed(w http.ResponseWriter, r *http.Request) {
	since := r.URL.Query().Get("since")
	end := time.NewTimer(longPoll)
	defer end.Stop()
	interval := s.Interval
	if c, err := readCampaign(s.path); err == nil && c != nil {
		interval *= campaignNews
	}
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		if now := s.stamp(); now != since {
			fmt.Fprint(w, now)
			return
		}
		select {
		case <-tick.C:
		case <-end.C:
			w.WriteHeader(http.StatusNoContent)
			return
		case <-r.Context().Done():
			return
		}
	}
}

// stamp is another one when a file is added, removed or written to.
func (s *Server) stamp() string {
	var newest time.Time
	var size, n int64
	count := func(info os.FileInfo) {
		if info.ModTime().After(newest) {
			newest = info.ModTime()
		}
		size += info.Size()
		n++
	}
	filepath.WalkDir(s.path, func(_ string, entry os.DirEntry, err error) error {
		if err != nil {
			return nil // it is gone meanwhile, which the count tells
		}
		if info, err := entry.Info(); err == nil && !info.IsDir() {
			count(info)
		}
		return nil
	})
	return strconv.FormatInt(newest.UnixNano(), 36) + "-" + strconv.FormatInt(size, 36) + "-" + strconv.FormatInt(n, 36)
}
