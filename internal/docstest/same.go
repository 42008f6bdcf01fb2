// Package docstest runs what the manual shows.
//
// # What
//
// The tests run every block of SQL and every command in README.md and the pages of docs, and compare the output with
// that on the page. They also generate docs/sql.md from a table of constructs. Same compares two outputs; the tests of
// the examples use it too.
//
// # Invariants
//
// A page runs from its first block to its last, in an empty folder, on one store, with the command itself. Pages that
// other tests generate (docs/kernels.md, docs/errors.md, docs/commands.md) are left to those tests.
//
// # Errors
//
// The page and line of a block that differs. go test -update (make golden) writes the output into the page; read the
// diff.
//
// # Where to add
//
// A page: a file in docs. A SQL construct: a row of a table in constructs_test.go.
package docstest

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Figures is the relative difference allowed between numbers in documents and in a run: machines differ in the last
// digits of a sum, and training enlarges that.
const Figures = 0.02

var number = regexp.MustCompile(`-?\d+(\.\d+)?(e[-+]?\d+)?`)
var rule = regexp.MustCompile(`-{3,}|[ ]+`)

// Same compares two outputs: words and whole numbers exactly, others to within Figures, widths not at all.
func Same(want, got string) error { return Close(want, got, Figures) }

// Close is Same for a relative tolerance, or two units of a number's last digit where that is more.
func Close(want, got string, tolerance float64) error {
	plain := func(s string) string { return rule.ReplaceAllString(number.ReplaceAllString(s, "#"), " ") }
	if plain(want) != plain(got) {
		return fmt.Errorf("the output differs in more than numbers")
	}
	a, b := number.FindAllString(want, -1), number.FindAllString(got, -1)
	for i := range a {
		if a[i] == b[i] {
			continue
		}
		x, err1 := strconv.ParseFloat(a[i], 64)
		y, err2 := strconv.ParseFloat(b[i], 64)
		unit, fraction := last(a[i])
		_, other := last(b[i])
		if err1 != nil || err2 != nil || !fraction && !other || math.Abs(x-y) > math.Max(2*unit, tolerance*math.Abs(x)) {
			return fmt.Errorf("the output has %s where %s is expected", b[i], a[i])
		}
	}
	return nil
}

// last returns the value of a number's last digit, and whether the number has a fraction.
func last(number string) (unit float64, fraction bool) {
	mantissa, exponent, scientific := strings.Cut(number, "e")
	_, decimals, fraction := strings.Cut(mantissa, ".")
	e, _ := strconv.Atoi(exponent) // 0 where there is none
	return math.Pow(10, float64(e-len(decimals))), fraction || scientific
}
