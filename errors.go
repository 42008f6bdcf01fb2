package relgrad

import "github.com/relgrad/relgrad/internal/sqlerr"

// Error is what every error of this package is or wraps; errors.As finds it. It says what psql shows of an error:
// Message, Detail and Hint, the SQLState, by which a program tells errors apart, and the Position in the statement.
// What caused it, such as context.Canceled or an error of the file system, errors.Is and errors.As find too.
type Error = sqlerr.Error

// exported is deferred by everything that others call.
func exported(err *error) { *err = sqlerr.From(*err) }
