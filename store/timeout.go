package store

import (
	"context"
	"errors"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// errTimeout is why the context of a statement ended that has run for longer than statement_timeout.
var errTimeout = errors.New("canceling statement due to statement timeout")

// Timed gives the context of a statement, which statement_timeout ends. done, called at the statement's end, says so in
// its error.
func (s *settings) Timed(ctx context.Context) (_ context.Context, done func(*error)) {
	v, _ := s.setting("statement_timeout")
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
