package engine

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"sort"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/sqlfront/bind"
	"github.com/relgrad/relgrad/tensor"
	"github.com/relgrad/relgrad/train"
)

// CheckRow compares one element of a gradient with central differences.
type CheckRow struct {
	Key               string // identity of the row, as text
	Column            string
	Element           int64 // position in the chunk, from 1 in row-major order
	Analytic, Numeric float64
	// Error is relative to the largest of the two, of a thousandth of the parameter's largest gradient, and of 1e-5 of
	// the loss (see judge).
	Error float64
	OK    bool // Error ≤ 1e-5
}

// checkTolerance is the largest error of an element that counts as right.
const checkTolerance = 1e-5

// CheckOptions choose the elements of a gradient to check, and the rows of the loss.
type CheckOptions struct {
	Samples int    // how many elements, at least 1
	Step    *int64 // the step, which a loss needs that draws or reads a batch
	Seed    int64
	// Batch is a table or view of which the loss reads BatchSize rows: those of a run of train with this seed at Step,
	// from 1. "": the loss reads all rows.
	Batch     string
	BatchSize int64
}

// Check compares sampled elements of the gradient with central differences of the loss, all in float64, worst
// first.
func (db *Engine) Check(ctx context.Context, loss, param string, o CheckOptions) (out []CheckRow, err error) {
	err = db.OnOneState(func() (err error) {
		out, err = db.check(ctx, loss, param, o)
		return err
	})
	return out, err
}

func (db *Engine) check(ctx context.Context, loss, param string, o CheckOptions) ([]CheckRow, error) {
	if o.Samples < 1 {
		return nil, About(sqlerr.New(sqlerr.InvalidParameter, "samples must be at least 1, not %d", o.Samples), "samples", 0)
	}
	batch, env, err := db.checkedBatch(ctx, []string{param}, o)
	if err != nil {
		return nil, err
	}
	r := Request{Loss: loss, Params: []string{param}, Draw: true, force64: true, Batch: batch, Seed: o.Seed}
	c, err := db.Compile(ctx, r)
	if err != nil {
		return nil, err
	}
	defer c.Prog.Close()
	if err := c.drawn(o.Step); err != nil {
		return nil, err
	}
	x, err := c.Run(ctx, env)
	if err == nil {
		err = db.finite(ctx, c, x, env)
	}
	if err == nil {
		_, err = db.gradientOf(ctx, c, 0, env)
	}
	if err != nil {
		return nil, About(err, "loss", 0)
	}
	f, err := db.lossBeside(ctx, c)
	if err != nil {
		return nil, err
	}
	defer f.Prog.Close()
	rows, largest, err := c.sampled(ctx, db, f, o.Samples)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		if rows[i].Numeric, err = f.central(ctx, env, &rows[i], x); err != nil {
			return nil, err
		}
	}
	return judge(rows, x, largest), nil
}

// checkedBatch opens the batch of a check, as a run of training would, and gives the environment of its step.
func (db *Engine) checkedBatch(ctx context.Context, params []string, o CheckOptions) (*bind.Batch, kernels.Env, error) {
	env := stepEnv(o.Step, o.Seed)
	config := train.Default()
	config.Batch, config.BatchSize, config.Seed = o.Batch, o.BatchSize, o.Seed
	err := config.CheckBatch()
	if err == nil && o.BatchSize < 0 {
		err = sqlerr.New(sqlerr.InvalidParameter, "batch_size must be at least 1, not %d", o.BatchSize)
	}
	if err != nil {
		return nil, env, About(err, map[bool]string{true: "batch_size", false: "batch"}[o.Batch == ""], 0)
	}
	if o.Batch == "" {
		return nil, env, nil
	}
	if o.Step == nil || *o.Step < 1 {
		return nil, env, About(sqlerr.New(sqlerr.InvalidParameter, "a loss over a batch needs a step, from 1").
			WithHint("Add step => 1; the rows are those that train with the same seed takes at that step."), "step", 0)
	}
	b, err := db.OpenBatch(ctx, &config, params)
	if err != nil {
		return nil, env, err
	}
	return b.Batch, config.Env(*o.Step), nil
}

// sample is a CheckRow and the position of its element.
type sample struct {
	CheckRow
	of    *executor.Param // where it is
	at    int
	value float64
}

// sampled draws distinct elements of the parameter and reads their analytic gradient from c. largest is the largest
// gradient of all elements.
func (c *Compiled) sampled(ctx context.Context, db *Engine, f *Compiled, samples int) (out []sample, largest float64,
	err error) {
	t := c.Tables[0]
	match, err := c.Prog.Match(1, t, c.GradKey(0))
	if err != nil {
		return nil, 0, err
	}
	gradRow := make(map[int32]int, len(match))
	for i, row := range match {
		gradRow[row] = i
	}
	for _, d := range c.drawElements(f, samples) {
		p := f.Prog.Param(t, d.col)
		l, err := db.Catalogue.Live(ctx, t, d.col, p)
		if err != nil {
			return nil, 0, err
		}
		row, at := d.element/p.Size, d.element%p.Size
		v, err := p.Values()
		if err != nil {
			return nil, 0, err
		}
		if x := v.Float(d.element); math.IsNaN(x) || math.IsInf(x, 0) { // no difference can be taken there
			return nil, 0, About(sqlerr.New(sqlerr.NumericOutOfRange, "parameter %s.%s holds %s, key %s", t.Name, t.Cols[d.col].
				Name, train.Number(x), l.Key(row)).
				WithHint("Central differences need finite parameters."), "param", 0)
		}
		s := sample{CheckRow: CheckRow{Key: l.Key(row), Column: t.Cols[d.col].Name, Element: int64(at) + 1},
			of: p, at: d.element, value: v.Float(d.element)}
		if i, ok := gradRow[int32(row)]; ok {
			g, err := c.Prog.Grad(1, c.GradColumn(0, d.col))
			if err != nil {
				return nil, 0, err
			}
			s.Analytic = g.Float(i*p.Size + at)
		}
		out = append(out, s)
	}
	for _, col := range c.Cols[0] {
		if f.Prog.Param(t, col) == nil {
			continue
		}
		g, err := c.Prog.Grad(1, c.GradColumn(0, col))
		if err != nil {
			return nil, 0, err
		}
		for i := range g.Len() * g.Size() {
			largest = math.Max(largest, math.Abs(g.Float(i)))
		}
	}
	return out, largest, nil
}

// drawnElement is an element of a parameter's column with its random number.
type drawnElement struct {
	col, element int
	rank         float64
}

// drawElements draws a number for each element and returns the elements with the smallest, in the order of the table.
func (c *Compiled) drawElements(f *Compiled, samples int) []drawnElement {
	byRank := func(a, b drawnElement) int { return cmp.Compare(a.rank, b.rank) }
	var kept []drawnElement
	for _, col := range c.Cols[0] {
		p := f.Prog.Param(c.Tables[0], col)
		if p == nil {
			continue
		}
		for e := range p.Rows * p.Size {
			if p.Null(e / p.Size) {
				continue
			}
			kept = append(kept, drawnElement{col, e, tensor.Uniform(1, tensor.HashKey(int64(col)), e)})
			if len(kept) >= 2*samples+1000 {
				slices.SortFunc(kept, byRank)
				kept = kept[:samples]
			}
		}
	}
	slices.SortFunc(kept, byRank)
	kept = kept[:min(len(kept), samples)]
	slices.SortFunc(kept, func(a, b drawnElement) int {
		return cmp.Or(cmp.Compare(a.col, b.col), cmp.Compare(a.element, b.element))
	})
	return kept
}

// GradColumn is the position of a table's column among the columns of the parameter's root.
func (c *Compiled) GradColumn(param, col int) int {
	for i, k := range c.Res.Cols[param] {
		if k == col {
			return i
		}
	}
	return -1
}

// GradKey lists the positions of the table's identity among the columns of the parameter's root.
func (c *Compiled) GradKey(param int) []int {
	return lists.Map(c.Tables[param].Key, func(k int) int { return c.GradColumn(param, k) })
}

// central is the derivative by one element: central differences at two widths, extrapolated. If the two disagree by
// more than the rounding of the loss explains, there is a kink between the points (a relu that changes sides), and
// narrower pairs are tried. The pair with the smallest disagreement and rounding counts.
func (c *Compiled) central(ctx context.Context, env kernels.Env, s *sample, loss float64) (slope float64, err error) {
	x := s.value
	defer func() { err = errors.Join(err, s.of.Set(s.at, x)) }()
	diff := func(h float64) (float64, error) {
		var y [2]float64
		for i, d := range []float64{h, -h} {
			if err := s.of.Set(s.at, x+d); err != nil {
				return 0, err
			}
			l, err := c.Run(ctx, env)
			if err != nil {
				return 0, err
			}
			y[i] = l
		}
		return (y[0] - y[1]) / (2 * h), nil
	}
	best, gap := 0.0, math.Inf(1)
	for h := 1e-4 * math.Max(1, math.Abs(x)); h > 1e-8*math.Max(1, math.Abs(x)); h /= 10 {
		wide, err := diff(h)
		if err != nil {
			return 0, err
		}
		narrow, err := diff(h / 2)
		if err != nil {
			return 0, err
		}
		size := math.Max(math.Abs(wide), math.Abs(narrow))
		rounding := 1e-15 * math.Max(1, math.Abs(loss)) / h
		g := math.Abs(wide - narrow)
		if g+rounding < gap {
			best, gap = (4*narrow-wide)/3, g+rounding
		}
		if g <= 1e-6*size+10*rounding {
			break
		}
	}
	return best, nil
}

// judge computes the errors and sorts the worst first. largest is the parameter's largest gradient. A central
// difference of width 1e-4 in float64 is uncertain by about 1e-11 of the loss (or of 1, the usual size of terms that
// cancel in a small loss), so gradients below 1e-5 of that are not known to five digits.
func judge(rows []sample, loss, largest float64) []CheckRow {
	floor := 1e-5 * math.Max(1, math.Abs(loss))
	out := make([]CheckRow, len(rows))
	for i, r := range rows {
		d := math.Abs(r.Analytic - r.Numeric)
		if d > 0 {
			r.Error = d / math.Max(math.Max(math.Abs(r.Analytic), math.Abs(r.Numeric)), math.Max(1e-3*largest, floor))
		}
		if math.IsNaN(d) {
			r.Error = math.Inf(1)
		}
		r.OK = r.Error <= checkTolerance
		out[i] = r.CheckRow
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Error > out[j].Error })
	return out
}

// kind is that of a Go type.
func kind[T int64 | float64 | string | bool]() kernels.Kind {
	switch any(*new(T)).(type) {
	case int64:
		return kernels.Int
	case float64:
		return kernels.Float64
	case string:
		return kernels.Text
	}
	return kernels.Bool
}

// Vector makes a column of scalars.
func Vector[T int64 | float64 | string | bool](rows []CheckRow, f func(r CheckRow) T) *column.Column {
	v := column.New(kernels.Type{Kind: kind[T]()}, 0)
	for _, r := range rows {
		switch x := any(f(r)).(type) {
		case int64:
			v.AddI64(x)
		case float64:
			v.AddF64(x)
		case string:
			v.AddText(x)
		case bool:
			v.AddI64(kernels.BoolValue(x).I)
		}
	}
	v.SetLen(len(rows))
	return v
}
