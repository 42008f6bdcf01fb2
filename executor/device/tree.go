package device

import (
	"slices"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/executor/tuning"
	"github.com/relgrad/relgrad/executor/values"
	"github.com/relgrad/relgrad/kernels"
)

// Tree is one or more vals, compiled to operations over blocks of rows. A cell is a register: it holds the block's
// rows, or one row if it is uniform.
type Tree struct {
	Cells   []Cell
	Head    []*Op // over uniform cells: once per execution and worker
	Ops     []*Op // once per block
	Result  []int
	Rows    int // rows per block
	Most    int // rows per block at most, 0: any number
	Tune    *tuning.Sizes
	Bytes   int // of scratch
	Wide    bool
	Also    []*values.Val // columns that are read, but not by an OpLoad
	Gathers []*values.Val // columns of sums that are read in memory through an index
}

type Cell struct {
	Kind              column.Kind
	Size              int
	Uniform, Nullable bool
	View              bool // points into a column; has no scratch
	Off               int
	ext               *Extent
	Typ               kernels.Type
}

// Op is an operation of a tree.
type Op struct {
	Code   Opcode
	Kind   column.Kind // the kind of number over which its loop runs
	Name   string      // of the kernel
	Strict bool        // the result is NULL where an argument is
	Out    int
	Args   []int
	Mask   int // for kernels that can fail: the bool cell that marks the rows that count; -1: all
	V      *values.Val
	Idx    *structure.Index
	File   *values.RowFile // that a load reads from; nil: from memory
	Aux    any             // data of the code, as opcodes.go says
}

// Multiplies reports whether the tree has products of rows with one large matrix.
func (t *Tree) Multiplies() bool {
	return slices.ContainsFunc(t.Ops, func(o *Op) bool {
		return (o.Code == OpMatmul || o.Code == OpPair) && o.Name == "matmul" &&
			slices.ContainsFunc(o.Args, func(a int) bool { return t.Cells[a].Uniform && t.Cells[a].Size >= 1024 })
	})
}

// Place gives the cells their places in scratch memory, for blocks of this many rows.
func (t *Tree) Place(rows int) {
	t.Rows = rows
	var ext []*Extent
	for i := range t.Cells {
		cl := &t.Cells[i]
		if cl.View {
			continue
		}
		n := t.Rows
		if cl.Uniform {
			n = 1
		}
		cl.ext = &Extent{Bytes: column.Bytes(cl.Kind, n, cl.Size, cl.Nullable), From: -1, To: len(t.Ops)}
		ext = append(ext, cl.ext)
	}
	for i, o := range t.Ops {
		if e := t.Cells[o.Out].ext; e != nil && !t.Cells[o.Out].Uniform {
			e.From, e.To = i, i
		}
		for _, a := range append(o.Args[:len(o.Args):len(o.Args)], o.Mask) {
			if a >= 0 && t.Cells[a].ext != nil && !t.Cells[a].Uniform {
				t.Cells[a].ext.To = i
			}
		}
	}
	for _, r := range t.Result {
		if e := t.Cells[r].ext; e != nil {
			e.To = len(t.Ops)
		}
	}
	t.Bytes = PlanMemory(ext)
	for i := range t.Cells {
		if e := t.Cells[i].ext; e != nil {
			t.Cells[i].Off = e.Off
		}
	}
}

// Loads lists the vals in memory that the tree reads.
func (t *Tree) Loads() []*values.Val {
	out := t.Also
	for _, ops := range [][]*Op{t.Head, t.Ops} {
		for _, o := range ops {
			if o.Code == OpLoad {
				out = append(out, o.V)
			}
		}
	}
	return out
}
