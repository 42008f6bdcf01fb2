package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels/cpu"
)

// LossRow is a row of relgrad.loss.
type LossRow struct {
	Step, Epoch int64
	Loss        float64
	Mean        float64 // loss of the epoch: of its steps so far
	Validation  *float64
	Figures     []Figure // all columns of the validation, of which Validation is the first
	At          time.Time
}

// Figure is a column of the validation's row.
type Figure struct {
	Name  string
	Value *float64 // nil: NULL
}

// Progress is what a run has reached; with the parameters and the optimizer's state it is all that a
// resumed run needs.
type Progress struct {
	Step   int64   // steps done
	Best   float64 // lowest validation so far
	BestAt int64   // the step of Best; 0: there is none
	Since  int64   // validations since Best
	Status Status
	Window Window // for tolerance
	Epoch  Mean   // the epoch's loss
}

// Status is how a run stands, as relgrad.run shows it.
type Status string

// A run that is interrupted, cancelled, failed or out of time can go on.
const (
	Running     Status = "running"
	Finished    Status = "finished" // all epochs are done
	Converged   Status = "stopped by tolerance"
	Impatient   Status = "stopped by patience"
	OutOfTime   Status = "stopped by max_seconds"
	Lowest      Status = "stopped by line search" // no step lowers the loss
	Cancelled   Status = "cancelled"
	Failed      Status = "failed"
	Interrupted Status = "interrupted" // its process is gone
)

// Over reports whether a run with this status does not go on.
func (s Status) Over() bool { return s == Finished || s == Converged || s == Impatient || s == Lowest }

// Ended reports whether a run with this status came to an end by its own options.
func (s Status) Ended() bool { return s.Over() || s == OutOfTime }

// Start is the progress of a new run.
func Start() Progress { return Progress{Best: math.Inf(1), Status: Running} }

// Model is a compiled loss.
type Model interface {
	// Step computes loss and gradients at the parameters' present values. It is ErrLowest where no step lowers the loss:
	// then the run ends as it is.
	Step(ctx context.Context, step int64) (loss float64, err error)
	// Update changes the parameters by the gradients of the last Step: all of them, or where one is not finite, which is
	// a *device.NotFinite, none. Where it fails otherwise some may have changed.
	Update(ctx context.Context, step int64) error
	// Validate computes the validation behind a step, at the parameters' present values. Its first figure, which is not
	// NULL, decides.
	Validate(ctx context.Context, step int64) ([]Figure, error)
	// Keep remembers the parameters' present values as those of the best validation.
	Keep(ctx context.Context) error
	// Commit stores parameters, optimizer state, progress and the rows logged since the last commit. At the end of a run
	// that Restores, the parameters are those that Keep remembers.
	Commit(ctx context.Context, p Progress, rows []LossRow) error
	// Tick is called after every step, for progress bars.
	Tick(row LossRow)
}

// Pipelined is a Model that may begin a step before it knows the loss of the one before.
type Pipelined interface {
	Model
	// Ahead reports whether it can.
	Ahead() bool
	// Begin has a step begin behind the one before it. Its Step, which waits for it, tells what is wrong.
	Begin(ctx context.Context, step int64)
}

// A run commits at most once in an interval, and so that commits take a tenth of its time: behind two that took long,
// the next one is so many times as far away. (One alone may have waited for a lock.) Waiting makes the losses that a
// commit writes more, not fewer: so many of them are not kept waiting, however long they take.
const (
	commitInterval = time.Second
	commitPause    = 9
	commitLosses   = 1 << 17
)

// pause is the time between a commit and the next one: how long it took, and the one before.
func pause(took, before time.Duration) time.Duration {
	return max(commitInterval, commitPause*min(took, before))
}

// Run trains from p until the epochs are over, a stopping rule holds or ctx is cancelled. On an error the last commit
// stands; a cancelled run commits first up to its last finished step, where none has begun to change anything: neither
// by before_step nor, cancelled in its validation, by its update.
func Run(ctx context.Context, c Config, m Model, slots []*Slot, p Progress) (Progress, error) {
	p.Status = Running
	var rows []LossRow
	began := time.Now()
	wait, before := commitInterval, time.Duration(0)
	begun := int64(0) // the last step that has
	ahead, _ := m.(Pipelined)
	for last := began; p.Step < c.Steps() && p.Status == Running; {
		late := c.MaxSeconds > 0 && time.Since(began).Seconds() >= c.MaxSeconds
		due := func() bool { return time.Since(last) >= wait || len(rows) >= commitLosses }
		on := ctx
		switch {
		case begun > p.Step:
			on = context.WithoutCancel(ctx) // it cannot be undone
		case ctx.Err() != nil:
			return p, finish(ctx, m, p, rows, sqlerr.New(sqlerr.QueryCanceled, "training was cancelled after step %d", p.Step))
		}
		if ahead != nil && ctx.Err() == nil && !late && !due() && c.mayBeFollowed(p.Step+1) {
			for begun = max(begun, p.Step); begun < p.Step+2 && ahead.Ahead(); begun++ {
				ahead.Begin(ctx, begun+1)
			}
		}
		row, updated, err := step(on, c, m, slots, &p)
		if errors.Is(err, ErrLowest) {
			p.Status = Lowest
			break
		}
		if err != nil {
			if !updated && c.BeforeStep == "" && (errors.Is(err, context.Canceled) || sqlerr.Code(err) == sqlerr.QueryCanceled) {
				err = finish(ctx, m, p, rows, err)
			}
			return p, withLosses(err, rows)
		}
		rows = append(rows, row)
		if begun <= p.Step && p.Status == Running && c.MaxSeconds > 0 && time.Since(began).Seconds() >= c.MaxSeconds {
			p.Status = OutOfTime
		}
		m.Tick(row)
		if begun <= p.Step && due() && p.Step < c.Steps() && p.Status == Running {
			begin := time.Now()
			if err := m.Commit(ctx, p, rows); err != nil {
				return p, err
			}
			rows, last = nil, time.Now()
			took := last.Sub(begin)
			wait, before = pause(took, before), took
		}
	}
	if p.Step >= c.Steps() {
		p.Status = Finished
	}
	return p, m.Commit(ctx, p, rows)
}

// finish commits what is done although the run was cancelled.
func finish(ctx context.Context, m Model, p Progress, rows []LossRow, cause error) error {
	p.Status = Cancelled
	return errors.Join(cause, m.Commit(context.WithoutCancel(ctx), p, rows))
}

// step takes the next step; updated tells whether the parameters may already be others than those before it.
func step(ctx context.Context, c Config, m Model, slots []*Slot, p *Progress) (row LossRow, updated bool, err error) {
	n := p.Step + 1
	loss, err := m.Step(ctx, n)
	if err != nil {
		return row, false, err
	}
	if math.IsNaN(loss) || math.IsInf(loss, 0) {
		return row, false, notFinite(ctx, m, loss, n, slots)
	}
	if err := m.Update(ctx, n); err != nil {
		if bad := (*device.NotFinite)(nil); errors.As(err, &bad) {
			s := slots[bad.Slot]
			err = sqlerr.New(sqlerr.NumericOutOfRange, "the gradient is %s at step %d, parameter %s, key %s", Number(bad.X), n,
				s.Name, s.Key(bad.Row)).WithHint(smaller)
		}
		return row, true, err
	}
	epoch, _ := c.epoch(n)
	row = LossRow{Step: n, Epoch: epoch, Loss: loss, Mean: p.Epoch.add(epoch, loss), At: time.Now()}
	if c.validates(n) {
		if err := validate(ctx, m, &row); err != nil {
			return row, true, err
		}
		if v := *row.Validation; v < p.Best {
			p.Best, p.BestAt, p.Since = v, n, 0
			if c.RestoreBest {
				if err := m.Keep(ctx); err != nil {
					return row, true, err
				}
			}
		} else {
			p.Since++
		}
		if c.Patience > 0 && p.Since >= c.Patience {
			p.Status = Impatient
		}
	}
	p.Step = n
	if c.Tolerance != nil && c.Observe(&p.Window, n, loss) && p.Window.settled(*c.Tolerance) {
		p.Status = Converged
	}
	return row, true, nil
}

// validate adds the validation to the row of a step. A figure that is NaN is recorded as NULL, which every database can
// store; the first one must be a number.
func validate(ctx context.Context, m Model, row *LossRow) (err error) {
	if row.Figures, err = m.Validate(ctx, row.Step); err != nil {
		return err
	}
	row.Validation = row.Figures[0].Value
	if math.IsNaN(*row.Validation) {
		return sqlerr.New(sqlerr.NumericOutOfRange, "the validation is NaN at step %d", row.Step).WithHint(smaller)
	}
	for i, f := range row.Figures {
		if f.Value != nil && math.IsNaN(*f.Value) {
			row.Figures[i].Value = nil
		}
	}
	return nil
}

// CheckFigures refuses names of a validation's columns by which its figures could not be told apart.
func CheckFigures(names []string) error {
	for i, n := range names {
		hint := "Name each column: avg(…) AS rmse."
		switch {
		case slices.Contains(names[:i], n):
			return sqlerr.New(sqlerr.InvalidParameter, "the validation has two columns %q", n).WithHint("%s", hint)
		case i > 0 && (n == "loss" || n == "validation"):
			return sqlerr.New(sqlerr.InvalidParameter, "column %d of the validation is named %q", i+1, n).
				WithDetail("Figures of a step are its loss, the validation, which is the first column, and the others by name.").
				WithHint("%s", hint)
		}
	}
	return nil
}

// FirstBad finds the first NaN or infinity of a column's rows that are not NULL; row is -1 where there is none.
func FirstBad(v *column.Column) (row int, x float64) {
	if v.Kind() == column.F64 && cpu.Finite(v.F64()) || v.Kind() == column.F32 && cpu.Finite(v.F32()) {
		return -1, 0
	}
	for row := range v.Len() {
		value := v.Value(row)
		for _, x := range value.Floats() {
			if !value.Null && (math.IsNaN(x) || math.IsInf(x, 0)) {
				return row, x
			}
		}
	}
	return -1, 0
}

// smaller is the hint of errors about numbers that are not finite.
const smaller = "A smaller learning rate, or a guard in the loss (CASE WHEN x > 0 THEN ln(x) …), may help; the last " +
	"commit stands."

// GuardOfRoot keeps a root and its derivative finite, which at 0 is infinite.
const GuardOfRoot = "sqrt(greatest(x, 1e-12))"

// Number prints a number as SQL does.
func Number(x float64) string {
	switch {
	case math.IsInf(x, 1):
		return "Infinity"
	case math.IsInf(x, -1):
		return "-Infinity"
	}
	return fmt.Sprint(x)
}

// withLosses tells of a number that is not finite how the losses went since the last commit, which no table shows.
func withLosses(err error, rows []LossRow) error {
	var e *sqlerr.Error
	const few = 6
	if len(rows) == 0 || !errors.As(err, &e) || e.Code != sqlerr.NumericOutOfRange {
		return err
	}
	var list []string
	for i := range min(few, len(rows)) {
		r := rows[i]
		if last := len(rows) - 1; last >= few {
			r = rows[i*last/(few-1)]
		}
		list = append(list, fmt.Sprintf("%.4g (step %d)", r.Loss, r.Step))
	}
	e.Detail = strings.TrimPrefix(e.Detail+" Losses before it: "+strings.Join(list, ", ")+".", " ")
	return err
}

// explainer is a Model that can say where the first value of a step comes from that is not finite.
type explainer interface {
	Explain(ctx context.Context, step int64) string
}

// notFinite explains a bad loss by the first parameter element that is not finite, if there is one.
func notFinite(ctx context.Context, m Model, x float64, step int64, slots []*Slot) error {
	e := sqlerr.New(sqlerr.NumericOutOfRange, "the loss is %s at step %d", Number(x), step).WithHint(smaller)
	for _, s := range slots {
		v, err := s.Values()
		if err != nil {
			return err
		}
		if row, bad := FirstBad(v); row >= 0 {
			return e.WithDetail("Parameter %s holds %s at key %s.", s.Name, Number(bad), s.Key(row))
		}
	}
	if x, ok := m.(explainer); ok {
		if where := x.Explain(ctx, step); where != "" {
			if strings.HasSuffix(where, "made by sqrt.") {
				e.Hint = "A smaller learning rate, or a guard in the loss, " + GuardOfRoot + ", may help; the last commit stands."
			}
			return e.WithDetail("All parameters are finite. %s", where)
		}
	}
	return e.WithDetail("All parameters are finite: the loss itself overflows or is undefined at these values.")
}
