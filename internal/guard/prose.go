package guard

import (
	"regexp"
	"strings"
	"unicode"
)

// annotationPattern is the form that gVisor's checklocks reads.
var annotationPattern = regexp.MustCompile(`(?m)^\s*\+checklocks(?:read)?:([\w.]+)\s*$`)

// ignorePattern is the annotation of a function that checklocks is to leave alone.
var ignorePattern = regexp.MustCompile(`(?m)^\s*\+checklocksignore\s*$`)

// annotation returns the lock that a field's comments annotate it with, "" for none.
func annotation(text string) string {
	if m := annotationPattern.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

func functionAnnotations(doc string) []string {
	var list []string
	for _, m := range annotationPattern.FindAllStringSubmatch(doc, -1) {
		list = append(list, m[1])
	}
	return list
}

var (
	guardedBy = regexp.MustCompile(`(?i)\b(?:guarded|protected|synchroni[sz]ed|locked|covered|secured|access(?:ed)?|read|written|modif\w+|must|requires?|hold|holding|holds|under)\b([^.;]*)`)
	protects  = regexp.MustCompile(`(?i)\b(?:protect(?:s|ing)?|guard(?:s|ing)?|cover(?:s|ing)?|synchroni[sz]\w*|serializ\w*|locks?)\b((?s:.*))`)
	word      = regexp.MustCompile(`(?:\bnon-)?[A-Za-z_]\w*`) // non-data is a word that names no data
	wholeType = regexp.MustCompile(`(?i)\b(?:everything|all(?: of)?(?: the)? (?:other )?fields|all (?:the )?(?:following|below|other|of)|the rest|(?:this|the) (?:whole )?(?:struct|type))\b`)
	following = regexp.MustCompile(`(?i)\b(?:following|below|these|next|remaining|fields)\b`)
	ofSome    = regexp.MustCompile(`(?i)\bagainst\b`) // "guards the reader of a against what empties it"
	negation  = regexp.MustCompile(`(?i)\b(?:not|never|without|no|immutable|read-?only|n't)\b`)
)

// namesLock reports whether a comment on data says that the lock guards it.
func namesLock(text, lock string) bool {
	for _, sentence := range sentences(text) {
		if negation.MatchString(sentence) {
			continue
		}
		for _, m := range guardedBy.FindAllStringSubmatch(sentence, -1) {
			for _, w := range word.FindAllString(m[1], -1) {
				if w == lock || lock == "Mutex" && (w == "lock" || w == "mutex" || w == "mu") {
					return true
				}
			}
		}
	}
	return false
}

// A coverage is how much a comment on a lock promises to protect, the greater the more certain it is that some data
// is meant.
type coverage uint8

const (
	coversNothing coverage = iota
	coversBelow            // what stands below the lock
	coversAll              // all of the struct
	coversByName           // the data, by its name
)

// coverageOf reads what a comment on a lock promises for some data.
func coverageOf(comment, data string) coverage {
	promised := coversNothing
	for _, sentence := range sentences(comment) {
		m := protects.FindStringSubmatch(sentence)
		if m == nil || negation.MatchString(sentence) || ofSome.MatchString(sentence) {
			continue
		}
		for _, w := range word.FindAllString(m[1], -1) {
			if w == data {
				return coversByName
			}
		}
		rest := strings.TrimSpace(m[1])
		switch {
		case wholeType.MatchString(rest):
			promised = coversAll
		case following.MatchString(rest) || rest == "" || rest == ":":
			promised = max(promised, coversBelow)
		}
	}
	return promised
}

// sentences splits a comment; its lines are joined first. A dot inside s.mu does
// not end a sentence.
func sentences(text string) []string {
	return strings.FieldsFunc(strings.ReplaceAll(strings.ReplaceAll(text, "\n", " "), ". ", "\x00"), func(r rune) bool { return r == 0 || r == ';' })
}

// lockedSuffixes are endings of names that say that the caller holds the lock.
var lockedSuffixes = []string{"Locked", "_locked", "LockHeld", "NoLock", "WithoutLock", "WithoutLocking", "NoLocking", "Unlocked"}

func isLockedName(name string) bool {
	switch strings.ToLower(name) {
	case "locked", "islocked", "unlocked", "isunlocked", "nolock":
		return false
	}
	for _, s := range lockedSuffixes {
		if strings.HasSuffix(name, s) {
			return true
		}
	}
	return false
}

var (
	holds   = regexp.MustCompile(`(?i)\b(?:hold|holds|held|holding|having|acquired|locked|taken)\b`)
	demands = regexp.MustCompile(`(?i)\b(?:must|should|needs?|callers?|called with|called while|assum\w+|requires?|expects?|with|while)\b`)
	aLock   = regexp.MustCompile(`\b(?:(?i:mu|mutex|lock|mtx)|\w+(?:Mu|Mutex|Lock|Mtx)|\w+_(?:mu|mutex|lock|mtx))\b`) // and no block
)

// callerHolds reports whether a function's comment asks its caller to hold a lock.
func callerHolds(doc string) bool {
	for _, s := range sentences(doc) {
		if holds.MatchString(s) && demands.MatchString(s) && aLock.MatchString(s) && !negation.MatchString(s) {
			return true
		}
	}
	return false
}

// namedAfter reports whether a lock is named after data: connsMu, muConns,
// lockForConns and conns.
func namedAfter(lock, data string) bool {
	words := camel(lock)
	var rest []string
	for _, w := range words {
		switch w {
		case "mu", "mutex", "lock", "mtx", "rw", "for", "m", "l":
		default:
			rest = append(rest, w)
		}
	}
	if len(rest) == 0 || len(rest) == len(words) {
		return false
	}
	d := strings.Join(camel(data), "")
	r := strings.Join(rest, "")
	return d == r || d == r+"s" || d+"s" == r || strings.HasPrefix(d, r)
}

// camel splits a name into its words, in lower case.
func camel(name string) []string {
	var words []string
	var current []rune
	flush := func() {
		if len(current) > 0 {
			words = append(words, strings.ToLower(string(current)))
		}
		current = nil
	}
	runes := []rune(name)
	for i, r := range runes {
		switch {
		case r == '_':
			flush()
			continue
		case unicode.IsUpper(r) && i > 0 && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			flush()
		}
		current = append(current, r)
	}
	flush()
	return words
}
