package campaigns

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/campaign"
)

// A byteSize is a number of bytes that is written as people do.
type byteSize int64

var byteUnits = []struct {
	name string
	size int64
}{{"TB", 1 << 40}, {"GB", 1 << 30}, {"MB", 1 << 20}, {"KB", 1 << 10}, {"B", 1}}

func (b byteSize) String() string {
	for _, u := range byteUnits {
		if int64(b) >= u.size {
			return strings.Replace(fmt.Sprintf("%.1f%s", float64(b)/float64(u.size), u.name), ".0", "", 1)
		}
	}
	return "0"
}

// Set reads a size.
func (b *byteSize) Set(text string) error {
	for _, u := range byteUnits {
		if number, ok := strings.CutSuffix(strings.ToUpper(text), u.name); ok {
			text = number
			var n float64
			if _, err := fmt.Sscanf(text, "%g", &n); err == nil && n > 0 {
				*b = byteSize(n * float64(u.size))
				return nil
			}
			break
		}
	}
	return errors.New("give a size with its unit, such as 500MB or 2GB")
}

// findingLine says in a line what a finding is.
func findingLine(r *campaign.Record) string {
	text, _, _ := strings.Cut(r.Finding.Sentence(), "\n")
	text, _, _ = strings.Cut(text, "; ")
	return fmt.Sprintf("%s  %-5s  %s.%s  %s", r.ID, r.Status, r.Package, r.Test, text)
}

// plural is a number with the words for one or for several.
func plural(n int, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, several)
}
