package wicket_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/await"
	"github.com/cofferdam-go/cofferdam/internal/protect/wicket"
)

// Methods that are called and not inlined, because it is not known which they are.
var (
	lockCalled  = (*wicket.Guard).Lock
	rlockCalled = (*wicket.Guard).RLock
)

// TestSiteOfEveryWayToBegin: a finding names the function with the section, whether or not the method
// that begins it is inlined there, and where there is more to do than a few instructions.
func TestSiteOfEveryWayToBegin(t *testing.T) {
	if !needsIsolation(t) || runtime.GOARCH != "amd64" {
		return
	}
	leave := func(o *object) { o.x.Leave() }
	runlock := func(o *object) { o.x.RUnlock() }
	for name, way := range map[string]struct {
		begin, end func(o *object)
	}{
		"writes":                      {func(o *object) { o.x.Lock(fieldN, 0) }, leave},
		"writes, called":              {func(o *object) { lockCalled(&o.x, fieldN, 0) }, leave},
		"reads alone":                 {func(o *object) { o.x.Lock(0, fieldN) }, leave},
		"reads":                       {func(o *object) { o.x.RLock(fieldN) }, runlock},
		"reads, called":               {func(o *object) { rlockCalled(&o.x, fieldN) }, runlock},
		"after another":               {func(o *object) { o.x.Lock(0, 0); o.x.Lock(fieldN, 0) }, leave},
		"after another, called":       {func(o *object) { o.x.Lock(0, 0); lockCalled(&o.x, fieldN, 0) }, leave},
		"reads after another":         {func(o *object) { o.x.Lock(0, 0); o.x.RLock(fieldN) }, runlock},
		"reads after another, called": {func(o *object) { o.x.Lock(0, 0); rlockCalled(&o.x, fieldN) }, runlock},
	} {
		t.Run(name, func(t *testing.T) {
			o := new(object)
			all := findings(func() {
				o.mu.Lock()
				way.begin(o)
				ended := sleeping(t, func() { o.storeN(7) })
				way.end(o)
				o.mu.Unlock()
				o.x.Wake()
				await.Receive(t, "the access", ended)
			})
			if len(all) != 1 {
				t.Fatalf("found %v", all)
			}
			if site := all[0].Accesses[1].Site(); !strings.Contains(site.Function, "TestSiteOfEveryWayToBegin") {
				t.Errorf("the section is in %s", site.Function)
			}
		})
	}
}

// TestLoadsPassASectionThatReadsAlone: such a section keeps stores away and nothing else.
func TestLoadsPassASectionThatReadsAlone(t *testing.T) {
	if !needsIsolation(t) {
		return
	}
	o := new(object)
	all := findings(func() {
		o.mu.Lock()
		o.x.Lock(0, fieldN)
		done := await.Start(func() int { return o.loadN() })
		await.Receive(t, "a load", done)
		o.x.Leave()
		o.mu.Unlock()
		o.x.Wake()
	})
	if len(all) != 0 || !o.x.IsIdle() {
		t.Errorf("found %v, and what is left is %+v", all, &o.x)
	}
}
