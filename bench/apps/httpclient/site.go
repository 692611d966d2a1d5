package httpclient

import (
	"errors"
	"fmt"
	"hash/fnv"
	"net"
	"net/http"
	"sync/atomic"
)

// A site is the server's side. Each domain has an entrance, /, which names its
// shops. The door of a shop gives the session of the shop, a cookie for
// everything below it, and names its pages. A page wants that cookie, and has to
// be visited three times:
//
//   - The first visit gives a cookie for this page.
//   - The second visit wants it, and takes it back.
//   - The third visit does not want it any more.
//
// A page answers with the paths that can be visited next, one per line.
type site struct {
	domains, shops, pages int

	served  atomic.Int64
	refused atomic.Int64
}

// domainNames are the domains of the site.
func (s *site) domainNames() []string {
	names := make([]string, s.domains)
	for i := range names {
		names[i] = fmt.Sprintf("domain%d.test", i)
	}
	return names
}

// visits is the number of pages that a client has to fetch, counting each visit.
func (s *site) visits() int { return s.domains * (1 + s.shops*(1+3*s.pages)) }

func (s *site) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.entrance)
	mux.HandleFunc("GET /{shop}/{$}", s.door)
	mux.HandleFunc("GET /{shop}/{page}/{visit}", s.page)
	return mux
}

func (s *site) entrance(w http.ResponseWriter, r *http.Request) {
	if !s.wants(w, r, map[string]string{}) {
		return
	}
	for i := range s.shops {
		fmt.Fprintf(w, "/shop%d/\n", i)
	}
}

func (s *site) door(w http.ResponseWriter, r *http.Request) {
	if !s.wants(w, r, map[string]string{}) {
		return
	}
	shop := "/" + r.PathValue("shop")
	http.SetCookie(w, &http.Cookie{Name: "session", Value: token(r.Host, shop), Path: shop})
	for i := range s.pages {
		fmt.Fprintf(w, "%s/page%d/first\n", shop, i)
	}
}

func (s *site) page(w http.ResponseWriter, r *http.Request) {
	shop := "/" + r.PathValue("shop")
	page := shop + "/" + r.PathValue("page")
	cookies := map[string]string{"session": token(r.Host, shop)}
	seen := http.Cookie{Name: "seen", Value: token(r.Host, page), Path: page}
	switch visit := r.PathValue("visit"); visit {
	case "first":
		if s.wants(w, r, cookies) {
			http.SetCookie(w, &seen)
			fmt.Fprintln(w, page+"/second")
		}
	case "second":
		cookies["seen"] = seen.Value
		if s.wants(w, r, cookies) {
			seen.MaxAge = -1
			http.SetCookie(w, &seen)
			fmt.Fprintln(w, page+"/third")
		}
	case "third":
		s.wants(w, r, cookies)
	default:
		s.refuse(w, "there is no visit "+visit)
	}
}

// wants reports whether the request has these cookies and no others. If not, it
// answers.
func (s *site) wants(w http.ResponseWriter, r *http.Request, cookies map[string]string) bool {
	got := r.Cookies()
	for _, c := range got {
		if want, ok := cookies[c.Name]; !ok || want != c.Value {
			s.refuse(w, fmt.Sprintf("the cookie %s=%s is wrong here", c.Name, c.Value))
			return false
		}
	}
	if len(got) != len(cookies) {
		s.refuse(w, fmt.Sprintf("%d cookies, where there should be %d", len(got), len(cookies)))
		return false
	}
	s.served.Add(1)
	return true
}

func (s *site) refuse(w http.ResponseWriter, why string) {
	s.refused.Add(1)
	http.Error(w, why, http.StatusForbidden)
}

// token is the value of a cookie, which nobody gets right by accident.
func token(domain, path string) string {
	h := fnv.New64a()
	h.Write([]byte(domain + path))
	return fmt.Sprintf("%016x", h.Sum64())
}

// A server is a site that can be reached.
type server struct {
	*site
	address string
	http    http.Server
	ended   chan error
}

// serve puts a site on a free port of the loopback interface.
func serve(s *site) (*server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("serving pages to fetch: %w", err)
	}
	srv := &server{
		site:    s,
		address: l.Addr().String(),
		http:    http.Server{Handler: s.handler()},
		ended:   make(chan error, 1),
	}
	go func() { srv.ended <- srv.http.Serve(l) }()
	return srv, nil
}

// close ends the server and its connections.
func (s *server) close() error {
	err := s.http.Close()
	if ended := <-s.ended; !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(err, ended)
	}
	return err
}
