// Package intruder is STAMP's intruder: it looks for attacks in network traffic, as a
// signature-based intrusion detection system does. The traffic is flows, each cut
// into fragments, whose packets arrive in random order.
//
// # Phases
//
// Each goroutine does this again and again, until there are no packets left:
//
//  1. Capture: take a packet from the queue of those that have arrived.
//  2. Reassemble: put it with the other fragments of its flow. If it was the last that
//     was missing, the flow is complete: put its data into the queue of those.
//  3. Detect: take a complete flow, if there is one, and look for the signatures of
//     known attacks in its data.
//
// # Transactions
//
//	pop a packet                                            capture
//	insert a packet into a list in a tree; if it was the    reassemble
//	last: concatenate, remove the list, push the data
//	pop a complete flow                                     detect
//
// The search for signatures is outside of transactions, on data that belongs to the
// goroutine. Packets never change.
//
// The paper has it as: short transactions, read and write sets of medium size, a
// medium part of the time in transactions, high contention, as all goroutines pop
// from the same two queues and the tree is rebalanced often.
//
// plain.go and transactional.go are the same program over the same structs, with
// plain accesses and with stm.Load and stm.Store. atomic.go is transactions that are
// plain code.
//
// decoder.go puts fragments together, detector.go looks for signatures.
package intruder

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// Params say what to generate.
type Params struct {
	Attacks int    // -a: percentage of flows that are an attack
	Length  int    // -l: bytes of a flow's data, at most
	Flows   int    // -n: number of flows
	Seed    uint64 // -s: of the generator
}

// The sets of parameters: STAMP's for simulators and for real machines, and one in
// between that takes about a second.
var (
	Simulator = Params{Attacks: 10, Length: 4, Flows: 2038, Seed: 1}
	Medium    = Params{Attacks: 10, Length: 32, Flows: 131072, Seed: 1}
	Native    = Params{Attacks: 10, Length: 128, Flows: 262144, Seed: 1}
)

// A packet is a fragment of a flow. It never changes.
type packet struct {
	flow      int
	fragment  int // its number: 0 to fragments-1
	fragments int // of the flow
	data      []byte
}

// An Input is the packets in the order of their arrival. Runs do not change it.
type Input struct {
	packets []packet
	attacks []int // flows that are an attack, in order
}

// A Result is what a run has found.
type Result struct {
	Attacks []int // flows that are an attack, in order
	Elapsed time.Duration
}

// Generate makes the traffic. Some flows are an attack, which is a signature and
// nothing else; the others have random data, which is an attack by chance if it has a
// signature in it.
func Generate(p Params) *Input {
	if p.Length < 1 {
		panic(fmt.Sprintf("intruder: flows of %d bytes at most", p.Length))
	}
	random := rand.New(rand.NewPCG(p.Seed, 'i'))
	in := &Input{}
	var detector detector
	for flow := range p.Flows {
		var data []byte
		if random.IntN(100) < p.Attacks {
			data = []byte(signatures[random.IntN(len(signatures))])
		} else {
			data = make([]byte, 1+random.IntN(p.Length))
			for i := range data {
				data[i] = byte(' ' + random.IntN('~'-' '+1))
			}
		}
		if detector.attack(data) {
			in.attacks = append(in.attacks, flow)
		}
		in.packets = split(in.packets, flow, data, 1+random.IntN(len(data)))
	}
	random.Shuffle(len(in.packets), func(i, j int) {
		in.packets[i], in.packets[j] = in.packets[j], in.packets[i]
	})
	return in
}

// split cuts a flow into packets of the same size, but for the last, which has the
// rest.
func split(packets []packet, flow int, data []byte, fragments int) []packet {
	size := len(data) / fragments
	for i := range fragments {
		first, last := i*size, (i+1)*size
		if i == fragments-1 {
			last = len(data)
		}
		packets = append(packets, packet{flow, i, fragments, data[first:last]})
	}
	return packets
}

// result puts together what the goroutines have found.
func result(elapsed time.Duration, found ...[]int) *Result {
	r := &Result{Elapsed: elapsed, Attacks: slices.Concat(found...)}
	slices.Sort(r.Attacks)
	return r
}

// Verify checks that all attacks have been found, and nothing else.
func (in *Input) Verify(r *Result) error {
	if len(r.Attacks) != len(in.attacks) {
		return fmt.Errorf("intruder: %d attacks were found and there are %d", len(r.Attacks), len(in.attacks))
	}
	for i, flow := range r.Attacks {
		if flow != in.attacks[i] {
			return fmt.Errorf("intruder: flow %d was found and flow %d is the attack", flow, in.attacks[i])
		}
	}
	return nil
}
