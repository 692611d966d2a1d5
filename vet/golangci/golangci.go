// Package golangci is the plugin of Cofferdam's analyzers for golangci-lint. A build of golangci-lint
// with it is made by golangci-lint custom, from a file .custom-gcl.yml:
//
//	version: v2.14.0
//	plugins:
//	  - module: github.com/cofferdam-go/cofferdam
//	    import: github.com/cofferdam-go/cofferdam/vet/golangci
//	    version: latest
//
// and .golangci.yml enables it:
//
//	linters:
//	  enable: [cofferdam]
//	  settings:
//	    custom:
//	      cofferdam:
//	        type: module
//
// golangci.go has the registration.
package golangci

import (
	"github.com/golangci/plugin-module-register/register"
	"golang.org/x/tools/go/analysis"

	"github.com/cofferdam-go/cofferdam/vet"
)

func init() { register.Plugin("cofferdam", newPlugin) }

// A plugin is what golangci-lint asks for its analyzers.
type plugin struct{}

// newPlugin takes the settings of the linter, of which there are none: the analyzers have flags.
func newPlugin(any) (register.LinterPlugin, error) { return plugin{}, nil }

func (plugin) BuildAnalyzers() ([]*analysis.Analyzer, error) { return vet.Analyzers(), nil }

func (plugin) GetLoadMode() string { return register.LoadModeTypesInfo }
