package tolerate

// For the tests, which are outside the package, so that findings name them.
var Classify = classify

const Checked = checked
