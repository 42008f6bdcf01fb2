package relgrad

import (
	"errors"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
)

// rescue, deferred at the package's border, turns a panic into an error. What is kept of plans may be broken, the
// database's statement was not ended, nor a transaction that it began: within tells whether it began in one.
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
	if h, ok := db.Database.(catalog.Recoverer); ok {
		*err = errors.Join(*err, h.Recovered())
	}
}
