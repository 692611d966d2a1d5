package intruder

import (
	"sync"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/stamp/team"
)

// Sequential runs the program in one goroutine.
func Sequential(in *Input) *Result {
	d := in.prepare()
	var detector detector
	var attacks []int
	start := time.Now()
	for {
		p, ok := d.arrived.Pop()
		if !ok {
			break
		}
		d.add(p)
		if f, ok := d.complete.Pop(); ok && detector.attack(f.data) {
			attacks = append(attacks, f.id)
		}
	}
	return result(time.Since(start), attacks)
}

// add puts a packet with the others of its flow.
func (d *decoder) add(p *packet) {
	if p.fragments == 1 {
		d.complete.Push(&flow{p.flow, p.data})
		return
	}
	seen, ok := d.partial.Find(p.flow)
	if !ok {
		seen = new(fragments)
		d.partial.Insert(p.flow, seen)
	}
	if !seen.Insert(p.fragment, p) {
		panic(duplicate(p))
	}
	if seen.Len() == p.fragments {
		d.partial.Remove(p.flow)
		d.complete.Push(&flow{p.flow, concatenate(seen)})
	}
}

// concatenate returns the data of a flow.
func concatenate(all *fragments) []byte {
	size := 0
	for _, p := range all.All() {
		size += len(p.data)
	}
	data := make([]byte, 0, size)
	for _, p := range all.All() {
		data = append(data, p.data...)
	}
	return data
}

// Mutex runs the program in several goroutines, with one lock for everything.
func Mutex(in *Input, goroutines int) *Result {
	d := in.prepare()
	var mu sync.Mutex
	attacks := make([][]int, goroutines)
	start := time.Now()
	team.Run(goroutines, func(member int) {
		var detector detector
		var found []int
		for {
			mu.Lock()
			p, ok := d.arrived.Pop()
			mu.Unlock()
			if !ok {
				break
			}
			mu.Lock()
			d.add(p)
			mu.Unlock()
			mu.Lock()
			f, ok := d.complete.Pop()
			mu.Unlock()
			if ok && detector.attack(f.data) {
				found = append(found, f.id)
			}
		}
		attacks[member] = found
	})
	return result(time.Since(start), attacks...)
}
