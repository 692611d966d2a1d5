package drive

import "testing"

func TestATracerIsFoundInTheStatusOfAThread(t *testing.T) {
	for status, want := range map[string]int{
		"Name:\tdlv\nTracerPid:\t0\nUid:\t0\n":    0,
		"Name:\tdlv\nTracerPid:\t4711\nUid:\t0\n": 4711,
		"Name:\tTracerPid:\n":                     0,
		"TracerPid:\t":                            0,
	} {
		if got := tracedBy([]byte(status)); got != want {
			t.Errorf("%q: %d, want %d", status, got, want)
		}
	}
	if traced() {
		t.Error("this test is not traced")
	}
}
