package relgrad

import (
	"errors"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
)

// Error is what every error of this package is or wraps; errors.As finds it. It says what psql shows of an error:
// Message, Detail and Hint, the SQLState, by which a program tells errors apart, and the Position in the statement.
// What caused it, such as context.Canceled or an error of the file system, errors.Is and errors.As find too.
type Error = sqlerr.Error

// exported is deferred by everything that others call.
func exported(err *error) { *err = sqlerr.From(*err) }

// rescue, deferred at the package's border, turns a panic into an error. What is kept of plans may be broken, the
// database's statement was not ended, nor a transaction that it began: within tells whether it began in one.
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
