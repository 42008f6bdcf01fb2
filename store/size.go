package store

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// memorySetting is the parameter that bounds the memory of a plan.
const memorySetting = "relgrad.memory"

// sizeUnits are Postgres's, which are powers of 1024, and the same as IEC 80000-13 writes them.
var sizeUnits = map[string]int{"B": 0, "kB": 10, "KiB": 10, "MB": 20, "MiB": 20, "GB": 30, "GiB": 30, "TB": 40, "TiB": 40}

var sizeForm = regexp.MustCompile(`^\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*$`)

// ParseSize reads an amount of memory such as 280MB, 4GiB or 1.5GB; a number without unit is bytes.
func ParseSize(text string) (int64, error) {
	f := sizeForm.FindStringSubmatch(text)
	if f == nil {
		return 0, sqlerr.New(sqlerr.InvalidParameter, "%q is not an amount of memory", text).WithHint("Write it like 280MB or 4GiB.")
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

// placed gives an error the position of the statement's part that it is about.
func placed(err error, pos int) error {
	var e *sqlerr.Error
	if errors.As(err, &e) && e.Pos < 0 {
		e.Pos = pos
	}
	return err
}

// checkSetting refuses values that a parameter of relgrad's does not take.
func checkSetting(name, value string) error {
	switch name = strings.ToLower(name); name {
	case "statement_timeout", "lock_timeout":
		if _, err := duration(value); err != nil {
			return sqlerr.New(sqlerr.InvalidParameter, "invalid value for parameter \"%s\": \"%s\"", name, value).
				WithHint("Write it in milliseconds or as '100ms', '5s' or '1min'.").Wrap(err)
		}
		return nil
	case memorySetting:
	default:
		return nil
	}
	if n, err := strconv.ParseFloat(strings.TrimSpace(value), 64); err == nil && n != 0 { // Postgres would take kilobytes, --memory bytes
		return sqlerr.New(sqlerr.InvalidParameter, "invalid value for parameter \"%s\": \"%s\" has no unit", memorySetting, value).WithHint("SET relgrad.memory = '280MB';")
	}
	_, err := ParseSize(value)
	return err
}

// MemoryBudget is what SET relgrad.memory gives, in bytes; 0: nothing is set.
func (db *DB) MemoryBudget() int64 {
	v, _ := db.setting(memorySetting)
	n, err := ParseSize(v)
	if err != nil { // not set: values were checked
		return 0
	}
	return n
}

// LimitCache bounds SQLite's cache to a sixteenth of a memory budget in bytes, between 2 MB and the 64 MB that it has without
// one (0).
func (db *DB) LimitCache(budget int64) error {
	kB := int64(64 << 10)
	if budget > 0 {
		kB = max(2<<10, min(kB, budget>>14))
	}
	if kB == db.cacheKB {
		return nil
	}
	db.cacheKB = kB
	return db.c.Exec(cacheSize(kB))
}

// scanKB is SQLite's cache while a table is read into memory from a store that no cache holds: pages are read once.
const scanKB = 2 << 10

// scanCache makes the cache small for such a read, until restoreCache.
func (db *DB) scanCache() error {
	bytes := int64(0)
	if err := db.rows("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()", func(c row) error {
		bytes = c[0].Int()
		return nil
	}); err != nil || bytes>>10 <= db.cacheKB {
		return err
	}
	db.scanning = true
	if err := db.c.Exec(cacheSize(scanKB)); err != nil {
		return err
	}
	db.c.Shrink()
	return nil
}

// restoreCache makes the cache what it was before scanCache. Where a cancelled read leaves a cursor open, nothing can run until that is
// closed: then the next statement does it.
func (db *DB) restoreCache() {
	if db.scanning && db.c.Exec(cacheSize(db.cacheKB)) == nil {
		db.scanning = false
	}
}

func cacheSize(kB int64) string {
	return fmt.Sprintf("PRAGMA cache_size = -%d; PRAGMA temp.cache_size = -%d;", kB, kB)
}
