package intruder

import "bytes"

// A detector looks for attacks. Each goroutine has its own.
type detector struct {
	folded []byte // the data that is looked at, in lower case
}

// attack reports whether there is a signature in the data, in whatever case.
func (d *detector) attack(data []byte) bool {
	d.folded = d.folded[:0]
	for _, c := range data {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		d.folded = append(d.folded, c)
	}
	for _, s := range signatures {
		if bytes.Contains(d.folded, s) {
			return true
		}
	}
	return false
}

// signatures are what attacks look like.
var signatures = bytes.Fields([]byte(`
	anchor ballast barge beacon bilge boom bow bridge bulkhead buoy cable cabin
	canal capstan cargo channel chart cleat compass current davit deck derrick dock
	draft dredge fathom ferry fleet flood funnel galley gauge harbor hatch hawser
	helm hold hull jetty keel knot ladder lagoon lantern lock mast mooring oar
	paddle pier pilot piling port pump quay rudder sail sluice stern tide tiller
	timber vessel wharf winch
`))
