package executor

import (
	"context"
	"errors"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

func internal(format string, args ...any) error { return sqlerr.Broken("executor", format, args...) }

// shaped makes err an *sqlerr.Error unless it is one or the context's.
func shaped(err error) error {
	var e *sqlerr.Error
	switch {
	case err == nil, errors.As(err, &e), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return internal("%v", err).(*sqlerr.Error).Wrap(err)
}

// guard turns a panic into an error and gives every error its shape.
func guard(err *error) {
	if p := recover(); p != nil {
		*err = panicError(p)
	}
	*err = shaped(*err)
}

func panicError(p any) error {
	return sqlerr.FromPanic(
		p,
	) // arrays of the structure that found no room panic with an *sqlerr.Error
}
