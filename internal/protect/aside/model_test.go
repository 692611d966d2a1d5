package aside

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A model of a cell, of the goroutines that use it and of the collector, in which every step is
// what one instruction does to memory that others see. All interleavings are tried. What must
// not happen is that a goroutine has loaded a pointer to an object that the collector has freed,
// and that an entry is left over when all stores are done.

// What the threads of a model do, one after the other.
type action uint8

const (
	seal        action = iota // a section begins: loads and stores in the shared view wait
	unseal                    // it ends
	storeNew                  // of a new object, in the own view
	shareNew                  // of a new object, in the shared view
	loadOwn                   // a load whose object is then used
	loadShared                // the same in the shared view
	storeLoaded               // in the own view, of what was loaded last
	shareLoaded               // in the shared view
	dropCell                  // nothing leads to the cell any more but what uses it
)

// A flaw is a way to do it that is wrong.
type flaw uint8

const (
	flawless        flaw = iota
	wordBeforeEntry      // the word is exchanged first
	noEntry              // stores have no entries
	doneBeforeWord       // an entry is done before its store is made
	trimSealed           // a section takes away all entries that the page does not hold
	oneEntry             // a store overwrites the entry of what the word holds
	clearBeforeWord      // a store takes away the old entry before it is made
	noBarrier            // entries are written as numbers
	staleComparison      // entries are compared with what the word held some time before
	sharedPair           // a store does not look whether the pair is in use
	loadAsNumber         // the collector does not know that what was loaded is a pointer
	forgottenCell        // a load or store holds on to the word alone
	pairNotMarked        // a store that finds the pair in use does not say that it is stale
	listNotTidied        // a store in the own view does not look at the list
	pairNotTidied        // a store in the shared view does not look at the pair
)

var flaws = map[flaw]string{
	noEntry: "no entry", doneBeforeWord: "done before word", trimSealed: "trimmed while sealed",
	oneEntry: "one entry", clearBeforeWord: "cleared before word", noBarrier: "no barrier", staleComparison: "stale comparison",
	sharedPair: "shared pair", loadAsNumber: "load as number", forgottenCell: "forgotten cell", pairNotMarked: "pair not marked",
	listNotTidied: "list not tidied", pairNotTidied: "pair not tidied",
}

// leavingOver are the flaws that do no harm to what is loaded.
var leavingOver = []flaw{pairNotMarked, listNotTidied, pairNotTidied}

const (
	modelThreads = 3
	modelEntries = 3 // in the list
	firstListed  = 2 // the first slots are the pair
	modelSlots   = firstListed + modelEntries
)

// Where a thread is in what it does. The names are those of the functions.
const (
	begin uint8 = iota
	own         // storeOwn
	ownRead
	ownEntry
	ownWord
	ownClear
	ownRelease
	ownList
	wait // storeWaiting
	waitEntry
	waitWord
	waitDone
	listRead // tidyLocked
	listClear
	pairTake // tidyPair
	pairRead
	pairClear
	pairRelease
	pairAgain
	loading
	loaded
	numberLoaded
	trim
	trimRead
	end
)

type modelThread struct {
	action uint8 // the number of the one that is under way
	at     uint8
	object uint8 // the collector sees it
	number uint8 // a word that it does not see as a pointer
	slot   uint8
	handle bool // it holds on to the cell
	shared bool // its store goes through the shared view
	inOwn  bool // the list is tidied on behalf of storeOwn
}

// A modelState is all of memory. Objects are numbers from 1; sets of them are bits.
type modelState struct {
	threads [modelThreads]modelThread
	word    uint8
	slots   [modelSlots]uint8
	busy    uint8 // slots of the list
	use     uint8
	locked  bool // the list's lock
	sealed  bool
	rooted  bool // something leads to the cell
	objects uint8
	freed   uint16
	gone    bool // the cell was freed

	// The collector runs once, at any time: what it did before would be to free garbage.
	collected           bool
	marking, cellMarked bool
	marked              uint16
	scannedThreads      uint8
	scannedSlots        uint8
	scannedRoot         bool
}

type model struct {
	flaw     flaw
	programs [modelThreads][]action
	seen     map[modelState]bool
	wrong    string
}

// explore tries all interleavings, until something is wrong.
func (m *model) explore() string {
	m.seen = make(map[modelState]bool)
	todo := []modelState{{rooted: true}}
	for len(todo) > 0 && m.wrong == "" {
		s := todo[len(todo)-1].scanned()
		todo = todo[:len(todo)-1]
		if m.seen[s] {
			continue
		}
		m.seen[s] = true
		before := len(todo)
		for t := range s.threads {
			if next, ok := m.step(s, t); ok {
				todo = append(todo, next)
			}
		}
		if len(todo) == before {
			m.checkEnd(s)
		}
		todo = append(todo, m.collect(s)...)
	}
	return m.wrong
}

// checkEnd looks for entries that are left over.
func (m *model) checkEnd(s modelState) {
	for t := range s.threads {
		if int(s.threads[t].action) < len(m.programs[t]) {
			m.wrong = fmt.Sprintf("a thread waits for ever: %+v", s)
			return
		}
	}
	for i, p := range s.slots {
		if p != 0 && p != s.word && (m.flaw == flawless || slices.Contains(leavingOver, m.flaw)) {
			m.wrong = fmt.Sprintf("entry %d is left over: %+v", i, s)
		}
	}
}

func bit(n uint8) uint16 { return 1 << n }

// scanned has the collector scan what does not mark anything new. To scan it later could only
// mark more.
func (s modelState) scanned() modelState {
	if !s.marking {
		return s
	}
	known := s.marked | bit(0)
	for t, th := range s.threads {
		if known&bit(th.object) != 0 && (s.cellMarked || !th.handle) {
			s.scannedThreads |= 1 << t
		}
	}
	for i, p := range s.slots {
		if known&bit(p) != 0 && s.cellMarked {
			s.scannedSlots |= 1 << i
		}
	}
	s.scannedRoot = s.scannedRoot || s.cellMarked || !s.rooted
	return s
}

// set writes an entry, with the write barrier: it shades both pointers.
func (m *model) set(s *modelState, slot, p uint8) {
	if s.marking && m.flaw != noBarrier {
		s.marked |= bit(s.slots[slot]) | bit(p)
	}
	s.slots[slot] = p
}

// collect returns what the collector can do next.
func (m *model) collect(s modelState) []modelState {
	var all []modelState
	add := func(change func(s *modelState)) {
		next := s
		change(&next)
		all = append(all, next)
	}
	if !s.marking {
		if !s.collected {
			add(func(s *modelState) { s.collected, s.marking = true, true })
		}
		return all
	}
	ready := s.scannedRoot
	if !s.scannedRoot {
		add(func(s *modelState) { s.scannedRoot, s.cellMarked = true, s.cellMarked || s.rooted })
	}
	for t := range s.threads {
		if s.scannedThreads&(1<<t) == 0 {
			ready = false
			add(func(s *modelState) {
				s.scannedThreads |= 1 << t
				s.marked |= bit(s.threads[t].object)
				s.cellMarked = s.cellMarked || s.threads[t].handle
			})
		}
	}
	for i := range s.slots {
		if s.cellMarked && s.scannedSlots&(1<<i) == 0 {
			ready = false
			add(func(s *modelState) {
				s.scannedSlots |= 1 << i
				s.marked |= bit(s.slots[i])
			})
		}
	}
	if ready {
		add(func(s *modelState) {
			s.marking = false
			for o := uint8(1); o <= s.objects; o++ {
				if s.marked&bit(o) == 0 {
					s.freed |= bit(o)
				}
			}
			s.gone = s.gone || !s.cellMarked
			s.cellMarked, s.marked, s.scannedThreads, s.scannedSlots, s.scannedRoot = false, 0, 0, 0, false
		})
	}
	return all
}

// step has a thread do its next step. False: it has ended, or has to wait.
func (m *model) step(s modelState, t int) (modelState, bool) {
	th := &s.threads[t]
	if int(th.action) >= len(m.programs[t]) {
		return s, false
	}
	if th.at == begin {
		return s, m.begin(&s, th, m.programs[t][th.action])
	}
	if th.at < wait {
		return s, m.stepOwn(&s, th)
	}
	return s, m.stepOther(&s, th)
}

func (m *model) begin(s *modelState, th *modelThread, a action) bool {
	if !s.rooted && a != dropCell {
		m.finish(th, false) // it does not find the cell
		return true
	}
	th.handle = m.flaw != forgottenCell
	switch a {
	case seal:
		s.sealed = true
		th.at = end
	case unseal:
		if m.flaw == trimSealed {
			th.at, th.slot = trim, 0
			return true
		}
		s.sealed = false
		th.at = end
	case dropCell:
		s.rooted = false
		s.cellMarked = s.cellMarked || s.marking // what leads to it is a pointer on the heap
		th.at = end
	case storeNew, shareNew:
		s.objects++
		th.object = s.objects
		if s.marking {
			s.marked |= bit(th.object)
		}
		m.beginStore(th, a == shareNew)
	case storeLoaded, shareLoaded:
		m.beginStore(th, a == shareLoaded)
	case loadOwn, loadShared:
		th.shared, th.at = a == loadShared, loading
	}
	if th.at == end {
		m.finish(th, true)
	}
	return true
}

func (m *model) beginStore(th *modelThread, shared bool) {
	th.shared, th.at = shared, own
	if shared {
		th.at = wait
	}
	if m.flaw == noEntry {
		th.at = waitWord
	}
}

func (m *model) load(s *modelState, th *modelThread) {
	if s.gone {
		m.wrong = fmt.Sprintf("a load from a word that was handed out again: %+v", *s)
	}
	if m.flaw == loadAsNumber {
		th.number, th.at = s.word, numberLoaded
		return
	}
	th.object, th.at = s.word, loaded
	m.use(s, th)
}

func (m *model) use(s *modelState, th *modelThread) {
	if th.object != 0 && s.freed&bit(th.object) != 0 {
		m.wrong = fmt.Sprintf("a pointer to a freed object: %+v", *s)
	}
}

// finish goes on to what the thread does next.
func (m *model) finish(th *modelThread, keepsObject bool) {
	object := th.object
	*th = modelThread{action: th.action + 1}
	if keepsObject {
		th.object = object
	}
}

// stepOwn is storeOwn.
func (m *model) stepOwn(s *modelState, th *modelThread) bool {
	switch th.at {
	case own:
		switch {
		case s.use == pairFree || m.flaw == sharedPair:
			s.use = pairTaken
			th.at = ownRead
		default:
			th.at = wait
		}
	case ownRead:
		th.slot = 0
		if m.flaw != oneEntry && s.slots[0] != 0 && s.slots[0] == s.word {
			th.slot = 1
		}
		th.at = ownEntry
		if m.flaw == clearBeforeWord {
			m.set(s, 1-th.slot, 0)
		}
	case ownEntry:
		m.set(s, th.slot, th.object)
		th.at = ownWord
	case ownWord:
		s.word = th.object
		th.at = ownClear
	case ownClear:
		m.set(s, 1-th.slot, 0)
		th.at = ownRelease
	case ownRelease:
		th.at = ownList
		if s.use == pairStale {
			th.at, th.inOwn = pairTake, true
		}
		s.use = pairFree
	case ownList:
		switch {
		case m.flaw == listNotTidied || [modelEntries]uint8(s.slots[firstListed:]) == [modelEntries]uint8{}:
			m.finish(th, false)
		case s.locked:
			return false
		default:
			s.locked = true
			th.at, th.slot, th.inOwn = listRead, firstListed, true
			th.number = s.word
		}
	}
	return true
}

// stepOther is storeWaiting, what tidies, and what comes after a load.
func (m *model) stepOther(s *modelState, th *modelThread) bool {
	switch th.at {
	case wait:
		if s.locked {
			return false
		}
		s.locked = true
		th.at = waitEntry
	case waitEntry:
		th.slot = firstListed
		for s.slots[th.slot] != 0 || s.busy&(1<<th.slot) != 0 {
			th.slot++
		}
		m.set(s, th.slot, th.object)
		s.locked = false
		s.busy |= 1 << th.slot
		th.at = waitWord
		if m.flaw == doneBeforeWord {
			s.busy &^= 1 << th.slot
		}
	case waitWord:
		if th.shared && s.sealed {
			return false
		}
		s.word = th.object
		th.at = waitDone
		if m.flaw == noEntry {
			m.finish(th, false)
		}
	case waitDone:
		if s.locked {
			return false
		}
		s.locked = true
		s.busy &^= 1 << th.slot
		th.at, th.slot = listRead, firstListed
		th.number = s.word
	case listRead:
		if m.flaw != staleComparison {
			th.number = s.word
		}
		th.at = listClear
	case listClear:
		if p := s.slots[th.slot]; p != 0 && s.busy&(1<<th.slot) == 0 && p != th.number {
			m.set(s, th.slot, 0)
		}
		th.at = listRead
		if th.slot++; th.slot == modelSlots {
			s.locked = false
			th.at = pairTake
			if th.inOwn || m.flaw == pairNotTidied {
				m.finish(th, false)
			}
		}
	case pairTake, pairRead, pairClear, pairRelease, pairAgain:
		m.stepPair(s, th)
	case loading:
		if th.shared && s.sealed {
			return false
		}
		m.load(s, th)
	case loaded:
		m.use(s, th)
		m.finish(th, true)
	case numberLoaded:
		th.object, th.at = th.number, loaded
		m.use(s, th)
	case trim:
		th.number, th.at = s.word, trimRead
	case trimRead:
		if p := s.slots[th.slot]; p != 0 && p != th.number {
			m.set(s, th.slot, 0)
		}
		th.at = trim
		if th.slot++; th.slot == modelSlots {
			s.sealed = false
			m.finish(th, true)
		}
	}
	return true
}

// stepPair is tidyPair.
func (m *model) stepPair(s *modelState, th *modelThread) {
	leave := func() {
		if th.inOwn {
			th.at, th.inOwn = ownList, false
		} else {
			m.finish(th, false)
		}
	}
	switch th.at {
	case pairTake:
		if s.use != pairFree {
			if m.flaw != pairNotMarked {
				s.use = pairStale
			}
			leave()
			return
		}
		s.use = pairTaken
		th.at, th.slot = pairRead, 0
		th.number = s.word
	case pairRead:
		if m.flaw != staleComparison {
			th.number = s.word
		}
		th.at = pairClear
	case pairClear:
		if p := s.slots[th.slot]; p != 0 && p != th.number {
			m.set(s, th.slot, 0)
		}
		th.at = pairRead
		if th.slot++; th.slot == firstListed {
			th.at = pairRelease
		}
	case pairRelease:
		stale := s.use == pairStale
		s.use = pairFree
		if stale {
			th.at = pairAgain
		} else {
			leave()
		}
	case pairAgain:
		if s.use == pairFree {
			s.use = pairTaken
			th.at, th.slot = pairRead, 0
		} else {
			leave()
		}
	}
}

// modelPrograms are what goroutines do in the models, and longModelPrograms what they do in those
// that take minutes.
var (
	modelPrograms = [][modelThreads][]action{
		{{storeNew, dropCell}, {loadOwn}, {loadShared}},
		{{storeNew, storeNew}, {loadOwn, storeLoaded}},
		{{shareNew}, {loadOwn, shareLoaded}},
		{{seal, storeNew, unseal, storeNew}, {shareNew}},
		{{seal, storeNew, unseal}, {shareNew}, {loadOwn}},
	}
	longModelPrograms = [][modelThreads][]action{
		{{seal, storeNew, storeNew, unseal}, {shareNew}, {loadOwn}},
		{{seal, storeNew, storeNew, unseal}, {shareNew}, {loadShared, loadOwn}},
		{{storeNew, storeNew}, {loadOwn, storeLoaded}, {loadOwn}},
		{{storeNew}, {shareNew}, {loadOwn, shareLoaded}},
		{{storeNew, seal, loadOwn, storeLoaded, unseal}, {shareNew, shareNew}, {loadOwn}},
		{{storeNew, dropCell}, {loadOwn, storeLoaded}, {loadShared, shareLoaded}},
	}
)

var long = flag.Bool("long", false, "try larger models, and run under stress for an hour")

// exploreAll returns what is wrong with a flaw, and the number of states that were looked at.
func exploreAll(f flaw) (string, int) {
	states := 0
	programs := modelPrograms
	switch {
	case f != flawless:
		programs = slices.Concat(programs, longModelPrograms[:1]) // the end of which is not reached
	case *long:
		programs = slices.Concat(programs, longModelPrograms)
	}
	for _, p := range programs {
		m := &model{flaw: f, programs: p}
		wrong := m.explore()
		states += len(m.seen)
		if wrong != "" {
			return wrong, states
		}
	}
	return "", states
}

// TestNoPointerIsLostInAnyInterleaving: whatever the order of stores, loads, sections and the
// collector's steps, what is loaded is alive, and no entry is left over.
func TestNoPointerIsLostInAnyInterleaving(t *testing.T) {
	wrong, states := exploreAll(flawless)
	if wrong != "" {
		t.Error(wrong)
	}
	t.Logf("%d states", states)
}

// TestModelKnowsWrongWays: the model would have found each way to do it that is wrong.
func TestModelKnowsWrongWays(t *testing.T) {
	for f, name := range flaws {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			if wrong, _ := exploreAll(f); wrong == "" {
				t.Error("nothing is wrong")
			}
		})
	}
}
