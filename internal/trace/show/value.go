package show

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// A layout is the text of [trace.Site].Type: a word for what lies in memory,
//
//	bool int8 uint16 float64 complex128 string ...   as the language calls it
//	pointer                                          maps, channels and functions, too
//	slice interface
//	duration time                                    time.Duration and time.Time
//	[3x8]T                                           with the size of an element
//	struct{0 name T; 8 name T}                       with the offset of each field
//	map{K}V                                          an entry of a map, see event.Entry
//
// in the memory of a machine of 64 bits that stores the low byte first.

// typed shows memory as a value; ok is false if it is not all there, or the layout is
// not understood.
func (p *Printer) typed(v []byte, layout string, seq uint64) (text string, ok bool) {
	text, rest, ok := p.layoutValue(v, layout, seq)
	return text, ok && rest == ""
}

// layoutValue shows what a layout begins with, and returns what follows it there.
func (p *Printer) layoutValue(v []byte, layout string, seq uint64) (text, rest string, ok bool) {
	switch {
	case strings.HasPrefix(layout, "["):
		return p.arrayValue(v, layout, seq)
	case strings.HasPrefix(layout, "struct{"):
		return p.structValue(v, layout, seq)
	}
	end := strings.IndexAny(layout, ";}")
	if end < 0 {
		end = len(layout)
	}
	word := layout[:end]
	size := wordSizes[word]
	if size == 0 || len(v) < size {
		return "", "", false
	}
	return p.wordValue(v, word, seq), layout[end:], true
}

// wordSizes are the sizes of what has a word.
var wordSizes = map[string]int{
	"bool": 1, "int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4, "int64": 8, "uint64": 8,
	"int": 8, "uint": 8, "uintptr": 8, "byte": 1, "rune": 4, "float32": 4, "float64": 8, "complex64": 8, "complex128": 16,
	"string": 16, "pointer": 8, "slice": 24, "interface": 16, "duration": 8, "time": 24,
}

// kindWord is the word for what has a kind; "" if the kind does not say how it lies in memory.
func kindWord(kind uint8) string {
	switch k := reflect.Kind(kind); k {
	case reflect.Pointer, reflect.UnsafePointer, reflect.Chan, reflect.Map, reflect.Func:
		return "pointer"
	case reflect.Invalid, reflect.Struct, reflect.Array:
		return ""
	default:
		return k.String()
	}
}

func (p *Printer) wordValue(v []byte, word string, seq uint64) string {
	le := binary.LittleEndian
	float := func(at int) float64 { return math.Float64frombits(le.Uint64(v[at:])) }
	float32 := func(at int) float64 { return float64(math.Float32frombits(le.Uint32(v[at:]))) }
	switch word {
	case "bool":
		return strconv.FormatBool(v[0] != 0)
	case "int8":
		return strconv.Itoa(int(int8(v[0])))
	case "uint8", "byte":
		return strconv.Itoa(int(v[0]))
	case "int16":
		return strconv.Itoa(int(int16(le.Uint16(v))))
	case "uint16":
		return strconv.Itoa(int(le.Uint16(v)))
	case "int32", "rune":
		return strconv.Itoa(int(int32(le.Uint32(v))))
	case "uint32":
		return strconv.FormatUint(uint64(le.Uint32(v)), 10)
	case "int", "int64":
		return strconv.FormatInt(int64(le.Uint64(v)), 10)
	case "uint", "uint64":
		return strconv.FormatUint(le.Uint64(v), 10)
	case "uintptr":
		return fmt.Sprintf("%#x", le.Uint64(v))
	case "float32":
		return strconv.FormatFloat(float32(0), 'g', -1, 32)
	case "float64":
		return strconv.FormatFloat(float(0), 'g', -1, 64)
	case "complex64":
		return strconv.FormatComplex(complex(float32(0), float32(4)), 'g', -1, 64)
	case "complex128":
		return strconv.FormatComplex(complex(float(0), float(8)), 'g', -1, 128)
	case "string":
		return p.stringValue(le.Uint64(v), le.Uint64(v[8:]))
	case "pointer":
		return p.pointerValue(le.Uint64(v), seq)
	case "slice":
		return p.sliceValue(le.Uint64(v), le.Uint64(v[8:]), le.Uint64(v[16:]), seq)
	case "interface":
		if le.Uint64(v) == 0 {
			return "nil"
		}
		return fmt.Sprintf("interface(%#x, %s)", le.Uint64(v), p.pointerValue(le.Uint64(v[8:]), seq))
	case "duration":
		return time.Duration(le.Uint64(v)).String()
	case "time":
		return timeValue(le.Uint64(v), int64(le.Uint64(v[8:])))
	}
	panic("show: a word of a layout without a form: " + word)
}

func (p *Printer) pointerValue(addr, seq uint64) string {
	if addr == 0 {
		return "nil"
	}
	if name := p.name(addr, seq); name != "" {
		return fmt.Sprintf("%#x (%s)", addr, name)
	}
	return fmt.Sprintf("%#x", addr)
}

func (p *Printer) sliceValue(addr, length, capacity, seq uint64) string {
	if addr == 0 && length == 0 {
		return "nil"
	}
	return fmt.Sprintf("slice(len %d, cap %d, at %s)", length, capacity, p.pointerValue(addr, seq))
}

func (p *Printer) stringValue(addr, length uint64) string {
	if length == 0 {
		return `""`
	}
	if text, ok := p.texts[[2]uint64{addr, length}]; ok {
		if more := length - uint64(len(text)); more > 0 {
			return fmt.Sprintf("%q and %d bytes more", text, more)
		}
		return strconv.Quote(text)
	}
	return fmt.Sprintf("string(len %d, at %#x)", length, addr)
}

// timeValue shows a time.Time by its first two words. Either the first has 33 bits of
// seconds since 1885 and the second a reading of the monotonic clock, or the second has
// the seconds since the year 1; the low bits of the first are nanoseconds.
func timeValue(wall uint64, ext int64) string {
	const monotonic, nanoseconds = 1 << 63, 1<<30 - 1
	if wall == 0 && ext == 0 {
		return "zero time"
	}
	since := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).Unix() + ext
	if wall&monotonic != 0 {
		since = time.Date(1885, 1, 1, 0, 0, 0, 0, time.UTC).Unix() + int64(wall<<1>>31)
	}
	return time.Unix(since, int64(wall&nanoseconds)).UTC().Format(time.RFC3339Nano)
}

// arrayValue shows as many elements as there are bytes for.
func (p *Printer) arrayValue(v []byte, layout string, seq uint64) (text, rest string, ok bool) {
	var n, size int
	head, elem, _ := strings.Cut(layout, "]")
	if _, err := fmt.Sscanf(head, "[%dx%d", &n, &size); err != nil || size < 0 {
		return "", "", false
	}
	if rest, ok = skipLayout(elem); !ok {
		return "", "", false
	}
	var parts []string
	for i := range n {
		if len(v) < size || len(v) == 0 {
			parts = append(parts, fmt.Sprintf("and %d more", n-i))
			break
		}
		one, _, ok := p.layoutValue(v, elem, seq)
		if !ok {
			return "", "", false
		}
		parts, v = append(parts, one), v[size:]
	}
	return "[" + strings.Join(parts, " ") + "]", rest, true
}

// skipLayout returns what follows the first layout of a text.
func skipLayout(text string) (rest string, ok bool) {
	depth := 0
	for i, c := range text {
		switch {
		case depth == 0 && (c == ';' || c == '}'):
			return text[i:], true
		case c == '{':
			depth++
		case c == '}':
			depth--
		}
	}
	return "", depth == 0
}

// structValue shows as many fields as there are bytes for.
func (p *Printer) structValue(v []byte, layout string, seq uint64) (text, rest string, ok bool) {
	rest = strings.TrimPrefix(layout, "struct{")
	var parts []string
	for !strings.HasPrefix(rest, "}") {
		offset, named, _ := strings.Cut(strings.TrimPrefix(rest, "; "), " ")
		name, elem, found := strings.Cut(named, " ")
		at, err := strconv.ParseUint(offset, 10, 32)
		if !found || err != nil {
			return "", "", false
		}
		if rest, ok = skipLayout(elem); !ok {
			return "", "", false
		}
		if at >= uint64(len(v)) {
			parts = append(parts, name+":...")
			continue
		}
		one, _, ok := p.layoutValue(v[at:], elem, seq)
		if !ok {
			one = "..."
		}
		parts = append(parts, name+":"+one)
	}
	return "{" + strings.Join(parts, " ") + "}", rest[1:], true
}
