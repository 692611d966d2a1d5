package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/report/page"
)

// TestTheListOfACampaignIsNoPartOfItsSentence: Markdown takes a line right below an item for more of it.
func TestTheListOfACampaignIsNoPartOfItsSentence(t *testing.T) {
	var out bytes.Buffer
	d := &page.Document{Title: "Campaign", Sentences: []string{"It goes on."}, Campaign: &page.Campaign{Targets: make([]page.CampaignTarget, 2)}}
	if err := WriteMarkdown(&out, d); err != nil {
		t.Fatal(err)
	}
	if want := "1. It goes on.\n\n2 tests, 0 findings\n"; !strings.HasSuffix(out.String(), want) {
		t.Errorf("%s\nwant the end to be\n%s", &out, want)
	}
}
