package lanes

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
)

// ChunkSteps is how many steps a chunk has: few enough for a page to take one apart between two
// pictures, and enough for the compression to find what repeats.
const ChunkSteps = 2048

// A Chunk is what the index says of some steps in a row.
type Chunk struct {
	First    int `json:"first"`
	Steps    int `json:"n"`
	Relevant int `json:"m"`
	// Offset and Length are where the steps are in the data, LinkOffset and LinkLength the links.
	Offset     int `json:"o"`
	Length     int `json:"l"`
	LinkOffset int `json:"lo"`
	LinkLength int `json:"ll"`
	// Lanes counts steps, and those of them that matter: lane, steps, relevant ones; Kinds does so by
	// kind.
	Lanes [][3]int `json:"g"`
	Kinds [][3]int `json:"k"`
	// Variables are those in it; null stands for more than are listed.
	Variables []int `json:"v"`
}

// mostVariables is how many variables the index tells of a chunk.
const mostVariables = 64

// chunkColumns are the steps of a chunk, a list for each property. Texts are written once, and by
// number afterwards; 0 is none. Numbers that may be missing are written plus 1.
type chunkColumns struct {
	Seq      []uint64 `json:"q"` // differences to the one before
	Lane     []int    `json:"g"`
	Kind     []int    `json:"k"`
	Site     []int    `json:"s"`
	Stack    []int    `json:"c"`
	Variable []int    `json:"v"`
	Held     []int    `json:"h"`
	Before   []int    `json:"b"`
	After    []int    `json:"a"`
	Object   []int    `json:"o"`
	What     []int    `json:"w"`
	Relevant []int    `json:"m"` // the relevant steps, as differences
	Texts    []string `json:"t"`
}

// A chunkWriter collects steps.
type chunkWriter struct {
	chunks []Chunk
	pieces [][]byte // compressed, of each chunk
	open   chunkColumns
	first  int
	steps  int
	last   uint64 // Seq of the step before in the chunk
	lastM  int
	texts  map[string]int
	err    error
}

func (w *chunkWriter) text(s string) int {
	if s == "" {
		return 0
	}
	if w.texts == nil {
		w.texts = map[string]int{}
	}
	at, ok := w.texts[s]
	if !ok {
		w.open.Texts = append(w.open.Texts, s)
		at = len(w.open.Texts)
		w.texts[s] = at
	}
	return at
}

func (w *chunkWriter) add(s *step) {
	c := &w.open
	c.Seq = append(c.Seq, s.seq-w.last)
	w.last = s.seq
	c.Lane, c.Kind, c.Site = append(c.Lane, s.lane+1), append(c.Kind, s.kind), append(c.Site, s.site)
	c.Stack, c.Variable, c.Held = append(c.Stack, s.stack+1), append(c.Variable, s.variable+1), append(c.Held, s.held)
	c.Before, c.After = append(c.Before, w.text(s.before)), append(c.After, w.text(s.after))
	c.Object, c.What = append(c.Object, w.text(s.object)), append(c.What, w.text(s.what))
	if s.relevant {
		at := len(c.Lane) - 1
		c.Relevant = append(c.Relevant, at-w.lastM)
		w.lastM = at
	}
	w.steps++
	if len(c.Lane) == ChunkSteps {
		w.flush()
	}
}

// flush ends the chunk.
func (w *chunkWriter) flush() {
	c := &w.open
	if len(c.Lane) == 0 {
		return
	}
	chunk := Chunk{First: w.first, Steps: len(c.Lane), Relevant: len(c.Relevant), Lanes: [][3]int{}, Kinds: [][3]int{}, Variables: []int{}}
	relevant := make([]bool, len(c.Lane))
	at := 0
	for _, diff := range c.Relevant {
		at += diff
		relevant[at] = true
	}
	lanes, kinds := counter{}, counter{}
	for i, l := range c.Lane {
		lanes.count(&chunk.Lanes, l-1, relevant[i])
		kinds.count(&chunk.Kinds, c.Kind[i], relevant[i])
		if v := c.Variable[i] - 1; v >= 0 && chunk.Variables != nil && !slices.Contains(chunk.Variables, v) {
			if chunk.Variables = append(chunk.Variables, v); len(chunk.Variables) > mostVariables {
				chunk.Variables = nil
			}
		}
	}
	w.chunks = append(w.chunks, chunk)
	w.pieces = append(w.pieces, w.pack(c))
	w.first += len(c.Lane)
	w.open, w.last, w.lastM, w.texts = chunkColumns{}, 0, 0, nil
}

// A counter finds an entry of a list of counts by what it counts.
type counter map[int]int

func (c counter) count(list *[][3]int, what int, relevant bool) {
	at, ok := c[what]
	if !ok {
		at = len(*list)
		c[what] = at
		*list = append(*list, [3]int{what, 0, 0})
	}
	(*list)[at][1]++
	if relevant {
		(*list)[at][2]++
	}
}

// pack compresses a value.
func (w *chunkWriter) pack(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		w.fail(err)
		return nil
	}
	var out bytes.Buffer
	z, err := flate.NewWriter(&out, flate.BestCompression)
	if err != nil {
		w.fail(err)
		return nil
	}
	_, err = z.Write(data)
	w.fail(err)
	w.fail(z.Close())
	return out.Bytes()
}

func (w *chunkWriter) fail(err error) {
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("packing steps: %w", err)
	}
}

// finish returns the index and the data. A link is in the chunks of both its ends, so that each of
// them can draw it without the other.
func (w *chunkWriter) finish(links []link) ([]Chunk, []byte, error) {
	w.flush()
	byChunk := make([][]link, len(w.chunks))
	for _, l := range links {
		from, to := l.from/ChunkSteps, l.to/ChunkSteps
		byChunk[from] = append(byChunk[from], l)
		if to != from {
			byChunk[to] = append(byChunk[to], l)
		}
	}
	var data []byte
	place := func(piece []byte) (offset, length int) {
		offset = len(data)
		data = base64.StdEncoding.AppendEncode(data, piece)
		return offset, len(data) - offset
	}
	for i := range w.chunks {
		c := &w.chunks[i]
		c.Offset, c.Length = place(w.pieces[i])
		var columns [3][]int
		for _, l := range byChunk[i] {
			columns[0], columns[1], columns[2] = append(columns[0], l.from), append(columns[1], l.to), append(columns[2], int(l.kind))
		}
		c.LinkOffset, c.LinkLength = place(w.pack(columns))
	}
	if w.chunks == nil {
		w.chunks = []Chunk{}
	}
	return w.chunks, data, w.err
}
