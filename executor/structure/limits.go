package structure

import "github.com/relgrad/relgrad/internal/sqlerr"

// MaxRows is the most rows of a relation: indexes are of 32 bits.
const MaxRows = 1<<31 - 1

// tooManyRows refuses a relation of more rows than maxRows.
func tooManyRows(what string) error {
	return sqlerr.New(sqlerr.ProgramLimit, "%s has more than %d rows", what, MaxRows).
		WithHint("Is a join condition missing?")
}

// internal is an error of structure itself.
func internal(format string, args ...any) error { return sqlerr.Broken("structure", format, args...) }
