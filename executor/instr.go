package executor

import (
	"fmt"

	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/executor/tuning"
)

// instr computes a val, or some of its rows.
type instr struct {
	v       *val
	how     string // the lowering, for plans
	text    string // what it computes, for plans; "": the val's tree
	rows    int    // rows of the tree's space
	off     int    // store: first row of the result
	t       *tree
	lane    int // rows per lane: a multiple of t.rows
	grp     *structure.Groups
	form    any     // what a form of its own knows: *spmm, *gemm, …; nil: the tree is stored or summed, block by block
	by      int     // rows of each chunk over which a map runs; 0: over the chunks
	besides []*val  // products whose rows such a map makes of its own
	sum     *adding // how rows are added to a sum, nil: those of the result are
	flops   float64
	bytes   float64
	unless  *instr // it runs where this one could not compute the same
}

// cut cuts the rows into lanes: by their number and the work per row only, never by the number of workers.
func (in *instr) cut(t *tuning.Sizes) {
	most := 256 // lanes
	if in.grp != nil {
		most = max(8, min(most, 1<<20/in.v.typ.Size())) // each keeps a partial sum
	}
	in.cutInto(most, t)
}

// cutInto cuts the rows into so many lanes at most.
func (in *instr) cutInto(most int, t *tuning.Sizes) {
	perRow := 1.0
	if in.rows > 0 {
		perRow = max(1, in.flops/float64(in.rows))
	}
	rows := max(int(t.LaneWork/perRow), (in.rows+most-1)/most, 1)
	in.lane = (rows + in.t.rows - 1) / in.t.rows * in.t.rows
}

func (in *instr) lanes() int { return (in.rows + in.lane - 1) / in.lane }

// otherwise says of an instruction that it runs where sums by parts are not exact enough.
func (in *instr) otherwise() string {
	if in.unless == nil {
		return ""
	}
	return "or, where the parts cancel, "
}

// expr prints the tree of an instruction down to what it loads.
func (in *instr) expr() string {
	switch {
	case in.text != "":
		return in.text
	case in.v.op == vConcat && len(in.v.args) > 1:
		return fmt.Sprintf("rows from %d", in.off)
	}
	return in.v.body()
}

// outs lists the vals that the instruction computes.
func (in *instr) outs() []*val {
	var out []*val
	f, ok := in.form.(*fused)
	if d, too := in.form.(*distributed); too {
		for _, t := range d.targets {
			out = append(out, t.v)
		}
		return append(out, d.work)
	}
	if !ok {
		return append([]*val{in.v}, in.besides...)
	}
	for _, m := range f.members {
		out = append(out, m.v)
	}
	return out
}

// gathers calls f for the vals that the instruction reads through an index where they are mapped.
func (in *instr) gathers(f func(v *val)) {
	for _, o := range in.t.ops {
		if o.code == opLoad && o.idx != nil && o.idx.At != nil && o.file == nil {
			f(o.v)
		}
	}
	for _, v := range in.t.gathers {
		f(v)
	}
	for _, o := range in.t.ops {
		switch x := o.aux.(type) {
		case *pairing:
			indexed(x.from[:], f)
		case *turned:
			indexed([]source{x.from}, f)
		}
	}
	switch x := in.form.(type) {
	case *spmm:
		indexed(x.x, f)
	case *productSum:
		indexed([]source{x.x, x.y}, f)
	}
}

func indexed(from []source, f func(v *val)) {
	for _, s := range from {
		if s.v != nil && s.idx != nil && s.file == nil {
			f(s.v)
		}
	}
}
