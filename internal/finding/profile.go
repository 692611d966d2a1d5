package finding

import (
	"encoding/binary"
	"fmt"
	"io"
	"time"
)

// WriteProfile writes where careless accesses were, how often, and how long they waited, as a
// profile for go tool pprof. A sample is a finding: its stack is that of the careless access,
// or of the section if the access was not seen, with guard, finding and outcome as labels.
//
//	go tool pprof -sample_index=delay http://localhost:8080/debug/cofferdam/profile
//
// The format is google/pprof's profile.proto, not compressed, which pprof reads as well: every
// program with guarded memory would link the compression otherwise. Its few messages are
// encoded here, because the only encoder in the standard library is the runtime's own.
func WriteProfile(w io.Writer, findings []Finding, at time.Time) error {
	p := &profile{texts: map[string]uint64{"": 0}, table: []string{""}, functions: make(map[Frame]uint64), locations: make(map[Frame]uint64)}
	p.body.message(profileSampleType, p.valueType("accesses", "count"))
	p.body.message(profileSampleType, p.valueType("delay", "nanoseconds"))
	for i := range findings {
		p.sample(&findings[i])
	}
	for _, s := range p.table {
		p.body.bytes(profileStringTable, []byte(s))
	}
	if !at.IsZero() {
		p.body.number(profileTime, uint64(at.UnixNano()))
	}
	if _, err := w.Write(p.body); err != nil {
		return fmt.Errorf("writing findings as a profile: %w", err)
	}
	return nil
}

// Numbers of fields of profile.proto.
const (
	profileSampleType  = 1
	profileSample      = 2
	profileLocation    = 4
	profileFunction    = 5
	profileStringTable = 6
	profileTime        = 9

	valueTypeType = 1
	valueTypeUnit = 2

	sampleLocation = 1
	sampleValue    = 2
	sampleLabel    = 3

	labelKey  = 1
	labelText = 2

	locationID   = 1
	locationLine = 4
	lineFunction = 1
	lineNumber   = 2

	functionID   = 1
	functionName = 2
	functionFile = 4
)

// A profile is one that is being encoded.
type profile struct {
	body      message
	texts     map[string]uint64 // their numbers in the table
	table     []string
	functions map[Frame]uint64 // numbers; of frames without lines
	locations map[Frame]uint64
}

func (p *profile) sample(f *Finding) {
	var stack []Frame
	for _, a := range f.Accesses {
		if stack = a.Stack; len(stack) > 0 {
			break
		}
	}
	var s message
	for _, frame := range stack {
		s.number(sampleLocation, p.location(frame))
	}
	s.number(sampleValue, f.Count)
	s.number(sampleValue, uint64(f.Waited))
	for _, l := range [...][2]string{{"guard", f.Guard.String()}, {"finding", f.ID().String()}} {
		var label message
		label.number(labelKey, p.text(l[0]))
		label.number(labelText, p.text(l[1]))
		s.message(sampleLabel, label)
	}
	p.body.message(profileSample, s)
}

func (p *profile) location(f Frame) uint64 {
	if id, ok := p.locations[f]; ok {
		return id
	}
	id := uint64(len(p.locations) + 1)
	p.locations[f] = id
	var line, l message
	line.number(lineFunction, p.function(Frame{Function: f.Function, File: f.File}))
	line.number(lineNumber, uint64(f.Line))
	l.number(locationID, id)
	l.message(locationLine, line)
	p.body.message(profileLocation, l)
	return id
}

func (p *profile) function(f Frame) uint64 {
	if id, ok := p.functions[f]; ok {
		return id
	}
	id := uint64(len(p.functions) + 1)
	p.functions[f] = id
	var m message
	m.number(functionID, id)
	m.number(functionName, p.text(f.Function))
	m.number(functionFile, p.text(f.File))
	p.body.message(profileFunction, m)
	return id
}

func (p *profile) valueType(name, unit string) message {
	var m message
	m.number(valueTypeType, p.text(name))
	m.number(valueTypeUnit, p.text(unit))
	return m
}

// text returns the number of a text in the table.
func (p *profile) text(s string) uint64 {
	n, ok := p.texts[s]
	if !ok {
		n = uint64(len(p.table))
		p.texts[s] = n
		p.table = append(p.table, s)
	}
	return n
}

// A message is one of protocol buffers, as far as it is encoded.
type message []byte

func (m *message) number(field int, n uint64) {
	*m = binary.AppendUvarint(*m, uint64(field)<<3)
	*m = binary.AppendUvarint(*m, n)
}

func (m *message) bytes(field int, b []byte) {
	*m = binary.AppendUvarint(*m, uint64(field)<<3|2)
	*m = binary.AppendUvarint(*m, uint64(len(b)))
	*m = append(*m, b...)
}

func (m *message) message(field int, sub message) { m.bytes(field, sub) }
