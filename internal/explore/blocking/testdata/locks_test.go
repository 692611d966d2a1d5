package blocking

import (
	"errors"
	"sync"
	"testing"
)

// An account can be paid from and into.
type account struct {
	mu      sync.Mutex
	id      int
	balance int
}

func (a *account) pay(to *account, n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	to.mu.Lock()
	defer to.mu.Unlock()
	a.balance -= n
	to.balance += n
}

// payInOrder takes the locks in the order of the accounts' numbers.
func (a *account) payInOrder(to *account, n int) {
	first, second := a, to
	if second.id < first.id {
		first, second = second, first
	}
	first.mu.Lock()
	defer first.mu.Unlock()
	second.mu.Lock()
	defer second.mu.Unlock()
	a.balance -= n
	to.balance += n
}

// want: deadlock, lock order
func TestBugTwoAccounts(t *testing.T) {
	a, b := &account{id: 1}, &account{id: 2}
	var wg sync.WaitGroup
	wg.Go(func() { a.pay(b, 1) })
	wg.Go(func() { b.pay(a, 2) })
	wg.Wait()
}

func TestFineTwoAccounts(t *testing.T) {
	a, b := &account{id: 1}, &account{id: 2}
	var wg sync.WaitGroup
	wg.Go(func() { a.payInOrder(b, 1) })
	wg.Go(func() { b.payInOrder(a, 2) })
	wg.Wait()
}

// want: partial deadlock, lock order
func TestBugThreeForks(t *testing.T) {
	var forks [3]sync.Mutex
	for i := range forks {
		go func() {
			left, right := &forks[i], &forks[(i+1)%3]
			left.Lock()
			right.Lock()
			right.Unlock()
			left.Unlock()
		}()
	}
}

func TestFineThreeForks(t *testing.T) {
	var forks [3]sync.Mutex
	for i := range forks {
		go func() {
			left, right := &forks[min(i, (i+1)%3)], &forks[max(i, (i+1)%3)]
			left.Lock()
			right.Lock()
			right.Unlock()
			left.Unlock()
		}()
	}
}

// A registry calls back while it is locked, or not.
type registry struct {
	mu    sync.Mutex
	names map[string]int
}

func (r *registry) add(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.names[name]++
}

func (r *registry) each(f func(string)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name := range r.names {
		f(name)
	}
}

func (r *registry) eachOfCopy(f func(string)) {
	r.mu.Lock()
	var all []string
	for name := range r.names {
		all = append(all, name)
	}
	r.mu.Unlock()
	for _, name := range all {
		f(name)
	}
}

// want: deadlock, double lock
func TestBugCallbackLocksAgain(t *testing.T) {
	r := &registry{names: map[string]int{"ada": 1}}
	r.each(func(name string) { r.add(name + "'s twin") })
}

func TestFineCallbackLocksAgain(t *testing.T) {
	r := &registry{names: map[string]int{"ada": 1}}
	r.eachOfCopy(func(name string) { r.add(name + "'s twin") })
}

// want: partial deadlock, double lock
func TestBugMethodCallsMethod(t *testing.T) {
	r := &registry{names: map[string]int{}}
	go func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.add("grace")
	}()
}

func TestFineMethodCallsMethod(t *testing.T) {
	r := &registry{names: map[string]int{}}
	go func() {
		r.mu.Lock()
		r.names["grace"] = 0
		r.mu.Unlock()
		r.add("grace")
	}()
}

var errEmpty = errors.New("empty")

// A till hands out money. take returns early without unlocking.
type till struct {
	mu    sync.Mutex
	coins int
}

func (t *till) take() error {
	t.mu.Lock()
	if t.coins == 0 {
		return errEmpty
	}
	t.coins--
	t.mu.Unlock()
	return nil
}

func (t *till) takeAndUnlock() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.coins == 0 {
		return errEmpty
	}
	t.coins--
	return nil
}

// want: deadlock, missing unlock
func TestBugEarlyReturn(t *testing.T) {
	till := &till{coins: 1}
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() { _ = till.take() })
	}
	wg.Wait()
}

func TestFineEarlyReturn(t *testing.T) {
	till := &till{coins: 1}
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() { _ = till.takeAndUnlock() })
	}
	wg.Wait()
}

// want: deadlock, missing unlock
func TestBugEarlyReturnOfOne(t *testing.T) {
	till := &till{}
	_ = till.take()
	_ = till.take()
}

func TestFineEarlyReturnOfOne(t *testing.T) {
	till := &till{}
	_ = till.takeAndUnlock()
	_ = till.takeAndUnlock()
}

// want: partial deadlock, missing unlock
func TestBugPanicInSection(t *testing.T) {
	var mu sync.Mutex
	m := map[string]int{}
	careful := func(f func()) {
		defer func() { _ = recover() }()
		f()
	}
	for _, key := range []string{"", "b"} {
		go careful(func() {
			mu.Lock()
			if key == "" {
				panic("no key")
			}
			m[key]++
			mu.Unlock()
		})
	}
}

func TestFinePanicInSection(t *testing.T) {
	var mu sync.Mutex
	m := map[string]int{}
	careful := func(f func()) {
		defer func() { _ = recover() }()
		f()
	}
	for _, key := range []string{"", "b"} {
		go careful(func() {
			mu.Lock()
			defer mu.Unlock()
			if key == "" {
				panic("no key")
			}
			m[key]++
		})
	}
}

// want: deadlock, lock held over a wait
func TestBugSendWithLock(t *testing.T) {
	var mu sync.Mutex
	events := make(chan int)
	n := 0
	go func() {
		mu.Lock()
		defer mu.Unlock()
		n++
		events <- n
	}()
	mu.Lock()
	n++
	mu.Unlock()
	<-events
}

func TestFineSendWithLock(t *testing.T) {
	var mu sync.Mutex
	events := make(chan int)
	n := 0
	go func() {
		mu.Lock()
		n++
		v := n
		mu.Unlock()
		events <- v
	}()
	mu.Lock()
	n++
	mu.Unlock()
	<-events
}

// want: deadlock, lock held over a wait
func TestBugWaitWithLock(t *testing.T) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	n := 0
	mu.Lock()
	for range 2 {
		wg.Go(func() {
			mu.Lock()
			n++
			mu.Unlock()
		})
	}
	wg.Wait()
	mu.Unlock()
}

func TestFineWaitWithLock(t *testing.T) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	n := 0
	mu.Lock()
	for range 2 {
		wg.Go(func() {
			mu.Lock()
			n++
			mu.Unlock()
		})
	}
	mu.Unlock()
	wg.Wait()
}

// handOver is a lock that one goroutine takes and another releases, which is allowed.
func TestFineLockIsHandedOver(t *testing.T) {
	var mu sync.Mutex
	taken, released := make(chan bool), make(chan bool)
	go func() { mu.Lock(); taken <- true }()
	go func() { <-taken; mu.Unlock(); released <- true }()
	<-released
	mu.Lock()
	mu.Unlock()
}

// want: partial deadlock, missing unlock
func TestBugLockIsNotHandedOver(t *testing.T) {
	var mu sync.Mutex
	taken := make(chan bool, 1)
	go func() { mu.Lock(); taken <- true }()
	go func() {
		<-taken
		mu.Lock()
	}()
}

// want: partial deadlock, lock order
func TestBugOrderBesideASpinner(t *testing.T) {
	a, b := &account{id: 1}, &account{id: 2}
	stop := make(chan bool)
	go func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
		}
	}()
	go a.pay(b, 1)
	go b.pay(a, 1)
}

func TestFineOrderBesideASpinner(t *testing.T) {
	a, b := &account{id: 1}, &account{id: 2}
	stop := make(chan bool)
	go func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
		}
	}()
	go a.payInOrder(b, 1)
	go b.payInOrder(a, 1)
}

// audit has a look at an account that another goroutine holds locked: at a copy of it, with the lock, or at
// the account itself.
func audit(look func(*account) *account) int {
	a := &account{balance: 1}
	locked, goOn := make(chan bool), make(chan bool)
	go func() {
		a.mu.Lock()
		locked <- true
		<-goOn
		a.mu.Unlock()
	}()
	<-locked
	b := look(a)
	goOn <- true
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.balance
}

// want: deadlock, copied lock
func TestBugLockIsCopied(t *testing.T) {
	audit(func(a *account) *account {
		b := new(account)
		*b = *a
		return b
	})
}

func TestFineLockIsNotCopied(t *testing.T) {
	audit(func(a *account) *account { return a })
}
