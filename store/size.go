package store

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// sizeUnits are Postgres's, which are powers of 1024, and the same as IEC 80000-13 writes them.
var sizeUnits = map[string]int{"B": 0, "kB": 10, "KiB": 10, "MB": 20, "MiB": 20, "GB": 30, "GiB": 30, "TB": 40,
	"TiB": 40}

var sizeForm = regexp.MustCompile(`^\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*$`)

// ParseSize reads an amount of memory such as 280MB, 4GiB or 1.5GB; a number without unit is bytes.
func ParseSize(text string) (int64, error) {
	f := sizeForm.FindStringSubmatch(text)
	if f == nil {
		return 0, sqlerr.New(sqlerr.InvalidParameter, "%q is not an amount of memory", text).
			WithHint("Write it like 280MB or 4GiB.")
	}
	unit := f[2]
	if unit == "" {
		unit = "B"
	}
	shift, ok := sizeUnits[unit]
	if !ok {
		e := sqlerr.New(sqlerr.InvalidParameter, "%q is not an amount of memory: its unit is none of B, kB, MB, GB, TB", text)
		var names []string
		for n := range sizeUnits {
			names = append(names, n)
		}
		slices.Sort(names)
		for _, n := range names {
			if strings.EqualFold(n, unit) || strings.EqualFold(n[:1], unit) && len(n) == 2 {
				return 0, e.WithHint("Perhaps you meant %s%s.", f[1], n)
			}
		}
		return 0, e.WithHint("Write it like 280MB or 4GiB.")
	}
	x, err := strconv.ParseFloat(f[1], 64)
	if x *= float64(int64(1) << shift); err != nil || x >= math.MaxInt64 || x < 1 && x != 0 {
		return 0, sqlerr.New(sqlerr.InvalidParameter, "%q is not an amount of memory: it is out of range", text)
	}
	return int64(x), nil
}
