// Package parts loads values of which programs use parts.
package parts

type settings struct {
	host string
	port int
	tags []string
}

var (
	current settings
	words   []string
	name    string
	ages    map[string]int
	value   any
)

func useStruct() (string, int) { s := current; return s.host, s.port }

func useSlice() int { return len(words) }

func useText() int { return len(name) }

func useInterface() bool { return value == nil }

func useMap(key string) (int, bool) { n, ok := ages[key]; return n, ok }
