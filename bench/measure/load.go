package measure

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A Load is the processor time that was used up to some moment, in ticks of the
// kernel, which are 10 ms. Where there is no /proc it is zero.
type Load struct{ all, idle, ours float64 }

// StartLoad is the load up to now.
func StartLoad() Load {
	var l Load
	// cpu user nice system idle iowait irq softirq steal
	for i, n := range fields("/proc/stat", 1, 8) {
		l.all += n
		if i == 3 || i == 4 {
			l.idle += n
		}
	}
	// user, system, and both of the children that were waited for
	for _, process := range append(children(), "self") {
		for _, n := range fields("/proc/"+process+"/stat", 13, 4) {
			l.ours += n
		}
	}
	return l
}

// children are the processes that this one has started and that still run. Not
// every kernel lists them, so the parent of each process is looked at.
func children() []string {
	var all []string
	self := strconv.Itoa(os.Getpid())
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		data, _ := os.ReadFile(file)
		// 7 (a name) S 1, where the name may hold anything
		rest := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
		if len(rest) > 1 && rest[1] == self {
			all = append(all, filepath.Base(filepath.Dir(file)))
		}
	}
	return all
}

// Others is the share of the processors, in percent, that other programs used
// since.
func (l Load) Others() float64 {
	ticks, all := l.others()
	if all <= 0 {
		return 0
	}
	return 100 * ticks / all
}

// Disturbed reports whether other programs used enough of the processors since to
// matter: a tenth, and more than the ticks are inexact by.
func (l Load) Disturbed() bool {
	ticks, all := l.others()
	return ticks >= 3 && ticks > all/10
}

func (l Load) others() (ticks, all float64) {
	now := StartLoad()
	all = now.all - l.all
	return max(0, all-(now.idle-l.idle)-(now.ours-l.ours)), all
}

// fields are n numbers of the first line of a file, from the one at index first.
func fields(file string, first, n int) []float64 {
	data, _ := os.ReadFile(file)
	line, _, _ := bytes.Cut(data, []byte("\n"))
	words := strings.Fields(string(line))
	if len(words) < first+n {
		return nil
	}
	numbers := make([]float64, n)
	for i := range numbers {
		numbers[i], _ = strconv.ParseFloat(words[first+i], 64)
	}
	return numbers
}
