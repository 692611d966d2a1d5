package tolerate

import (
	"strings"
	"testing"
	"unsafe"
)

// TestHalfAStringIsTold: careless code is between the two stores that a string takes.
func TestHalfAStringIsTold(t *testing.T) {
	name := "whole"
	(*textHeader)(unsafe.Pointer(&name)).data = nil
	l := Label{Name: "half a name", Lock: "mu"}
	Settle(&name, "a", "a", &l)
	if told := toldOf(t, "half a name"); !strings.Contains(told, "careless code made it half of a string") {
		t.Errorf("it is told %q", told)
	}
}

type locked int

func (locked) String() string { panic("the lock is held") }

// TestMethodsAreNotCalledToTell: they may take the lock that the section has.
func TestMethodsAreNotCalledToTell(t *testing.T) {
	n := locked(3)
	l := Label{Name: "a number with a method", Lock: "mu"}
	Settle(&n, 1, 1, &l)
	if told := toldOf(t, "a number with a method"); !strings.Contains(told, "it was 1, careless code made it 3") {
		t.Errorf("it is told %q", told)
	}
}

// toldOf returns the explanation of the finding about a variable.
func toldOf(t *testing.T, name string) string {
	t.Helper()
	for _, f := range Findings() {
		if f.Accesses[0].Target == name {
			return f.Explanation
		}
	}
	t.Fatalf("nothing is told of %s", name)
	return ""
}
