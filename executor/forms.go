package executor

import (
	"cmp"
	"slices"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// form is a way of computing a val that is in no other pass. Every form is one file, which registers it. Of the forms
// that a val has, the cheapest computes it: their order does not matter.
type form struct {
	name string
	// match finds what the form needs to know of v; nil where v is not of the form. It changes neither v nor the schedule;
	// indexes that it makes stay with the structure.
	match func(l *lowerer, v *val) (found any, err error)
	// cost is about how long the form takes, in nanoseconds of one processor.
	cost func(l *lowerer, v *val, found any) float64
	// emit makes the instructions.
	emit func(l *lowerer, v *val, found any) ([]*instr, error)
}

// forms are all forms, by name.
var forms []*form

// registerForm is for the files of forms: var _ = registerForm(…).
func registerForm(f form) *form {
	at, known := slices.BinarySearchFunc(
		forms,
		f.name,
		func(g *form, name string) int { return cmp.Compare(g.name, name) },
	)
	if known {
		panic("two forms are named " + f.name)
	}
	forms = slices.Insert(forms, at, &f)
	return &f
}

// choice is a form that a val has.
type choice struct {
	*form
	found any
	cost  float64
}

// formsOf lists the forms that v has, the cheapest first; of equal ones the one whose name comes first.
func (l *lowerer) formsOf(v *val) (all []choice, err error) {
	for _, f := range l.forms {
		found, err := f.match(l, v)
		if err != nil {
			return nil, err
		}
		if found != nil {
			all = append(all, choice{f, found, f.cost(l, v, found)})
		}
	}
	slices.SortFunc(all, func(a, b choice) int { return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(a.name, b.name)) })
	return all, nil
}

// instrs makes the instructions that compute v, in the cheapest of its forms.
func (l *lowerer) instrs(v *val) ([]*instr, error) {
	all, err := l.formsOf(v)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, sqlerr.Broken("executor", "val %d of kind %d has no form", v.id, v.op)
	}
	return all[0].emit(l, v, all[0].found)
}

// rate is how fast a form computes and moves numbers: nanoseconds of one processor per operation and per byte. Rates are
// estimates, chosen so that a form that reads rows where they lie comes before one that copies them, and panels before
// blocks; they are not measured. TestCheapestForms pins what follows where two are near.
type rate struct{ flop, byte float64 }

// of is the time of so many operations and bytes.
func (r rate) of(flops, bytes float64) float64 { return r.flop*flops + r.byte*bytes }

// blockwise is the rate of trees of kernels over blocks of rows, panelwise that of products of large matrices.
var blockwise, panelwise = rate{0.5, 0.2}, rate{0.03, 0.1}

// treeCost is the time of computing v, or the argument of an aggregate, by its tree: every call takes an operation for each of its
// numbers at least, and what is in memory is read.
func (l *lowerer) treeCost(v *val) float64 {
	flops, bytes, seen := float64(
		v.typ.Size(),
	), float64(
		v.typ.Size()*kindOf(v.typ).bytes(),
	), map[*val]bool{
		v: v.op != vCall,
	}
	var walk func(x *val)
	walk = func(x *val) {
		switch {
		case seen[x]:
			return
		case x != v && (x.data != nil || l.mat[x]):
			bytes += float64(x.typ.Size() * kindOf(x.typ).bytes())
		case x.op == vCall:
			flops += max(x.flops(), float64(x.typ.Size()))
		}
		if seen[x] = true; x == v || x.data == nil && !l.mat[x] {
			for _, a := range x.args {
				walk(a)
			}
		}
	}
	if walk(v); v.op == vAgg {
		for _, a := range v.args {
			walk(a)
		}
	}
	return float64(iteration(v).N) * blockwise.of(flops, bytes)
}
