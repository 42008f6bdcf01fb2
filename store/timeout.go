package store

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// errTimeout is why the context of a statement ended that has run for longer than statement_timeout.
var errTimeout = errors.New("canceling statement due to statement timeout")

// Timed gives the context of a statement, which statement_timeout ends. done, called at the statement's end, says so in its error.
func (db *DB) Timed(ctx context.Context) (_ context.Context, done func(*error)) {
	v, _ := db.setting("statement_timeout")
	d, err := duration(v)
	if err != nil || d <= 0 {
		return ctx, func(*error) {}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, d, errTimeout)
	return ctx, func(err *error) {
		defer cancel()
		var e *sqlerr.Error
		if errors.As(*err, &e) && e.Code == sqlerr.QueryCanceled && errors.Is(context.Cause(ctx), errTimeout) {
			c := *e
			c.Message = errTimeout.Error()
			*err = &c
		}
	}
}

// units are those of a duration; without one it is in milliseconds.
var units = []struct {
	name string
	unit time.Duration
}{{"us", time.Microsecond}, {"ms", time.Millisecond}, {"min", time.Minute}, {"s", time.Second}, {"h", time.Hour}, {"d", 24 * time.Hour}}

// duration reads a setting's time as Postgres does: "100", "100ms", "1.5 s".
func duration(s string) (time.Duration, error) {
	s = strings.TrimSpace(s)
	if s == "" {
		return 0, nil
	}
	unit := time.Millisecond
	for _, u := range units {
		if rest, ok := strings.CutSuffix(s, u.name); ok {
			s, unit = strings.TrimSpace(rest), u.unit
			break
		}
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || !(x >= 0 && x*float64(unit) <= 1<<31*float64(time.Millisecond)) {
		return 0, sqlerr.New(sqlerr.InvalidParameter, "it is no time between 0 and 2147483647 ms")
	}
	return time.Duration(x * float64(unit)), nil
}
