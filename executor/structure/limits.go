package structure

import "github.com/relgrad/relgrad/internal/sqlerr"

// MaxRows is the most rows of a relation: an index has 32 bits.
const MaxRows = 1<<31 - 1

// tooManyRows is the error of a relation of more rows than MaxRows.
func tooManyRows(what string) error {
	return sqlerr.New(sqlerr.ProgramLimit, "%s has more than %d rows", what, MaxRows).
		WithHint("Is a join condition missing?")
}

// internal is the error of a fault in structure itself.
func internal(format string, args ...any) error { return sqlerr.Broken("structure", format, args...) }
