package device

import (
	"fmt"

	"github.com/relgrad/relgrad/executor/values"
	"github.com/relgrad/relgrad/kernels"
)

// What a step of training does behind the gradients: Finite looks through each gradient, Clip measures all of them,
// Update changes a column of a parameter.

// Rule says what a step does to the rows of a parameter's column, to each for itself.
type Rule struct {
	// New are the optimizer's buffers behind the step, then the value, over columns that ra.StepValue and the like name;
	// nil where only Loop says it.
	New    []*kernels.Expr
	Loop   Loop
	Sparse bool   // only rows that the step's gradient reaches are changed
	Then   []Rule // what is done to the new value: projections
}

// Loop names what computes a rule at once, on a device that has such a loop. Others compute the expressions.
type Loop struct {
	Name                                          string
	Momentum, Alpha, Beta1, Beta2, Epsilon, Decay float64
	Rate, Correct, Keep                           int // where they are among the numbers of an Update, 0: not needed
}

// Update computes a rule for rows of a column: in its own memory, and in that of the optimizer's buffers.
type Update struct {
	Loop     *Loop
	New      []*values.Val // the buffers, then the value; nil where only Loop says it
	Buffers  []*values.Val
	Gradient *values.Val // nil: of a projection, which has none
	From     []int32     // the gradient's row for each row of the column, -1: zero; nil: row r
	Numbers  *values.Val // the factor of clip_norm, then those of the step
	Runs     [][2]int32  // the rows: from, to
}

// Changed lists what the update writes, in the order of New.
func (u *Update) Changed(in *Instr) []*values.Val {
	return append(u.Buffers[:len(u.Buffers):len(u.Buffers)], in.V)
}

// Finite refuses a gradient that is not finite: it fails with a NotFinite.
type Finite struct{ Slot int }

// NotFinite is the first number of a gradient that is none.
type NotFinite struct {
	Slot, Row int // which gradient, and which row of it
	X         float64
}

func (e *NotFinite) Error() string {
	return fmt.Sprintf("row %d of gradient %d holds %g", e.Row, e.Slot, e.X)
}

// Clip computes the factor that brings the Euclidean norm of all gradients together down to a bound.
type Clip struct {
	Bound     float64
	Gradients []*values.Val
	Rows      [][]int32     // of each gradient, those that count; nil: all
	Numbers   []*values.Val // whose first number becomes the factor
}
