package executor

import "github.com/relgrad/relgrad/internal/sqlerr"

// maxRows is the most rows of a relation: indexes are of 32 bits.
const maxRows = 1<<31 - 1

// tooManyRows refuses a relation of more rows than maxRows.
func tooManyRows(what string) error {
	return sqlerr.New(sqlerr.ProgramLimit, "%s has more than %d rows", what, maxRows).
		WithHint("Is a join condition missing?")
}

// malformed is an error of structure itself.
func malformed(format string, args ...any) error { return sqlerr.Broken("structure", format, args...) }
