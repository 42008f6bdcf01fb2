package bench

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Median is the middle value, or the mean of the two middle values; NaN for none.
func Median(x []float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	s := slices.Clone(x)
	slices.Sort(s)
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// Seconds prints a duration with three digits.
func Seconds(s float64) string {
	for _, u := range []struct {
		unit string
		size float64
	}{{"s", 1}, {"ms", 1e-3}, {"µs", 1e-6}} {
		if s >= u.size {
			return fmt.Sprintf("%.3g %s", s/u.size, u.unit)
		}
	}
	return fmt.Sprintf("%.3g ns", s*1e9)
}

// Table is a table of Markdown.
type Table struct {
	Head []string
	Rows [][]string
}

// Add appends a row.
func (t *Table) Add(cells ...string) { t.Rows = append(t.Rows, cells) }

func (t *Table) String() string {
	var b strings.Builder
	rule := make([]string, len(t.Head))
	for i := range rule {
		rule[i] = "---"
	}
	for _, r := range slices.Concat([][]string{t.Head, rule}, t.Rows) {
		b.WriteString("| " + strings.Join(r, " | ") + " |\n")
	}
	return b.String()
}

func gigabytes(n int64) string { return fmt.Sprintf("%.2f GB", float64(n)/1e9) }
