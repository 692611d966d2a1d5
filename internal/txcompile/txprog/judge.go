package txprog

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/cofferdam-go/cofferdam/internal/gotool"
	"github.com/cofferdam-go/cofferdam/internal/txcompile"
)

// A Judgement says how programs are judged.
type Judgement struct {
	Dir      string // an empty directory
	Module   string // where the module is that has package stm
	Seed     uint64 // of the first program
	Programs int
	Rounds   int // how often the programs are run with several goroutines
}

// A Verdict is what came of it.
type Verdict struct {
	Effects int    // places at which transactions work in place
	Stats   string // of the last concurrent run of the compiled programs
	Wrong   string // what is wrong, "" if nothing is
}

// Judge builds programs with and without -stm, and compares.
func (j Judgement) Judge(ctx context.Context) (Verdict, error) {
	mod := "module example.com/m\n\ngo 1.26.0\n\nrequire github.com/cofferdam-go/cofferdam v0.0.0\n\nreplace github.com/cofferdam-go/cofferdam => " + j.Module + "\n"
	for name, text := range map[string]string{"go.mod": mod, "main.go": Generate(j.Seed, j.Programs)} {
		if err := os.WriteFile(filepath.Join(j.Dir, name), []byte(text), 0o666); err != nil {
			return Verdict{}, err
		}
	}
	build, err := txcompile.Prepare(txcompile.Config{Dir: j.Dir})
	if err != nil {
		return Verdict{}, err
	}
	defer build.Close()
	v := Verdict{Effects: len(build.Effects)}
	plain, err := j.build(ctx, "plain", nil)
	if err != nil {
		return v, err
	}
	compiled, err := j.build(ctx, "compiled", build.Flags)
	if err != nil {
		v.Wrong = err.Error()
		return v, nil
	}
	want, err := run(ctx, plain, "sequential")
	if err != nil {
		return v, err
	}
	got, err := run(ctx, compiled, "sequential")
	if err != nil || got != want {
		v.Wrong = fmt.Sprintf("one after the other, the compiled programs do not do the same (compare %s sequential and %s sequential): %v", plain, compiled, err)
		return v, nil
	}
	for range j.Rounds {
		for _, program := range []string{plain, compiled} {
			if v.Stats, err = run(ctx, program, "concurrent"); err != nil {
				v.Wrong = fmt.Sprintf("%s concurrent: %v\n%s", program, err, v.Stats)
				return v, nil
			}
		}
	}
	return v, nil
}

func (j Judgement) build(ctx context.Context, name string, flags []string) (program string, err error) {
	program = filepath.Join(j.Dir, name)
	args := append(append([]string{"build"}, flags...), "-o", program, ".")
	if out, err := gotool.New(j.Dir, nil).Command(ctx, args...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the %s programs: %w\n%.2000s", name, err, out)
	}
	return program, nil
}

func run(ctx context.Context, program, how string) (string, error) {
	cmd := exec.CommandContext(ctx, program, how)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=4")
	out, err := cmd.CombinedOutput()
	return string(out), err
}
