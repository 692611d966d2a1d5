package httpclient

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/apps/variant"
	"github.com/cofferdam-go/cofferdam/bench/measure"
)

const goroutines = 4

// longest is the time after which a trial is given up. It takes a fraction of a
// second.
const longest = time.Minute

// Case is a client that fetches all pages of a site.
func Case(quick bool) measure.Case {
	return measure.Case{
		Figure:   "11",
		Name:     "httpclient",
		Params:   measure.Params{measure.Goroutines: goroutines},
		Ops:      newSite(quick).visits(),
		Baseline: measure.SameMemory,
		Contenders: variant.Contenders(func(v measure.Variant) measure.Trial {
			return prepare(v, newSite(quick))
		}),
	}
}

func newSite(quick bool) *site {
	s := &site{domains: 8, shops: 8, pages: 10}
	if quick {
		s.shops = 1
	}
	return s
}

func prepare(v measure.Variant, s *site) measure.Trial {
	srv, err := serve(s)
	if err != nil {
		return measure.Trial{Run: func() {}, Close: func() error { return err }}
	}
	client := New(v, goroutines, srv.address)
	fetched := 0
	return measure.Trial{
		Run: func() {
			ctx, cancel := context.WithTimeout(context.Background(), longest)
			defer cancel()
			fetched, err = client.Fetch(ctx, "/", s.domainNames()...)
		},
		Close: func() error {
			return errors.Join(err, s.check(fetched), client.Close(), srv.close())
		},
	}
}

// check compares what was fetched and served with what should have been.
func (s *site) check(fetched int) error {
	if n := s.visits(); fetched != n || s.served.Load() != int64(n) || s.refused.Load() != 0 {
		return fmt.Errorf("%d pages fetched, %d served, %d refused; should be %d, %d, 0",
			fetched, s.served.Load(), s.refused.Load(), n, n)
	}
	return nil
}
