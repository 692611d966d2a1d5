package manual

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/command"
	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/topics"
)

func sample() []*command.Command {
	c := command.New("sample", "[things]", "be tested, and 'quoted'")
	c.Long = "Sample does \\ nothing.\n\n.TH is no request here."
	c.Flags.Bool("v", false, "talk: a lot")
	c.Flags.String("run", "", "a `regexp`, as for go test")
	return []*command.Command{c}
}

func TestThePageNamesEveryCommandAndFlag(t *testing.T) {
	text := page(sample(), topics.All)
	for _, want := range []string{".SS cofferdam sample", `\fB\-v\fR`, `\fB\-run\fR \fIregexp\fR`, `Sample does \e nothing.`, "\n\\&.TH is", ".SS exitcodes"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

// TestThePageHasNoEmptyParagraphs, of which formatters warn.
func TestThePageHasNoEmptyParagraphs(t *testing.T) {
	text := page(sample(), topics.All)
	for _, next := range []string{".PP", ".TP", ".SS", ".SH"} {
		if strings.Contains(text, ".PP\n"+next) {
			t.Errorf("an empty paragraph before %s in\n%s", next, text)
		}
	}
}

func TestShellsUnderstandTheScripts(t *testing.T) {
	for shell, script := range scripts {
		text := script(sample())
		if !strings.Contains(text, "sample") || !strings.Contains(text, "run") {
			t.Errorf("%s: the command or its flag is missing:\n%s", shell, text)
		}
		path, err := exec.LookPath(shell)
		if err != nil {
			t.Logf("%s is not here: its script was not tried", shell)
			continue
		}
		check := exec.Command(path, "-n")
		check.Stdin = strings.NewReader(text)
		if out, err := check.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s\n%s", shell, err, out, text)
		}
	}
}

func TestBashCompletesCommandsFlagsTopicsAndFiles(t *testing.T) {
	path, err := exec.LookPath("bash")
	if err != nil {
		t.Log("bash is not here: its script was not tried")
		return
	}
	t.Chdir(t.TempDir())
	if err := os.WriteFile("a run.trace", nil, 0o666); err != nil {
		t.Fatal(err)
	}
	ask := bash(sample())
	for _, words := range []string{"sample -r", "sa", "help exi", "help sam", "completion b", "sample a"} {
		ask += fmt.Sprintf("COMP_WORDS=(cofferdam %s); COMP_CWORD=%d; _cofferdam; (IFS=,; echo \"${COMPREPLY[*]}\")\n", words, len(strings.Fields(words)))
	}
	out, err := exec.Command(path, "-c", ask).CombinedOutput()
	if err != nil || string(out) != "-run\nsample\nexitcodes\nsample\nbash\na run.trace\n" {
		t.Errorf("%v: %s", err, out)
	}
}
