package forms

import (
	"cmp"
	"slices"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/values"
	"github.com/relgrad/relgrad/internal/sqlerr"
)

// Form is a way of computing a val by itself, not in a pass with others. Each form is one file, which registers it. The
// cheapest of the forms that a val has computes it; the order of forms does not matter.
type Form struct {
	Name string
	// Match finds what the form needs to know of v; nil where v does not have the form. It changes neither v nor the
	// schedule; indexes that it makes stay with the structure.
	Match func(l *Lowerer, v *values.Val) (found any, err error)
	// Cost estimates the time of the form, in nanoseconds of one processor.
	Cost func(l *Lowerer, v *values.Val, found any) float64
	// emit makes the instructions.
	emit func(l *Lowerer, v *values.Val, found any) ([]*device.Instr, error)
}

// Forms are all forms, sorted by name.
var Forms []*Form

// registerForm registers a form: var _ = registerForm(…).
func registerForm(f Form) *Form {
	at, known := slices.BinarySearchFunc(Forms, f.Name,
		func(g *Form, name string) int { return cmp.Compare(g.Name, name) })
	if known {
		panic("two forms are named " + f.Name)
	}
	Forms = slices.Insert(Forms, at, &f)
	return &f
}

// choice is a form that a val has.
type choice struct {
	*Form
	found any
	cost  float64
}

// FormsOf lists the forms of v, the cheapest first; of equal ones, the first by name.
func (l *Lowerer) FormsOf(v *values.Val) (all []choice, err error) {
	for _, f := range l.Forms {
		found, err := f.Match(l, v)
		if err != nil {
			return nil, err
		}
		if found != nil {
			all = append(all, choice{f, found, f.Cost(l, v, found)})
		}
	}
	slices.SortFunc(all, func(a, b choice) int { return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(a.Name, b.Name)) })
	return all, nil
}

// instrs makes the instructions of v in its cheapest form.
func (l *Lowerer) instrs(v *values.Val) ([]*device.Instr, error) {
	all, err := l.FormsOf(v)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, sqlerr.Broken("executor", "val %d of kind %d has no form", v.ID, v.Op)
	}
	return all[0].emit(l, v, all[0].found)
}

// rate is the nanoseconds that one processor needs per operation and per byte. The rates are estimates, not measured:
// they put a form that reads rows where they lie before one that copies them, and panels before blocks.
// TestCheapestForms pins what follows where two forms cost about the same.
type rate struct{ flop, byte float64 }

// of is the time for so many operations and bytes.
func (r rate) of(flops, bytes float64) float64 { return r.flop*flops + r.byte*bytes }

// blockwise is the rate of trees of kernels over blocks of rows, panelwise that of products of large matrices.
var blockwise, panelwise = rate{0.5, 0.2}, rate{0.03, 0.1}

// treeCost is the time of computing v, or an aggregate's argument, by its tree. Every call takes at least one operation
// for each of its numbers, and vals in memory are read.
func (l *Lowerer) treeCost(v *values.Val) float64 {
	flops, bytes, seen := float64(v.Type.Size()), float64(v.Type.Size()*column.KindOf(v.Type).Bytes()),
		map[*values.Val]bool{v: v.Op != values.OpCall}
	var walk func(x *values.Val)
	walk = func(x *values.Val) {
		switch {
		case seen[x]:
			return
		case x != v && (x.Data != nil || l.mat[x]):
			bytes += float64(x.Type.Size() * column.KindOf(x.Type).Bytes())
		case x.Op == values.OpCall:
			flops += max(x.Flops(), float64(x.Type.Size()))
		}
		if seen[x] = true; x == v || x.Data == nil && !l.mat[x] {
			for _, a := range x.Args {
				walk(a)
			}
		}
	}
	if walk(v); v.Op == values.OpAgg {
		for _, a := range v.Args {
			walk(a)
		}
	}
	return float64(values.Iteration(v).N) * blockwise.of(flops, bytes)
}
