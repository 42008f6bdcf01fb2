package psql

import (
	"errors"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// rescued runs a statement or command of a script. A panic becomes an error like any other: it is reported, and the
// script ends or goes on.
func rescued(r *Runner, f func() error) (err error) {
	within := r.session != nil && r.session.InTransaction()
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		failed := error(sqlerr.FromPanic(p))
		if r.Interp != nil {
			failed = errors.Join(failed, r.Interp.Recovered(within))
		}
		err = r.report(failed)
	}()
	return f()
}
