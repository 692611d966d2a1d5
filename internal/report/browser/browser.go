// Package browser has tests of reports in a real browser. There is nothing else in it.
//
// browser_test.go starts one Chromium for all tests, and says plainly when there is none;
// run_test.go looks at the page of a run, list_test.go at all others. What is asserted is what a
// person sees after clicking. Pictures of the pages are left in the folder that
// COFFERDAM_SCREENSHOTS names.
package browser
