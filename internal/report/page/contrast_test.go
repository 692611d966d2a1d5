package page

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestTextHasEnoughContrast: of all colours in which text is written, on all on which it may
// stand, 4.5 to 1 or more, in both themes, as WCAG asks for.
func TestTextHasEnoughContrast(t *testing.T) {
	style, err := asset("style.css")
	if err != nil {
		t.Fatal(err)
	}
	for _, theme := range []string{`:root {`, `:root[data-theme="dark"] {`} {
		_, block, _ := strings.Cut(style, theme)
		block, _, _ = strings.Cut(block, "}")
		colours := map[string]string{}
		for _, m := range regexp.MustCompile(`--([a-z0-9-]+): (#[0-9a-f]{6})`).FindAllStringSubmatch(block, -1) {
			colours[m[1]] = m[2]
		}
		on := map[string][]string{
			"ink": {"bg", "panel", "code", "hover", "select", "bad-soft"}, "soft": {"bg", "panel", "code", "hover"}, "faint": {"panel", "code"},
			"accent": {"panel", "accent-soft", "code"}, "bad": {"panel", "bad-soft", "select"}, "warn": {"panel", "warn-soft"}, "good": {"panel", "good-soft"},
			"key": {"panel", "select"}, "string": {"panel"}, "comment": {"panel"}, "number": {"panel"},
		}
		for i := range 8 {
			on[fmt.Sprintf("lane%d", i)] = []string{"panel", "code"}
		}
		for text, backs := range on {
			for _, back := range backs {
				if colours[text] == "" || colours[back] == "" {
					t.Errorf("%s has no colour %s or %s", theme, text, back)
					continue
				}
				if ratio := contrast(t, colours[text], colours[back]); ratio < 4.5 {
					t.Errorf("%s %s on %s has a contrast of %.2f", theme, text, back, ratio)
				}
			}
		}
	}
}

// contrast is that of WCAG 2.
func contrast(t *testing.T, x, y string) float64 {
	t.Helper()
	luminance := func(colour string) float64 {
		n, err := strconv.ParseUint(colour[1:], 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		part := func(shift uint) float64 {
			c := float64(n>>shift&0xff) / 255
			if c <= 0.04045 {
				return c / 12.92
			}
			return math.Pow((c+0.055)/1.055, 2.4)
		}
		return 0.2126*part(16) + 0.7152*part(8) + 0.0722*part(0)
	}
	a, b := luminance(x), luminance(y)
	return (max(a, b) + 0.05) / (min(a, b) + 0.05)
}
