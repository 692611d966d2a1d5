package main

import (
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

func init() { scriptCommands["sarifcheck"] = checkSARIF }

// checkSARIF holds a file, or stdout, against the schema of SARIF.
func checkSARIF(ts *testscript.TestScript, neg bool, args []string) {
	const schema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
	text, err := os.ReadFile(ts.Getenv("COFFERDAM") + "/internal/publish/testdata/sarif-schema-2.1.0.json")
	ts.Check(err)
	definition, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	ts.Check(err)
	c := jsonschema.NewCompiler()
	ts.Check(c.AddResource(schema, definition))
	compiled, err := c.Compile(schema)
	ts.Check(err)
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(ts.ReadFile(args[0])))
	if err == nil {
		err = compiled.Validate(document)
	}
	if (err == nil) == neg {
		ts.Fatalf("%s: %v", args[0], err)
	}
}
