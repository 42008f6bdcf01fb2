package relgrad

import (
	"errors"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// recoverer is a host that can go on after a panic in the middle of a statement.
type recoverer interface{ Recovered() error }

// rescue, deferred at the package's border, turns a panic into an error. What is kept of plans may be broken, the
// host's statement was not ended, nor a transaction that it began: within tells whether it began in one.
func (db *Engine) rescue(within bool, err *error) {
	p := recover()
	if p == nil {
		return
	}
	*err = sqlerr.FromPanic(p)
	db.cache = &planCache{}
	db.hooked = false
	if !within && db.InTransaction() {
		*err = errors.Join(*err, db.Rollback())
	}
	if h, ok := db.host.(recoverer); ok {
		*err = errors.Join(*err, h.Recovered())
	}
}
