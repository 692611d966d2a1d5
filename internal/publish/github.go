package publish

import (
	"fmt"
	"io"
	"strings"
)

// WriteGitHub writes a line for each result that GitHub, where it stands in the output of a
// step, shows as an annotation beside the source:
//
//	::error file=toctou/toctou.go,line=12,title=data race::data race at toctou.go:12: write of count, and ...
func WriteGitHub(w io.Writer, root string, results []Result) error {
	for i := range results {
		r := &results[i]
		properties := []string{}
		if len(r.Accesses) > 0 {
			if site := ownSite(root, &r.Accesses[0]); site.File != "" {
				if short, below := relative(root, site.File); below {
					properties = append(properties, "file="+escapeProperty(short))
					if site.Line > 0 {
						properties = append(properties, fmt.Sprintf("line=%d", site.Line))
					}
				}
			}
		}
		title := "Cofferdam: " + string(r.Kind)
		if r.Run != nil && r.Run.Test != "" {
			title += " in " + r.Run.Test
		}
		properties = append(properties, "title="+escapeProperty(title))
		level := ruleOf(r.Kind).level
		if level == levelNote {
			level = "notice"
		}
		if _, err := fmt.Fprintf(w, "::%s %s::%s\n", level, strings.Join(properties, ","), escapeData(r.Message())); err != nil {
			return fmt.Errorf("writing annotations: %w", err)
		}
	}
	return nil
}

// escapeData keeps a text on one line, as the runner takes it apart.
var escapeData = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace

// escapeProperty does the same for what stands between commas.
var escapeProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace
