package txcompile_test

import (
	"path/filepath"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/txcompile/txprog"
)

// TestRandomProgramsMeanTheSame holds compiled programs against the same programs under one
// lock, and against themselves in the order of their transactions. Many more are tried by go
// run ./bench stm-fuzz.
func TestRandomProgramsMeanTheSame(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	v, err := txprog.Judgement{Dir: t.TempDir(), Module: root, Seed: 1, Programs: 12, Rounds: 2}.Judge(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if v.Wrong != "" {
		t.Error(v.Wrong)
	}
	t.Log(v.Effects, v.Stats)
}
