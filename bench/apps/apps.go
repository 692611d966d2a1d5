// Package apps holds the three applications of the Isolator paper's figure 11,
// each a small program of its own with a package of its own:
//
//	filescan    pfscan: workers scan files whose names come through a queue
//	httpclient  httpclient: cookies in a trie, transfers on a stack
//	linearhash  lkrhash: a hash table in parts that grow bucket by bucket
//
// Each runs in the variants of package variant with the same algorithms, and each
// trial checks what it computed against something that does not depend on the
// shared data: the keywords counted when the files were made, the server that
// refuses wrong cookies, a Go map.
package apps

import (
	"github.com/cofferdam-go/cofferdam/bench/apps/filescan"
	"github.com/cofferdam-go/cofferdam/bench/apps/httpclient"
	"github.com/cofferdam-go/cofferdam/bench/apps/linearhash"
	"github.com/cofferdam-go/cofferdam/bench/measure"
)

// Cases are the applications; quick ones do about a tenth of the work. It is a
// [measure.Source]. Call [Cleanup] when the last of them has run.
func Cases(quick bool) []measure.Case {
	return []measure.Case{filescan.Case(quick), httpclient.Case(quick), linearhash.Case(quick)}
}

// Cleanup removes the temporary files that the cases have made.
func Cleanup() error { return filescan.Cleanup() }
