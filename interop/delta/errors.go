package delta

import (
	"errors"
	"fmt"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// within puts a place before the message of an error.
func within(err error, format string, args ...any) error {
	var e *sqlerr.Error
	if !errors.As(err, &e) {
		return corrupt("%s%v", fmt.Sprintf(format, args...), err).Wrap(err)
	}
	c := *e
	c.Message = fmt.Sprintf(format, args...) + e.Message
	return &c
}

// guard turns a panic into an error.
func guard(err *error) {
	if p := recover(); p != nil {
		*err = sqlerr.FromPanic(p)
	}
}
