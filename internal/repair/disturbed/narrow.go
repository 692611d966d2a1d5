package disturbed

import "slices"

// maxWords is for how many words of memory sections are proposed by themselves. Each may come to
// several candidates, of which a few can be tried.
const maxWords = 4

// Words are the words of memory of which a single one shows that an operation was disturbed. The
// deeper the calls are that were, the earlier a word comes: the less has to be in a section.
func Words(pairs []Pair) []uint64 {
	depths := make(map[uint64]int)
	var words []uint64
	for _, pair := range pairs {
		for _, t := range pair[0] {
			if depths[t.Word] > 0 {
				continue
			}
			if narrowed := OnWord([]Pair{pair}, t.Word); len(narrowed) > 0 {
				depths[t.Word] = max(1, CommonDepth(narrowed[0][0]), CommonDepth(narrowed[0][1]))
				words = append(words, t.Word)
			}
		}
	}
	slices.SortStableFunc(words, func(a, b uint64) int { return depths[b] - depths[a] })
	return words[:min(len(words), maxWords)]
}

// OnWord are the disturbances that accesses to a word are by themselves, in the innermost calls.
func OnWord(pairs []Pair, word uint64) []Pair {
	var all []Pair
	for _, pair := range pairs {
		var only Pair
		for side, touches := range pair {
			for _, t := range touches {
				if t.Word == word {
					only[side] = append(only[side], t)
				}
			}
		}
		if only.is() {
			all = append(all, only)
		}
	}
	return Innermost(all)
}

// Innermost are disturbances with no more than the accesses of the innermost calls that were disturbed.
func Innermost(pairs []Pair) []Pair {
	var all []Pair
	for _, pair := range pairs {
		for side := range pair {
			pair[side] = innermostOf(pair[side], pair[1-side])
		}
		all = append(all, pair)
	}
	return all
}

// innermostOf are those of an operation's accesses that its innermost call made between whose accesses
// another operation's came; all, if there is none.
func innermostOf(touches, by []Touch) []Touch {
	for depth := 1; ; depth++ {
		calls := make(map[uint32][]Touch)
		for _, t := range touches {
			if len(t.Calls) > depth {
				calls[t.Calls[depth].ID] = append(calls[t.Calls[depth].ID], t)
			}
		}
		found := false
		for _, t := range touches { // in the order of the run
			if len(t.Calls) <= depth {
				continue
			}
			made := calls[t.Calls[depth].ID]
			if comesBetween(conflicting(by, made), made) {
				touches, found = made, true
				break
			}
		}
		if !found {
			return touches
		}
	}
}

// conflicting are those of some accesses that are to the memory of others, where one of the two writes.
func conflicting(some, others []Touch) []Touch {
	var all []Touch
	for _, t := range some {
		if slices.ContainsFunc(others, func(o Touch) bool { return o.Word == t.Word && (o.Write || t.Write) }) {
			all = append(all, t)
		}
	}
	return all
}

// CommonDepth is how many calls, from the operation on, all of some accesses were made in.
func CommonDepth(touches []Touch) int {
	depth := len(touches[0].Calls)
	for _, t := range touches {
		for depth > len(t.Calls) || depth > 0 && t.Calls[depth-1].ID != touches[0].Calls[depth-1].ID {
			depth--
		}
	}
	return depth
}
