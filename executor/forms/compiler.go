package forms

import (
	"slices"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/executor/values"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
)

// compiler builds a tree.
type compiler struct {
	t     *device.Tree
	order *structure.Index // row r of the tree is row order.At[r] of the vals' space; nil: row r
	g     *values.Graph
	memo  map[memoKey]int
	up    map[int]int // by mask cell: the mask that it refines
	conv  map[[2]int]int
	sums  []*device.Adding
	fails map[*values.Val]bool
}

type memoKey struct {
	v    *values.Val
	mask int
}

// Compile makes a tree of vals over one space, whose rows are read in the given order.
func Compile(g *values.Graph, order *structure.Index, vals ...*values.Val) (*device.Tree, error) {
	c := newCompiler(g, order)
	for _, v := range vals {
		r, err := c.emit(v, -1)
		if err != nil {
			return nil, err
		}
		c.t.Result = append(c.t.Result, r)
	}
	rows := 0
	if len(vals) > 0 && !vals[0].Uniform() {
		rows = vals[0].Space.N
	}
	c.finish(rows)
	return c.t, nil
}

func newCompiler(g *values.Graph, order *structure.Index) *compiler {
	return &compiler{t: &device.Tree{Wide: g.Wide, Tune: g.Env.Tune}, order: order, g: g, memo: map[memoKey]int{},
		up: map[int]int{}, conv: map[[2]int]int{}, fails: map[*values.Val]bool{}}
}

// emit compiles v for the rows where mask holds and returns its cell.
func (c *compiler) emit(v *values.Val, mask int) (int, error) {
	if !c.fallible(v) {
		mask = -1
	}
	for m := mask; ; m = c.up[m] {
		if r, ok := c.memo[memoKey{v, m}]; ok {
			return r, nil
		}
		if m < 0 {
			break
		}
	}
	r, err := c.make(v, mask)
	if err != nil {
		return 0, err
	}
	c.memo[memoKey{v, mask}] = r
	return r, nil
}

// fallible reports whether computing v may fail. Stored vals cannot.
func (c *compiler) fallible(v *values.Val) bool {
	if v.Op != values.OpCall || v.Data != nil {
		return false
	}
	if f, ok := c.fails[v]; ok {
		return f
	}
	f := !values.Total(v.Expr.Def, v.Expr.Attr, v.Args) || c.anyFallible(v.Args)
	c.fails[v] = f
	return f
}

func (c *compiler) anyFallible(vs []*values.Val) bool { return slices.ContainsFunc(vs, c.fallible) }

func (c *compiler) make(v *values.Val, mask int) (int, error) {
	switch {
	case v.Op == values.OpConst:
		return c.constant(v), nil
	case v.Data != nil || v.Op == values.OpLeaf:
		return c.load(v, nil, v.Uniform())
	case v.Op == values.OpGather && v.Args[0].Data != nil:
		return c.load(v.Args[0], v.Index, v.Uniform())
	case v.Op == values.OpCall:
		return c.call(v, mask)
	}
	return 0, sqlerr.Broken("executor", "val %d of kind %d is not computed before it is read", v.ID, v.Op)
}

func (c *compiler) cell(t kernels.Type, uniform bool) int {
	c.t.Cells = append(c.t.Cells,
		device.Cell{Kind: column.KindOf(t), Size: t.Size(), Uniform: uniform, Nullable: t.Nullable, Typ: t})
	return len(c.t.Cells) - 1
}

// add appends an operation. If all its arguments are uniform it goes to the head, which runs once.
func (c *compiler) add(o *device.Op) int {
	if c.t.Cells[o.Out].Uniform {
		c.t.Head = append(c.t.Head, o)
	} else {
		c.t.Ops = append(c.t.Ops, o)
	}
	return o.Out
}

func (c *compiler) constant(v *values.Val) int {
	t := v.Type
	r := c.cell(t, true)
	return c.add(&device.Op{Code: device.OpConst, Out: r, Mask: -1, V: v})
}

// load reads rows of a column, through an index if there is one. The cell has the column's kind; if that differs from
// the val's (a real column in a wide graph, or one that a source has in double precision) it is converted.
func (c *compiler) load(v *values.Val, idx *structure.Index, uniform bool) (int, error) {
	if idx.Virtual() || c.order.Virtual() {
		return 0, sqlerr.Broken("executor", "rows of a grid are read that have not been listed")
	}
	if !uniform && c.order != nil {
		if idx == nil {
			idx = c.order
		} else {
			idx = c.g.Compose(c.order, idx)
		}
	}
	t := v.Type
	stored := t
	switch k := v.Data.Kind(); {
	case k == column.F32:
		stored.Kind = kernels.Float32
	case k == column.F64 && t.IsFloat():
		stored.Kind = kernels.Float64
	}
	r := c.cell(stored, uniform)
	o := &device.Op{Code: device.OpLoad, Out: r, Mask: -1, V: v, Idx: idx}
	// The candidates of a filter (a space of negative id) get another index in each run.
	c.t.Cells[r].View = idx == nil || idx.At == nil && idx.Dst.ID >= 0
	if idx != nil && idx.At != nil {
		o.File = c.g.Shared.RowFile(v)
	}
	c.add(o)
	if stored.Kind != t.Kind {
		return c.convert(r, column.KindOf(t)), nil
	}
	return r, nil
}

// convert returns a cell with the same numbers in another kind.
func (c *compiler) convert(r int, k column.Kind) int {
	from := c.t.Cells[r]
	if from.Kind == k {
		return r
	}
	if x, ok := c.conv[[2]int{r, int(k)}]; ok {
		return x
	}
	t := from.Typ
	t.Kind = [...]kernels.Kind{kernels.Float64, kernels.Float32, kernels.Int}[k]
	out := c.cell(t, from.Uniform)
	c.conv[[2]int{r, int(k)}] = out
	if from.Kind == column.F32 && k == column.F64 { // converting back gives the same bits
		c.conv[[2]int{out, int(column.F32)}] = r
	}
	return c.add(&device.Op{Code: device.OpConvert, Out: out, Args: []int{r}, Mask: -1})
}

// finish plans the scratch memory for blocks of so many rows in all, 0 where that is unknown: uniform cells have their
// own, other cells share it by lifetime.
func (c *compiler) finish(all int) {
	nearby(c)
	t := c.t
	perRow := 0
	for i := range t.Cells {
		if cl := &t.Cells[i]; !cl.Uniform && !cl.View {
			perRow += cl.Size*cl.Kind.Bytes() + 1
		}
	}
	rows := blockRows(perRow, t.Tune.BlockScratch)
	if t.Most > 0 {
		rows = min(rows, t.Most)
	}
	if !t.Multiplies() {
		t.Place(rows)
		return
	}
	most := 256
	if all > 0 { // a step of a recurrence has few rows, and as many workers as a pass
		most = min(most, max(32, (all/4+15)&^15))
		rows = min(rows, max(most, all/4))
	}
	t.Place(rows)
	least := 64 // a product packs its other operand again for each block
	if all >= 2*most {
		least = min(least, most)
	}
	for more := most; more > rows && more >= least; more /= 2 {
		if t.Place(more); t.Bytes <= t.Tune.ProductScratch {
			return
		}
		t.Place(rows)
	}
}

// blockRows is the number of rows of a block: as many as fit with their scratch into the second-level cache.
func blockRows(perRow, scratch int) int {
	n := scratch / max(perRow, 1)
	switch {
	case n >= 1024:
		return 1024
	case n >= 16:
		return n &^ 15
	}
	return max(n, 1)
}
