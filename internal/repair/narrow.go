package repair

import "slices"

// maxDisturbedWords is for how many words of memory sections are proposed by themselves. Each may come to
// several candidates, of which a few can be tried.
const maxDisturbedWords = 4

// disturbedWords are the words of memory of which a single one shows that an operation was disturbed. The
// deeper the calls are that were, the earlier a word comes: the less has to be in a section.
func disturbedWords(pairs []disturbance) []uint64 {
	depths := make(map[uint64]int)
	var words []uint64
	for _, pair := range pairs {
		for _, t := range pair[0] {
			if depths[t.word] > 0 {
				continue
			}
			if narrowed := onWord([]disturbance{pair}, t.word); len(narrowed) > 0 {
				depths[t.word] = max(1, commonDepth(narrowed[0][0]), commonDepth(narrowed[0][1]))
				words = append(words, t.word)
			}
		}
	}
	slices.SortStableFunc(words, func(a, b uint64) int { return depths[b] - depths[a] })
	return words[:min(len(words), maxDisturbedWords)]
}

// onWord are the disturbances that accesses to a word are by themselves, in the innermost calls.
func onWord(pairs []disturbance, word uint64) []disturbance {
	var all []disturbance
	for _, pair := range pairs {
		var only disturbance
		for side, touches := range pair {
			for _, t := range touches {
				if t.word == word {
					only[side] = append(only[side], t)
				}
			}
		}
		if only.is() {
			all = append(all, only)
		}
	}
	return innermost(all)
}

// innermost are disturbances with no more than the accesses of the innermost calls that were disturbed.
func innermost(pairs []disturbance) []disturbance {
	var all []disturbance
	for _, pair := range pairs {
		for side := range pair {
			pair[side] = innermostDisturbed(pair[side], pair[1-side])
		}
		all = append(all, pair)
	}
	return all
}

// innermostDisturbed are those of an operation's accesses that its innermost call made between whose accesses
// another operation's came; all, if there is none.
func innermostDisturbed(touches, by []touch) []touch {
	for depth := 1; ; depth++ {
		calls := make(map[uint32][]touch)
		for _, t := range touches {
			if len(t.calls) > depth {
				calls[t.calls[depth].ID] = append(calls[t.calls[depth].ID], t)
			}
		}
		found := false
		for _, t := range touches { // in the order of the run
			if len(t.calls) <= depth {
				continue
			}
			made := calls[t.calls[depth].ID]
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
func conflicting(some, others []touch) []touch {
	var all []touch
	for _, t := range some {
		if slices.ContainsFunc(others, func(o touch) bool { return o.word == t.word && (o.write || t.write) }) {
			all = append(all, t)
		}
	}
	return all
}

// commonDepth is how many calls, from the operation on, all of some accesses were made in.
func commonDepth(touches []touch) int {
	depth := len(touches[0].calls)
	for _, t := range touches {
		for depth > len(t.calls) || depth > 0 && t.calls[depth-1].ID != touches[0].calls[depth-1].ID {
			depth--
		}
	}
	return depth
}
