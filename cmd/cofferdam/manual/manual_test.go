package manual

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/command"
)

func sample() []*command.Command {
	c := command.New("sample", "[things]", "be tested, and 'quoted'")
	c.Long = "Sample does \\ nothing.\n\n.TH is no request here."
	c.Flags.Bool("v", false, "talk: a lot")
	c.Flags.String("run", "", "a `regexp`, as for go test")
	return []*command.Command{c}
}

func TestThePageNamesEveryCommandAndFlag(t *testing.T) {
	text := page(sample())
	for _, want := range []string{".SS cofferdam sample", `\fB\-v\fR`, `\fB\-run\fR \fIregexp\fR`, `Sample does \e nothing.`, "\n\\&.TH is"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
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

func TestBashCompletesFlagsOfTheCommand(t *testing.T) {
	path, err := exec.LookPath("bash")
	if err != nil {
		t.Log("bash is not here: its script was not tried")
		return
	}
	ask := bash(sample()) + "COMP_WORDS=(cofferdam sample -r); COMP_CWORD=2; _cofferdam; echo ${COMPREPLY[@]}\nCOMP_WORDS=(cofferdam sa); COMP_CWORD=1; _cofferdam; echo ${COMPREPLY[@]}\n"
	out, err := exec.Command(path, "-c", ask).CombinedOutput()
	if err != nil || string(out) != "-run\nsample\n" {
		t.Errorf("%v: %s", err, out)
	}
}
