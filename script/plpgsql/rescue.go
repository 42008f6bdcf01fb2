package plpgsql

import (
	"context"
	"errors"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// recoverer is a Store that works again after a panic in the middle of a statement.
type recoverer interface{ Recovered() error }

// rescue, deferred where statements enter, turns a panic into an error of the statement, which is undone. within: the
// statement began inside a transaction.
func (in *Interp) rescue(within bool, text *ast.Text, err *error) {
	if p := recover(); p != nil {
		*err = errors.Join(sqlerr.In(sqlerr.FromPanic(p), text), in.Recovered(within))
	}
}

// Recovered restores the session after a panic, as after a failed statement: the interpreter's own transaction is
// rolled back, the user's is aborted.
func (in *Interp) Recovered(within bool) error {
	in.calls = 0
	clear(in.bodies) // cached bodies may be incomplete
	in.owner = false
	if !within && in.Session.InTransaction() {
		return in.Transaction(context.Background(), "rollback", "")
	}
	if s, ok := in.Session.(recoverer); ok {
		return s.Recovered()
	}
	return nil
}
