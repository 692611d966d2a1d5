package lint

import (
	"path"
	"regexp"
	"strings"
	"testing"
)

// vague are words for a subject that is not named. A goroutine waits, a section stores, a commit
// ends an attempt: the reader of a sentence about "somebody" has to find out which of them it is.
var vague = regexp.MustCompile(`(?i)\b(somebody|someone|whoever)\b`)

func TestCommentsAndDocumentsNameWhatActs(t *testing.T) {
	for _, folder := range folders() {
		for _, f := range products()[folder] {
			for _, group := range f.syntax.Comments {
				for _, c := range group.List {
					if word := vague.FindString(c.Text); word != "" {
						t.Errorf("%s: a comment speaks of %q: name the goroutine, section or code that it is", f.at(c), word)
					}
				}
			}
		}
	}
	files(t, func(file string, lines []string) {
		for i, l := range lines {
			if word := vague.FindString(l); word != "" {
				t.Errorf("%s:%d: a document speaks of %q: name the goroutine, section or code that it is", file, i+1, word)
			}
		}
	}, ".md")
}

// heading is a question that RATIONALE.md answers.
var heading = regexp.MustCompile(`(?m)^## (.*)$`)

// TestRationaleAnswersEachQuestionOnce: each heading is a question, and no two are the same, so that
// a link leads to the answer.
func TestRationaleAnswersEachQuestionOnce(t *testing.T) {
	files(t, func(file string, lines []string) {
		if file != "RATIONALE.md" {
			return
		}
		seen := map[string]bool{}
		for _, m := range heading.FindAllStringSubmatch(strings.Join(lines, "\n"), -1) {
			if question := m[1]; !strings.HasSuffix(question, "?") || seen[question] {
				t.Errorf("RATIONALE.md: %q is no question, or is asked twice", question)
			}
			seen[m[1]] = true
		}
	}, ".md")
}

// TestGlossaryDefinesEachWordOnce: the words of a row are divided by commas. A word with two meanings
// is there with what it is of.
func TestGlossaryDefinesEachWordOnce(t *testing.T) {
	files(t, func(file string, lines []string) {
		if file != "GLOSSARY.md" {
			return
		}
		seen := map[string]bool{}
		for i, l := range lines {
			cells := strings.Split(l, " | ")
			if !strings.HasPrefix(l, "| ") || len(cells) < 2 || strings.HasPrefix(l, "| word |") {
				continue
			}
			for word := range strings.SplitSeq(strings.TrimPrefix(cells[0], "| "), ", ") {
				if seen[word] {
					t.Errorf("GLOSSARY.md:%d: %s is defined twice", i+1, word)
				}
				seen[word] = true
			}
		}
	}, ".md")
}

// link is a link of a document to a place in this repository: a file, a heading, or both.
var link = regexp.MustCompile(`\]\(([^)# ]*)(?:#([^)]*))?\)`)

// notInAnchors is what a heading has and its anchor does not.
var notInAnchors = regexp.MustCompile(`[^\p{L}\p{N} _-]`)

// TestLinksOfDocumentsLeadSomewhere: to a file that is there, and to a heading that it has.
func TestLinksOfDocumentsLeadSomewhere(t *testing.T) {
	anchors := map[string]map[string]bool{} // by file
	present := map[string]bool{}
	files(t, func(file string, lines []string) {
		present[file] = true
		if !strings.HasSuffix(file, ".md") {
			return
		}
		anchors[file] = map[string]bool{}
		for _, l := range lines {
			if text, ok := strings.CutPrefix(strings.TrimLeft(l, "#"), " "); ok && strings.HasPrefix(l, "#") {
				anchors[file][strings.ReplaceAll(notInAnchors.ReplaceAllString(strings.ToLower(text), ""), " ", "-")] = true
			}
		}
	}, "")
	files(t, func(from string, lines []string) {
		inCode := false
		for i, l := range lines {
			if strings.HasPrefix(l, "```") {
				inCode = !inCode
			}
			if inCode {
				continue
			}
			for _, m := range link.FindAllStringSubmatch(l, -1) {
				file, anchor := m[1], m[2]
				if strings.Contains(file, ":") {
					continue // another site
				}
				to := from
				if file != "" {
					to = path.Join(path.Dir(from), file)
				}
				switch {
				case !present[to]:
					t.Errorf("%s:%d: there is no %s", from, i+1, to)
				case anchor != "" && !anchors[to][anchor]:
					t.Errorf("%s:%d: %s has no heading for #%s", from, i+1, to, anchor)
				}
			}
		}
	}, ".md")
}
