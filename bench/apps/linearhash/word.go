package linearhash

// MaxKey is the length of the longest key.
const MaxKey = 23

// A word is a key where there can be no string.
type word struct {
	length uint8
	bytes  [MaxKey]byte
}

func newWord(key string) word {
	w := word{length: uint8(len(key))}
	copy(w.bytes[:], key)
	return w
}

// is reports whether the word is this key.
func (w *word) is(key string) bool { return string(w.bytes[:w.length]) == key }

// String is the word as a string.
func (w *word) String() string { return string(w.bytes[:w.length]) }

// hash is FNV-1a, whose upper bits know little of the last bytes: hence the last
// step.
func hash(key string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(key) {
		h = (h ^ uint64(key[i])) * 1099511628211
	}
	return (h ^ h>>32) * 0x9e3779b97f4a7c15
}
