package instrument

// GoVersions are the releases of Go whose standard library the hooks are written for.
// Others are not refused because of their number: a patch says what it misses when the
// sources that it is applied to are not as expected.
var GoVersions = []string{"go1.26"}
