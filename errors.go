package relgrad

import (
	"errors"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
)

// Error is what every error of this package is or wraps; errors.As finds it. It has what psql shows of an error:
// Message, Detail and Hint; the SQLState, by which programs distinguish errors; and the Position in the statement.
// errors.Is and errors.As also find the cause, such as context.Canceled or an error of the file system.
type Error = sqlerr.Error

// exported is deferred by every function that callers outside use.
func exported(err *error) { *err = sqlerr.From(*err) }

// rescue, deferred at the package's border, turns a panic into an error. Kept plans may be broken, and the statement,
// or a transaction that it began, has not been ended. within: the statement began inside a transaction.
func (db *Engine) rescue(within bool, err *error) {
	p := recover()
	if p == nil {
		return
	}
	*err = sqlerr.FromPanic(p)
	db.trainer.Recovered()
	if !within && db.InTransaction() {
		*err = errors.Join(*err, db.Rollback())
	}
	if h, ok := db.Database.(catalog.Recoverer); ok {
		*err = errors.Join(*err, h.Recovered())
	}
}
