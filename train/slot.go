package train

import "github.com/relgrad/relgrad/column"

// Slot is one value column of a parameter.
type Slot struct {
	Name  string   // table.column, in messages and in relgrad.state
	Names []string // by which options mean it, the table's before the column's
	Size  int      // elements per row
	// Trained tells which rows are updated; nil: all. The others keep their values whatever happens.
	Trained []bool
	// Values are the column's present values, until the next step.
	Values func() (*column.Column, error)
	// Key prints the identity of a row, for messages.
	Key func(row int) string

	lr, decay float64
	sparse    bool
	project   []string // projections
}
