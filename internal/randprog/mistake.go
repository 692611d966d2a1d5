package randprog

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// A Mistake is a random package that makes one of the mistakes for which no lock is missing, in
// random surroundings: other names, methods or functions, generic types or plain ones, several
// places that make the mistake, work before and behind it, and places that look like it but must
// not be changed.
//
// Its drives are functions that use the package and return what came of it. One is shown to the
// fixer, in a test that fails; the others do what the test does not.
type Mistake struct {
	Draws  Draws
	Family string
	// Source is the package and Test a test, both without a package clause; Drive has the
	// functions of Drives.
	Source, Test, Drive string
	Drives              []MistakeDrive
}

// A MistakeDrive is a function that uses a package.
type MistakeDrive struct {
	Name string
	// Want is what it may return. It must return, leave no goroutine waiting, and have no race.
	Want []string
}

// MistakeImports are the packages that mistakes and their changes import.
var MistakeImports = []string{"errors", "fmt", "slices", "strings", "sync", "sync/atomic"}

// NewMistake makes the mistake of a seed.
func NewMistake(seed uint64) *Mistake {
	return generateMistake(&source{rng: rand.New(rand.NewPCG(seed, 0x5ea9e))})
}

// families are the mistakes.
var families = []struct {
	name string
	make func(*mistakeGen)
}{
	{"start", (*mistakeGen).start}, {"check again", (*mistakeGen).checkAgain}, {"guarded send", (*mistakeGen).guardedSend},
	{"select", (*mistakeGen).selectDone}, {"double lock", (*mistakeGen).doubleLock}, {"callback", (*mistakeGen).callback},
	{"signal", (*mistakeGen).signal}, {"first error", (*mistakeGen).firstError}, {"words", (*mistakeGen).words},
	{"add", (*mistakeGen).lateAdd}, {"close", (*mistakeGen).closeTwice}, {"order", (*mistakeGen).lockOrder},
	{"release", (*mistakeGen).missingRelease}, {"held over", (*mistakeGen).heldOver}, {"reply", (*mistakeGen).reply},
	{"capture", (*mistakeGen).capture}, {"join", (*mistakeGen).join},
}

// A mistakeGen makes one mistake.
type mistakeGen struct {
	*source
	names  map[string]string
	body   strings.Builder // of the package
	drives []mistakeBody
}

// A mistakeBody is a drive with its statements, which return a string.
type mistakeBody struct {
	MistakeDrive
	text string
}

func generateMistake(s *source) *Mistake {
	g := &mistakeGen{source: s, names: make(map[string]string)}
	family := families[g.pick(len(families))]
	g.chooseNames()
	family.make(g)
	m := &Mistake{Family: family.name, Source: g.withImports(g.expand(g.body.String()))}
	var all strings.Builder
	for _, d := range g.drives {
		m.Drives = append(m.Drives, d.MistakeDrive)
		fmt.Fprintf(&all, "func %s() string {\n%s}\n\n", d.Name, d.text)
	}
	m.Drive = g.withImports(showFunction + g.expand(all.String()))
	shown := g.drives[0]
	m.Test = g.withImports(showFunction + g.expand(fmt.Sprintf("func %s() string {\n%s}\n\nfunc TestIt(t *testing.T) {\n\tif got := %s(); !slices.Contains(%#v, got) {\n\t\tt.Errorf(\"got %%q\", got)\n\t}\n}\n",
		shown.Name, shown.text, shown.Name, shown.Want)))
	m.Draws = s.list[:s.used:s.used]
	return m
}

// showFunction tells values; the judge knows it by its name.
const showFunction = "func show(args ...any) string { return strings.TrimSpace(fmt.Sprintln(args...)) }\n\n"

// write adds to the package. Words in brackets become names.
func (g *mistakeGen) write(text string) { g.body.WriteString(strings.TrimLeft(text, "\n") + "\n") }

// drive adds a drive.
func (g *mistakeGen) drive(text string, want ...string) {
	name := fmt.Sprintf("drive%d", len(g.drives))
	g.drives = append(g.drives, mistakeBody{MistakeDrive{name, want}, strings.TrimLeft(text, "\n")})
}

// one of some texts.
func (g *mistakeGen) one(texts ...string) string { return texts[g.pick(len(texts))] }

// chooseNames gives names to the words that families use in brackets.
func (g *mistakeGen) chooseNames() {
	for _, word := range []struct {
		word  string
		names []string
	}{
		{"T", []string{"Store", "Hub", "worker", "Session"}}, {"x", []string{"s", "h", "self", "w"}}, {"mu", []string{"mu", "lock", "guard"}},
		{"n", []string{"n", "count", "total"}}, {"flag", []string{"closed", "stopped", "done_"}}, {"c", []string{"c", "events", "queue"}},
		{"m", []string{"m", "items", "entries"}}, {"A", []string{"Add", "Put", "set"}}, {"B", []string{"Read", "Peek", "value"}},
		{"C", []string{"Close", "Stop", "shut"}}, {"D", []string{"Each", "Apply", "run"}}, {"quit", []string{"quit", "stopC", "bye"}},
		{"err", []string{"err", "failure", "problem"}}, {"wg", []string{"wg", "group", "workers"}},
	} {
		g.names[word.word] = word.names[g.pick(len(word.names))]
	}
}

// expand puts names in the place of words in brackets, and work in the place of WORK.
func (g *mistakeGen) expand(text string) string {
	for word, name := range g.names {
		text = strings.ReplaceAll(text, "<"+word+">", name)
	}
	for i := 0; strings.Contains(text, "\tWORK\n"); i++ {
		text = strings.Replace(text, "\tWORK\n", g.work(i), 1)
	}
	return text
}

// work is something that has nothing to do with the mistake.
func (g *mistakeGen) work(i int) string {
	switch g.pick(5) {
	case 1:
		return fmt.Sprintf("\tsum%d := 0\n\tfor i := range 2 {\n\t\tsum%d += i\n\t}\n\t_ = sum%d\n", i, i, i)
	case 2:
		return fmt.Sprintf("\tif limit%d := %d; limit%d < 0 {\n\t\tpanic(\"negative\")\n\t}\n", i, g.pick(9), i)
	case 3:
		return fmt.Sprintf("\tlabel%d := \"x\"\n\t_ = label%d + \"y\"\n", i, i)
	}
	return ""
}

// withImports puts the imports that a text needs in front of it.
func (g *mistakeGen) withImports(text string) string {
	var all []string
	for path, use := range map[string]string{"sync": "sync.", "errors": "errors.", "fmt": "fmt.", "slices": "slices.", "strings": "strings.", "testing": "testing."} {
		if strings.Contains(text, use) {
			all = append(all, path)
		}
	}
	slices.Sort(all)
	var b strings.Builder
	for _, path := range all {
		fmt.Fprintf(&b, "import %q\n", path)
	}
	return b.String() + "\n" + text
}
