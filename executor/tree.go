package executor

import (
	"slices"

	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/executor/tuning"
	"github.com/relgrad/relgrad/kernels"
)

// tree is one or more vals compiled to operations over blocks of rows. A cell is a register: block.n rows,
// or one row where it is uniform.
type tree struct {
	cells   []cell
	head    []*op // over uniform cells: once per execution and worker
	ops     []*op // once per block
	result  []int
	rows    int // rows per block
	most    int // rows per block at most, 0: any number
	tune    *tuning.Sizes
	bytes   int // of scratch
	wide    bool
	also    []*val // columns that are read besides the loads
	gathers []*val // those of sums that are read through an index where they are mapped
}

type cell struct {
	kind              kind
	size              int
	uniform, nullable bool
	view              bool // points into a column; has no scratch
	off               int
	ext               *extent
	typ               kernels.Type
}

// op is an operation of a tree.
type op struct {
	code   opcode
	kind   kind   // of number that its loop runs over
	name   string // of the kernel that it is for
	strict bool   // it is NULL where an argument is
	out    int
	args   []int
	mask   int // bool cell of the rows that count, -1: all; for kernels that can fail
	v      *val
	idx    *structure.Index
	file   *rowFile // that a load reads from; nil: from memory
	aux    any      // what the code knows besides
}

// multiplies reports whether the tree has products with one matrix for all rows.
func (t *tree) multiplies() bool {
	return slices.ContainsFunc(t.ops, func(o *op) bool {
		return (o.code == opMatmul || o.code == opPair) && o.name == "matmul" &&
			slices.ContainsFunc(o.args, func(a int) bool { return t.cells[a].uniform && t.cells[a].size >= 1024 })
	})
}

// place lays the cells out for blocks of so many rows.
func (t *tree) place(rows int) {
	t.rows = rows
	var ext []*extent
	for i := range t.cells {
		cl := &t.cells[i]
		if cl.view {
			continue
		}
		n := t.rows
		if cl.uniform {
			n = 1
		}
		cl.ext = &extent{bytes: need(cl.kind, n, cl.size, cl.nullable), from: -1, to: len(t.ops)}
		ext = append(ext, cl.ext)
	}
	for i, o := range t.ops {
		if e := t.cells[o.out].ext; e != nil && !t.cells[o.out].uniform {
			e.from, e.to = i, i
		}
		for _, a := range append(o.args[:len(o.args):len(o.args)], o.mask) {
			if a >= 0 && t.cells[a].ext != nil && !t.cells[a].uniform {
				t.cells[a].ext.to = i
			}
		}
	}
	for _, r := range t.result {
		if e := t.cells[r].ext; e != nil {
			e.to = len(t.ops)
		}
	}
	t.bytes = planMemory(ext)
	for i := range t.cells {
		if e := t.cells[i].ext; e != nil {
			t.cells[i].off = e.off
		}
	}
}

// loads lists the vals in memory that the tree reads.
func (t *tree) loads() []*val {
	out := t.also
	for _, ops := range [][]*op{t.head, t.ops} {
		for _, o := range ops {
			if o.code == opLoad {
				out = append(out, o.v)
			}
		}
	}
	return out
}
