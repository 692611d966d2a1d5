package event

import (
	"encoding"
	"encoding/json"
	"testing"
)

func TestEveryKindHasAName(t *testing.T) {
	seen := map[string]Kind{}
	for _, k := range Kinds() {
		name := k.String()
		if name == "" {
			t.Errorf("kind %d has no name", k)
		}
		if other, ok := seen[name]; ok {
			t.Errorf("kinds %d and %d are both %q", k, other, name)
		}
		seen[name] = k
	}
	if None.Valid() || kinds.Valid() || !Load.Valid() || !Random.Valid() {
		t.Error("Valid is wrong at the ends")
	}
}

func TestSeverityIsTheOrderOfFailureKinds(t *testing.T) {
	want := []FailureKind{FailureLeak, FailureRace, FailureTest, FailureExit, FailurePartialDeadlock, FailureDeadlock, FailureFatal, FailurePanic, FailureCrash}
	if len(want) != int(failureKinds)-1 {
		t.Fatalf("%d kinds, want %d", failureKinds-1, len(want))
	}
	for i := range want {
		if i > 0 && want[i] <= want[i-1] {
			t.Errorf("%v is not more severe than %v", want[i], want[i-1])
		}
	}
}

// named is what a value of each of the enumerations can do.
type named interface {
	encoding.TextMarshaler
	String() string
}

// roundTrip writes and reads all values of an enumeration below a limit.
func roundTrip[T interface {
	~uint8
	named
}](t *testing.T, limit T) {
	t.Helper()
	seen := map[string]bool{}
	for v := T(0); v < limit; v++ {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatalf("%T %d: %v", v, v, err)
		}
		if name := v.String(); seen[name] {
			t.Errorf("%T: %q twice", v, name)
		} else {
			seen[name] = true
		}
		var back T
		if err := json.Unmarshal(data, &back); err != nil || back != v {
			t.Errorf("%T %d is written as %s and read as %d: %v", v, v, data, back, err)
		}
	}
	if _, err := json.Marshal(limit); err == nil {
		t.Errorf("%T %d has no name, and is written", limit, limit)
	}
	var back T
	if err := json.Unmarshal([]byte(`"no such name"`), &back); err == nil {
		t.Errorf("%T: a name that does not exist is read as %d", back, back)
	}
	if limit.String() == "" {
		t.Errorf("%T %d says nothing of itself", limit, limit)
	}
}

func TestNamesSurviveJSON(t *testing.T) {
	roundTrip(t, kinds)
	roundTrip(t, failureKinds)
	roundTrip(t, failureCauses)
	roundTrip(t, endings)
	roundTrip(t, waitShapes)
}
