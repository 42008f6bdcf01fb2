package device

import (
	"fmt"

	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/executor/tuning"
	"github.com/relgrad/relgrad/executor/values"
)

// Instr computes a val, or some of its rows.
type Instr struct {
	V    *values.Val
	How  string // the lowering, for plans
	text string // what it computes, for plans; "": the val's tree
	Rows int    // rows of the tree's space
	Off  int    // the first row of the result that it stores
	T    *Tree
	Lane int // rows per lane: a multiple of t.rows
	Grp  *structure.Groups
	// data of a form other than a tree, such as *SpMM or *GEMM; nil: the tree is stored or summed, block by block
	Form    any
	By      int           // a map runs over the chunks' rows, of which each has so many; 0: over whole chunks
	Besides []*values.Val // products that such a map computes along with V, row by row
	Sum     *Adding       // how rows are added to a sum; nil: the tree's result is added
	Flops   float64
	Bytes   float64
	Unless  *Instr // it runs if this one's result would not be exact enough
}

// Cut cuts the rows into lanes. The cut depends on the number of rows and the work per row, never on the number of
// workers: so sums have the same bits with any number of them.
func (in *Instr) Cut(t *tuning.Sizes) {
	most := 256 // lanes
	if in.Grp != nil {
		most = max(8, min(most, 1<<20/in.V.Type.Size())) // each keeps a partial sum
	}
	in.CutInto(most, t)
}

// CutInto cuts the rows into so many lanes at most.
func (in *Instr) CutInto(most int, t *tuning.Sizes) {
	perRow := 1.0
	if in.Rows > 0 {
		perRow = max(1, in.Flops/float64(in.Rows))
	}
	rows := max(int(t.LaneWork/perRow), (in.Rows+most-1)/most, 1)
	in.Lane = (rows + in.T.Rows - 1) / in.T.Rows * in.T.Rows
}

func (in *Instr) Lanes() int { return (in.Rows + in.Lane - 1) / in.Lane }

// Otherwise is the plan's note on an instruction that runs only if a sum by parts is not exact enough; "" for others.
func (in *Instr) Otherwise() string {
	if in.Unless == nil {
		return ""
	}
	return "or, where the parts cancel, "
}

// Expr prints the tree of an instruction down to what it loads.
func (in *Instr) Expr() string {
	switch {
	case in.text != "":
		return in.text
	case in.V.Op == values.OpConcat && len(in.V.Args) > 1:
		return fmt.Sprintf("rows from %d", in.Off)
	}
	return in.V.Body()
}

// Outs lists the vals that the instruction computes.
func (in *Instr) Outs() []*values.Val {
	var out []*values.Val
	f, ok := in.Form.(*Fused)
	if d, too := in.Form.(*Distributed); too {
		for _, t := range d.Targets {
			out = append(out, t.V)
		}
		return append(out, d.Work)
	}
	if !ok {
		return append([]*values.Val{in.V}, in.Besides...)
	}
	for _, m := range f.Members {
		out = append(out, m.V)
	}
	return out
}

// Gathers calls f for the vals in memory that the instruction reads through an index, row by row.
func (in *Instr) Gathers(f func(v *values.Val)) {
	for _, o := range in.T.Ops {
		if o.Code == OpLoad && o.Idx != nil && o.Idx.At != nil && o.File == nil {
			f(o.V)
		}
	}
	for _, v := range in.T.Gathers {
		f(v)
	}
	for _, o := range in.T.Ops {
		switch x := o.Aux.(type) {
		case *Pairing:
			indexed(x.From[:], f)
		case *Turned:
			indexed([]Source{x.From}, f)
		}
	}
	switch x := in.Form.(type) {
	case *SpMM:
		indexed(x.X, f)
	case *Windowed:
		if x.Order.Rows != nil {
			f(in.V.Args[0])
			f(in.V)
		}
	case *Extremes:
		if x.Order.Rows != nil {
			for _, a := range in.V.Args {
				f(a)
			}
			f(in.V)
		}
	case *ProductSum:
		indexed([]Source{x.X, x.Y}, f)
	}
}

func indexed(from []Source, f func(v *values.Val)) {
	for _, s := range from {
		if s.V != nil && s.Idx != nil && s.File == nil {
			f(s.V)
		}
	}
}
