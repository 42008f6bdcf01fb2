package bench

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestMissed: the report in the repository says of each missed bar what limits it, what was tried and where the time
// goes, and missed.md names workloads only.
func TestMissed(t *testing.T) {
	text, err := os.ReadFile("RESULTS.md")
	if err != nil {
		t.Fatal(err)
	}
	bars, _, _ := strings.Cut(string(text), "\n## All programs\n")
	for line := range strings.Lines(bars) {
		cells := strings.Split(line, " | ")
		if !strings.Contains(cells[len(cells)-1], "**missed**") {
			continue
		}
		name := strings.TrimPrefix(cells[0], "| ")
		_, section, _ := strings.Cut(bars, "\n### "+name+"\n")
		section, _, _ = strings.Cut(section, "\n### ")
		for _, part := range []string{"* Limit: ", "* Tried: ", "| instruction |"} {
			if !strings.Contains(section, part) {
				t.Errorf("%s: no %q", name, part)
			}
		}
	}
	_, rest, _ := strings.Cut(missedText, "\n## ")
	for section := range strings.SplitSeq(rest, "\n## ") {
		name, _, _ := strings.Cut(section, "\n")
		if !slices.ContainsFunc(Workloads, func(w *Workload) bool { return w.Name == name && w.Bars != nil }) {
			t.Errorf("missed.md: %q is no workload with a bar", name)
		}
	}
}
