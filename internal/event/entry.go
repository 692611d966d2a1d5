package event

// An Entry is what a map holds for a key. As the Before or After of an event it is a word with the
// lengths, then the key and the value, each filled up with zeros to whole words, so that what holds
// pointers can be told by words in it as in other memory.
type Entry struct {
	Key, Value []byte
	// Held says that the map has the key. An entry that is held without a value is one whose
	// value is not known, or takes no memory.
	Held bool
	// KeyKind and ValueKind are the kinds of their types, as package reflect numbers them; 0 if they are
	// not known. A site has the types, but for those that are a parameter of the function.
	KeyKind, ValueKind uint8
}

// Of a key and a value this much is kept, so that both fit into MaxValue bytes.
const (
	MaxKey   = 24
	maxEntry = 32
	word     = 8
)

// Put writes the entry to memory, and returns how much it takes.
func (e Entry) Put(to *[MaxValue]byte) int {
	*to = [MaxValue]byte{}
	key, value := e.Key[:min(len(e.Key), MaxKey)], e.Value[:min(len(e.Value), maxEntry)]
	to[0], to[1] = byte(len(key)), byte(len(value))
	if to[2] = 1; e.Held { // 0 would be no entry
		to[2] = 2
	}
	to[3], to[4] = e.KeyKind, e.ValueKind
	n := word + copy(to[word:], key)
	n = whole(n)
	return whole(n + copy(to[n:], value))
}

// whole fills a length up to whole words.
func whole(n int) int { return (n + word - 1) / word * word }

// EntryOf reads what Put wrote; ok is false if that is something else.
func EntryOf(from []byte) (e Entry, ok bool) {
	if len(from) < word || from[2] < 1 || from[2] > 2 {
		return e, false
	}
	key, value := int(from[0]), int(from[1])
	at := whole(word + key)
	if at+value > len(from) {
		return e, false
	}
	return Entry{Key: from[word : word+key], Value: from[at : at+value], Held: from[2] == 2, KeyKind: from[3], ValueKind: from[4]}, true
}
