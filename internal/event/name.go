package event

// An unknownError says that a number or a name stands for nothing. The package imports
// nothing, so it has an error type of its own.
type unknownError struct{ what, name string }

func (e *unknownError) Error() string { return "unknown " + e.what + " " + e.name }

// marshalName returns the name of a number.
func marshalName(what string, n uint8, names []string) ([]byte, error) {
	if int(n) >= len(names) {
		return nil, &unknownError{what, "with a number that has no name"}
	}
	return []byte(names[n]), nil
}

// unmarshalName returns the number of a name.
func unmarshalName(what string, text []byte, names []string) (uint8, error) {
	for i, name := range names {
		if name == string(text) {
			return uint8(i), nil
		}
	}
	return 0, &unknownError{what, `"` + string(text) + `"`}
}
