package device

import (
	"fmt"

	"github.com/relgrad/relgrad/executor/values"
	"github.com/relgrad/relgrad/kernels"
)

// A step of training follows the gradients: Finite looks for numbers that are not finite, Clip measures the gradients
// together, Update changes a column of a parameter.

// Rule says what a step does to each row of a parameter's column by itself.
type Rule struct {
	// New are the new values of the optimizer's buffers, then of the row, over columns such as ra.StepValue; nil if
	// only Loop says what to do.
	New    []*kernels.Expr
	Loop   Loop
	Sparse bool   // only rows that the step's gradient reaches are changed
	Then   []Rule // projections of the new value
}

// Loop names the loop that computes a rule in one pass. Devices without this loop compute the expressions.
type Loop struct {
	Name                                          string
	Momentum, Alpha, Beta1, Beta2, Epsilon, Decay float64
	Rate, Correct, Keep                           int // their places among the numbers of an Update; 0: not needed
}

// Update computes a rule for rows of a column, in place; the optimizer's buffers too.
type Update struct {
	Loop     *Loop
	New      []*values.Val // the new buffers, then the value; nil if only Loop says what to do
	Buffers  []*values.Val
	Gradient *values.Val // nil: of a projection, which has none
	From     []int32     // for each row of the column the gradient's row, -1: zero; nil: the same row
	Numbers  *values.Val // the factor of clip_norm, then those of the step
	Runs     [][2]int32  // the rows to update: from, to (excluded)
}

// Changed lists what the update writes, in the order of New.
func (u *Update) Changed(in *Instr) []*values.Val {
	return append(u.Buffers[:len(u.Buffers):len(u.Buffers)], in.V)
}

// Finite refuses a gradient that is not finite: it fails with a NotFinite.
type Finite struct{ Slot int }

// Loss is the slot of the loss, which may be NULL, too. Only chains look at it: otherwise the host does.
const Loss = -1

// NotFinite is the first number of a gradient that is NaN or infinite; of the loss only its slot is told.
type NotFinite struct {
	Slot, Row int // which gradient, and which row of it
	X         float64
}

func (e *NotFinite) Error() string {
	return fmt.Sprintf("row %d of gradient %d holds %g", e.Row, e.Slot, e.X)
}

// Clip computes the factor that scales all gradients so that their common Euclidean norm is at most Bound.
type Clip struct {
	Bound     float64
	Measure   bool // the norm itself becomes the first number: other sites have gradients, too
	Gradients []*values.Val
	Rows      [][]int32     // the rows that count, per gradient; nil: all
	Numbers   []*values.Val // their first number becomes the factor
}
