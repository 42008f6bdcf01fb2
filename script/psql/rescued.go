package psql

import (
	"errors"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// rescued runs a statement or command of a script. A panic is its error, which is reported: the script ends, or goes
// on, as after any other.
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
