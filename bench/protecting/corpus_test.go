package protecting

import (
	"maps"
	"strings"
	"testing"
)

// TestEndingsOfTestsThatAreCutOff: a package that runs out of time says nothing of the tests that
// were running then, whatever the go command calls it.
func TestEndingsOfTestsThatAreCutOff(t *testing.T) {
	const stdout = `{"Action":"run","Package":"a","Test":"TestOne"}
{"Action":"pass","Package":"a","Test":"TestOne"}
{"Action":"run","Package":"a","Test":"TestTwo/0xc0001"}
{"Action":"run","Package":"a","Test":"TestThree"}
{"Action":"output","Package":"a","Test":"TestThree","Output":"panic: test timed out after 1s\\n"}
{"Action":"fail","Package":"a","Test":"TestThree"}
{"Action":"fail","Package":"a"}
no JSON
{"Action":"run","Package":"b","Test":"TestOne"}
{"Action":"fail","Package":"b","Test":"TestOne"}
{"Action":"run","Package":"b","Test":"TestOne"}
{"Action":"pass","Package":"b","Test":"TestOne"}
`
	got := endings(strings.NewReader(stdout))
	want := map[string]string{
		"a": outOfTime, "a TestOne": "pass", "a TestTwo/0x": outOfTime, "a TestThree": outOfTime, "b TestOne": "not always the same",
	}
	if !maps.Equal(got, want) {
		t.Errorf("it is %v, want %v", got, want)
	}
	if !after(got, "a TestFour") || after(got, "b TestTwo") || after(got, "a TestOne") {
		t.Error("a test that never began is taken for one that ended otherwise, or the other way round")
	}
}
