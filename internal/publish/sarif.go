package publish

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/cofferdam-go/cofferdam/internal/finding"
)

// A Report is what one call of Cofferdam has to tell.
type Report struct {
	Command string // the subcommand
	Version string // of Cofferdam; "" if it has none
	Root    string // what names of files are relative to, see Root
	Results []Result
	// Gaps is what was not looked at, a sentence each; nothing is silent.
	Gaps []string
}

const (
	schemaURI = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
	homePage  = "https://github.com/cofferdam-go/cofferdam"
	rootName  = "%SRCROOT%"
)

// Names of fingerprints. GitHub knows a finding by the one that it computes itself of the first
// line where a tool gives none of that name; ours stays the same when the line is changed.
const (
	lineHash = "primaryLocationLineHash"
	outline  = "cofferdamOutline/v1"
	identity = "cofferdamFinding/v1"
)

// WriteSARIF writes a report as a SARIF log.
func WriteSARIF(out io.Writer, report *Report) error {
	w := &sarifWriter{root: report.Root, lines: map[string][]string{}, outlines: map[finding.ID]int{}}
	run := sarif.NewRunWithInformationURI("Cofferdam", homePage)
	if report.Version != "" {
		run.Tool.Driver.WithVersion(report.Version)
	}
	run.WithAutomationDetails(sarif.NewRunAutomationDetails().WithID("cofferdam-" + report.Command + "/"))
	run.WithColumnKind("unicodeCodePoints")
	run.OriginalUriBaseIds = map[string]sarif.ArtifactLocation{rootName: *sarif.NewSimpleArtifactLocation(fileURI(strings.TrimSuffix(report.Root, "/") + "/"))}
	used := usedKinds(report.Results)
	for _, kind := range used {
		rule, about := run.AddRule(ruleID(kind)), ruleOf(kind)
		rule.WithName(ruleName(kind)).WithDescription(about.short)
		rule.WithShortDescription(sarif.NewMultiformatMessageString().WithText(about.short))
		rule.WithHelp(sarif.NewMultiformatMessageString().WithText(about.help))
		rule.WithDefaultConfiguration(sarif.NewReportingConfiguration().WithLevel(about.level))
	}
	for i := range report.Results {
		run.AddResult(w.result(&report.Results[i], slices.Index(used, report.Results[i].Kind)))
	}
	invocation := sarif.NewInvocation().WithExecutionSuccessful(true)
	for _, gap := range report.Gaps {
		invocation.AddToolExecutionNotification(sarif.NewNotification().WithLevel(levelWarning).WithMessage(sarif.NewTextMessage(gap)))
	}
	run.AddInvocation(invocation)
	log := sarif.NewReport()
	log.Schema = schemaURI
	log.AddRun(run)
	return encode(out, log)
}

// encode writes a log without what says nothing: the library writes every number and list that
// was not set, which is most of the text of a flow.
func encode(out io.Writer, log *sarif.Report) error {
	text, err := json.Marshal(log)
	if err != nil {
		return fmt.Errorf("writing SARIF: %w", err)
	}
	var plain any
	if err := json.Unmarshal(text, &plain); err != nil {
		return fmt.Errorf("writing SARIF: %w", err)
	}
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false) // names of functions are full of < and >
	enc.SetIndent("", "  ")
	if err := enc.Encode(prune(plain)); err != nil {
		return fmt.Errorf("writing SARIF: %w", err)
	}
	return nil
}

// unsetValues are what the library writes for a number or word that was not set; they are the
// schema's defaults.
var unsetValues = map[string]any{
	"byteOffset": -1.0, "charOffset": -1.0, "id": -1.0, "index": -1.0, "rank": -1.0, "executionOrder": -1.0, "parentIndex": -1.0,
	"importance": "important", "language": "en-US", "kind": "fail", "isComprehensive": false, "enabled": true,
	"offsetFromParent": nil,
}

// prune leaves out what is as by default. A run without results says so by an empty list, and
// keeps it.
func prune(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for key, v := range value {
			v = prune(v)
			list, isList := v.([]any)
			object, isObject := v.(map[string]any)
			unset, known := unsetValues[key]
			switch {
			case isList && len(list) == 0 && key != "results", isObject && len(object) == 0, known && unset == v:
				delete(value, key)
			default:
				value[key] = v
			}
		}
	case []any:
		for i := range value {
			value[i] = prune(value[i])
		}
	}
	return value
}

// usedKinds are the kinds of some results, in the order of kinds.
func usedKinds(results []Result) []finding.Kind {
	var used []finding.Kind
	for _, kind := range finding.Kinds {
		if slices.ContainsFunc(results, func(r Result) bool { return r.Kind == kind }) {
			used = append(used, kind)
		}
	}
	return used
}

// A sarifWriter makes the parts of a log.
type sarifWriter struct {
	root  string
	lines map[string][]string // of files that were read, to count columns
	// outlines counts results of the same outline, which are told apart by their order.
	outlines map[finding.ID]int
}

func (w *sarifWriter) result(r *Result, ruleIndex int) *sarif.Result {
	result := sarif.NewRuleResult(ruleID(r.Kind)).WithRuleIndex(ruleIndex).WithLevel(ruleOf(r.Kind).level).WithMessage(sarif.NewTextMessage(r.Message()))
	w.outlines[r.Outline()]++
	stable := fmt.Sprintf("%v:%d", r.Outline(), w.outlines[r.Outline()])
	result.PartialFingerprints = map[string]string{lineHash: stable, outline: stable, identity: r.ID().String()}
	for i := range r.Accesses {
		a := &r.Accesses[i]
		at := w.location(ownSite(w.root, a))
		at.Message = sarif.NewTextMessage(whatWasDone(r, a))
		if i == 0 {
			result.AddLocation(at)
		} else {
			result.AddRelatedLocation(at)
		}
		if len(a.Stack) > 1 {
			result.AddStack(w.stack(r, a))
		}
	}
	if r.Guard.Site.File != "" {
		at := w.location(r.Guard.Site)
		at.Message = sarif.NewTextMessage("the lock " + r.Guard.String())
		result.AddRelatedLocation(at)
	}
	for i, at := range result.RelatedLocations {
		at.ID = i + 1
	}
	if flow := w.codeFlow(r); flow != nil {
		result.AddCodeFlow(flow)
	}
	if r.Count > 1 {
		result.WithOccurrenceCount(int(r.Count))
	}
	if r.Fix != nil {
		result.AddFixe(w.fix(r.Fix))
	}
	return result
}

// whatWasDone says what an access of a result was; of a step that nothing else is known of, what came of it.
func whatWasDone(r *Result, a *finding.Access) string {
	if a.Op == finding.Step && a.Target == "" {
		return string(r.Kind)
	}
	return a.What()
}

// ownSite is where an access is shown: its site, unless that is not below the root, or has no place in
// a file, while a caller has.
func ownSite(root string, a *finding.Access) finding.Frame {
	site := a.Site()
	best := site
	for _, f := range append([]finding.Frame{site}, a.Stack...) {
		if f.Line == 0 {
			continue
		}
		if _, below := relative(root, f.File); below {
			return f
		}
		if best.Line == 0 {
			best = f
		}
	}
	return best
}

// location is a place in the source. One whose file is not known has a function alone.
func (w *sarifWriter) location(at finding.Frame) *sarif.Location {
	place := sarif.NewLocation()
	if at.Function != "" {
		place.AddLogicalLocation(sarif.NewLogicalLocation().WithFullyQualifiedName(at.Function).WithKind("function"))
	}
	if at.File == "" {
		return place
	}
	physical := sarif.NewPhysicalLocation().WithArtifactLocation(w.artifact(at.File))
	if at.Line > 0 {
		region := sarif.NewRegion().WithStartLine(at.Line)
		if column := w.column(at); column > 0 {
			region.WithStartColumn(column)
		}
		physical.WithRegion(region)
	}
	return place.WithPhysicalLocation(physical)
}

func (w *sarifWriter) artifact(name string) *sarif.ArtifactLocation {
	short, below := relative(w.root, name)
	if !below {
		return sarif.NewSimpleArtifactLocation(fileURI(short))
	}
	return sarif.NewSimpleArtifactLocation((&url.URL{Path: short}).EscapedPath()).WithURIBaseID(rootName)
}

// column counts the characters before a byte of a line, which is what columns are here; 0 if it
// is not known.
func (w *sarifWriter) column(at finding.Frame) int {
	if at.Column <= 1 {
		return at.Column
	}
	lines, read := w.lines[at.File]
	if !read {
		lines = text(at.File)
		w.lines[at.File] = lines
	}
	if at.Line > len(lines) || at.Column > len(lines[at.Line-1]) {
		return 0 // another text than that which was analysed
	}
	return utf8.RuneCountInString(lines[at.Line-1][:at.Column-1]) + 1
}

func (w *sarifWriter) fix(f *Fix) *sarif.Fix {
	fix := sarif.NewFix().WithDescription(sarif.NewTextMessage(f.Description))
	for _, file := range f.Files {
		change := sarif.NewArtifactChange().WithArtifactLocation(w.artifact(file.Name))
		for _, r := range replacements(file.Before, file.After) {
			region := sarif.NewRegion().WithStartLine(r.startLine).WithStartColumn(1).WithEndLine(r.endLine).WithEndColumn(r.endColumn)
			change.AddReplacement(sarif.NewReplacement().WithDeletedRegion(region).WithInsertedContent(sarif.NewArtifactContent().WithText(r.text)))
		}
		fix.AddArtifactChange(change)
	}
	return fix
}
