package stmvar_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/cofferdam-go/cofferdam/stm/stmvar"
)

func ExampleMetrics() {
	served := http.NewServeMux()
	served.Handle("/metrics", stmvar.Metrics())

	answer := httptest.NewRecorder()
	served.ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	line, _, _ := strings.Cut(answer.Body.String(), "\n")
	fmt.Println(line)
	// Output: # HELP cofferdam_stm_commits_total Transactions that committed.
}
