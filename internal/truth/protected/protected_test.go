package protected

import (
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/randprog/sharing"
)

// TestViolationsAreDifferences: programs that are free of races have none, and each is told once, of the program in whose functions
// it was found.
func TestViolationsAreDifferences(t *testing.T) {
	programs := []sharing.Program{{Name: "P0"}, {Name: "P1"}, {Name: "P2"}}
	told := `lock  guards
violation: careless read of T.n at world.go:3, once (surrendered)
    example.com/p/p0.(*T).found
    example.com/p/p0.P2.func1

violation: careless write of T.n at world.go:4, once (delayed)
    example.com/p/p0.P2
violation: careless write of Item.n, once (delayed)
    (stack not known)
`
	all := violations(programs, Way{}, told)
	if len(all) != 2 || all[0].Program.Name != "P2" || all[0].Protected != "violation: careless read of T.n at world.go:3, once (surrendered)" {
		t.Fatalf("the differences are %v", all)
	}
	if all[1].Program.Name != "" {
		t.Errorf("a violation that no program is known for is one of %s", all[1].Program.Name)
	}
	if none := violations(programs, Way{}, "lock  guards\n"); len(none) > 0 {
		t.Errorf("nothing was told, and the differences are %v", none)
	}
}
