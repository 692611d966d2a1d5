package draw

import "regexp"

// Notation matches what only the engine writes: labels of loads, values that nothing is known
// about, operators and functions that no language has. What is shown to people has none of it.
//
//	load(load(t11@b2.2) + 16@b2.3)[16:17]    <any>    BadAddr(r3)    x =~ y
var Notation = regexp.MustCompile(`@b\d+\.\d|load\((t\d|r\d|load\()|=~|BadAddr\(|Raced\(|\.captured\d|\bt\d+\[|<(any|len|argument|captured|result|too large|call of [^>]*)>|\{load\(`)
