package guard

// A Report is guards for programs to read: what guards -json prints. Positions are text, relative
// to the directory that the command ran in.
type Report struct {
	Guards []ReportedGuard `json:"guards"`
}

// The parts of a Report.
type (
	ReportedGuard struct {
		Lock     string          `json:"lock"`
		Type     string          `json:"type"`
		Position string          `json:"position"`
		Data     []ReportedDatum `json:"data"`
	}
	ReportedDatum struct {
		Name       string              `json:"name"`
		Position   string              `json:"position"`
		By         string              `json:"by"`
		Confidence float64             `json:"confidence"`
		With       ReportedSites       `json:"with"`
		Without    ReportedSites       `json:"without"`
		Unknown    int                 `json:"unknown"`
		Early      int                 `json:"early"`
		Signs      []string            `json:"signs"`
		Deviations []ReportedDeviation `json:"deviations"`
	}
	ReportedSites struct {
		Writes int `json:"writes"`
		Reads  int `json:"reads"`
	}
	ReportedDeviation struct {
		Kind     string         `json:"kind"`
		Position string         `json:"position"`
		Function string         `json:"function"`
		Why      string         `json:"why,omitempty"`
		Doubt    string         `json:"doubt,omitempty"` // why it may be meant to be so
		From     []ReportedCall `json:"from,omitempty"`
		Beside   *ReportedCall  `json:"beside,omitempty"` // another access, with the lock, that it can happen beside
		Shared   string         `json:"shared,omitempty"` // what shows that goroutines share the object
	}
	ReportedCall struct {
		Function string `json:"function"`
		Position string `json:"position"`
	}
)
