package ra

import (
	"slices"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
)

// Builder makes nodes with fresh column ids.
type Builder struct {
	next ColumnID
	// MaxKey is how wide the identity of a join may become; tests make it narrow.
	MaxKey int
}

// NewBuilder returns a builder whose ids begin after those used below roots.
func NewBuilder(roots ...*Node) *Builder {
	b := &Builder{MaxKey: MaxKey}
	Walk(func(n *Node) {
		for _, c := range n.Cols {
			b.next = max(b.next, c.ID)
		}
	}, roots...)
	return b
}

// ID returns a fresh column id.
func (b *Builder) ID() ColumnID { b.next++; return b.next }

// OutCol names an output expression of Select or Join.
type OutCol struct {
	Name string
	X    *kernels.Expr
}

// Scan reads a table; param tells which of its columns are parameters. Every column that has a type is read.
func (b *Builder) Scan(t *Table, param func(col int) bool) *Node {
	n := &Node{Op: Scan, Table: t, Pos: -1}
	if slices.Contains(t.Key, RowID) {
		n.addScan(b, RowID, "rowid", kernels.Type{Kind: kernels.Int}, false)
	}
	for i, c := range t.Cols {
		if c.NoType == "" {
			n.addScan(b, i, c.Name, c.Type, c.IsValue() && param != nil && param(i))
		}
	}
	for _, k := range t.Key {
		n.Key = append(n.Key, n.Cols[slices.Index(n.TableCols, k)].ID)
	}
	n.Unique = n.Key
	return n
}

func (n *Node) addScan(b *Builder, col int, name string, t kernels.Type, dep bool) {
	n.Cols = append(n.Cols, Column{ID: b.ID(), Name: name, Type: t, Dep: dep})
	n.TableCols = append(n.TableCols, col)
}

// Select is a Join of one input.
func (b *Builder) Select(in *Node, pred []*kernels.Expr, out []OutCol) *Node {
	return b.Join([]*Node{in}, nil, pred, out)
}

// MaxKey is how wide the identity of a join becomes by passing up those of its inputs. Views upon views would add
// columns with every step: the key of a parameter's table, a condition's constant. Of a wider one only what tells rows
// apart is kept.
const MaxKey = 16

// Join joins inputs; the identity of each input is passed through, hidden where out does not hold it, unless that
// becomes wider than MaxKey.
func (b *Builder) Join(in []*Node, equi []Equi, pred []*kernels.Expr, out []OutCol) *Node {
	before := b.next
	n := b.JoinWhole(in, equi, pred, out)
	if len(n.Key) <= b.MaxKey || len(in) == 1 {
		return n
	}
	b.next = before
	n = b.join(in, equi, pred, out, newLinks(n).essential())
	n.Unique, n.Least = n.Key, n.Key
	return n
}

// JoinWhole is Join with the whole identity of each input, however wide.
func (b *Builder) JoinWhole(in []*Node, equi []Equi, pred []*kernels.Expr, out []OutCol) *Node {
	ids := lists.Map(in, func(input *Node) []ColumnID { return input.Key })
	return b.join(in, equi, pred, out, ids)
}

// join passes columns ids of each input up as the identity.
func (b *Builder) join(in []*Node, equi []Equi, pred []*kernels.Expr, out []OutCol, ids [][]ColumnID) *Node {
	n := &Node{Op: Join, Inputs: in, Equi: equi, Pred: pred, Pos: -1}
	if len(in) == 1 {
		n.Op = Select
	}
	dep := n.dependent()
	for _, o := range out {
		b.addOut(n, o, dep.Any(o.X))
	}
	l := n.Links()
	key := make([]bool, len(n.Out))
	isKey := func(output int) bool { return key[output] }
	for i, input := range in {
		for _, k := range ids[i] {
			c := kernels.Col{Input: i, ID: k}
			at, ok := l.carrier(c, isKey)
			if !ok {
				at = len(n.Out)
				b.addOut(n, OutCol{input.Col(k).Name, input.Var(i, k)}, input.Col(k).Dep)
				key = append(key, false)
				l.output(at)
			}
			if !key[at] {
				key[at] = true
				n.Key = append(n.Key, n.Cols[at].ID)
				if l.fixed(c) {
					n.Fixed = append(n.Fixed, n.Cols[at].ID)
				}
			}
		}
	}
	n.Unique, n.Least = l.unique(isKey), []ColumnID{}
	for i, needed := range l.essential() {
		for _, k := range needed {
			if at, _ := l.carrier(kernels.Col{Input: i, ID: k}, isKey); !slices.Contains(n.Least, n.Cols[at].ID) {
				n.Least = append(n.Least, n.Cols[at].ID)
			}
		}
	}
	return n
}

func (b *Builder) addOut(n *Node, o OutCol, dep bool) {
	n.Cols, n.Out = append(n.Cols, Column{ID: b.ID(), Name: o.Name, Type: o.X.Type, Dep: dep}), append(n.Out, o.X)
}

// dependent asks expressions over n's inputs whether they read a column that depends on a parameter.
func (n *Node) dependent() *kernels.Asker {
	return kernels.NewAsker(func(e *kernels.Expr) bool { return e.IsCol && n.Inputs[e.Col.Input].Col(e.Col.ID).Dep })
}

// AggCol names an aggregate.
type AggCol struct {
	Name string
	Agg
}

// Aggregate groups the input by columns of it. Output columns: the groups, then the aggregates.
func (b *Builder) Aggregate(in *Node, group []ColumnID, aggs []AggCol) (*Node, error) {
	n := &Node{Op: Aggregate, Inputs: []*Node{in}, Group: group, Pos: -1}
	for _, g := range group {
		c := *in.Col(g)
		c.ID = b.ID()
		n.Cols, n.Key = append(n.Cols, c), append(n.Key, c.ID)
		if in.fixed(g) {
			n.Fixed = append(n.Fixed, c.ID)
		}
		if in.Out == nil || !in.Out[in.Index(g)].IsConst() { // a constant tells no two groups apart
			n.Unique = append(n.Unique, c.ID)
		}
	}
	for _, a := range aggs {
		t := kernels.Type{Kind: kernels.Int}
		if a.Fn != CountRows {
			var err error
			if t, err = AggType(a.Fn, in.Col(a.Arg).Type); err != nil {
				return nil, err
			}
		}
		t.Nullable = t.Nullable || len(group) == 0 && a.Fn != GradSum && a.Fn != Count && a.Fn != CountRows
		dep := a.Fn != CountRows && in.Col(a.Arg).Dep
		n.Aggs = append(n.Aggs, a.Agg)
		n.Cols = append(n.Cols, Column{ID: b.ID(), Name: a.Name, Type: t, Dep: dep})
	}
	return n, nil
}

// AggType is the type of an aggregate of values of type t, over groups that are not empty.
func AggType(fn AggFn, t kernels.Type) (kernels.Type, error) {
	switch {
	case fn == CountRows || fn == Count:
		return kernels.Type{Kind: kernels.Int}, nil
	case fn == Rank:
		return kernels.Type{Kind: kernels.Int, Nullable: t.Nullable}, nil
	case fn == GradSum:
		t.Nullable = false
	case fn == Sum && (t.Kind == kernels.Text || t.Kind == kernels.Bool):
		return t, sqlerr.New(sqlerr.UndefinedFunction, "sum(%v) does not exist", t)
	case fn != Sum && t.Kind == kernels.Bool:
		return t, sqlerr.New(sqlerr.UndefinedFunction, "%v(boolean) does not exist", fn)
	}
	return t, nil
}

// Union concatenates inputs whose first n columns correspond by position and have the same types; the
// identity is a branch number and the branches' own identities. All other columns are dropped.
func (b *Builder) Union(in []*Node, visible int) *Node {
	slots, at := unionSlots(in)
	n := &Node{Op: Union, Pos: -1}
	for branch, input := range in {
		out := lists.Map(input.Cols[:visible], func(c Column) OutCol { return OutCol{c.Name, input.Var(0, c.ID)} })
		out = append(out, OutCol{"branch", kernels.Const(kernels.IntValue(int64(branch)))})
		for s, kind := range slots {
			x := kernels.Const(kernels.Value{Type: kernels.Type{Kind: kind}})
			for k, slot := range at[branch] {
				if slot == s {
					x = input.Var(0, input.Key[k])
				}
			}
			out = append(out, OutCol{"key", x})
		}
		n.Inputs = append(n.Inputs, b.Select(input, nil, out))
	}
	for i, c := range n.Inputs[0].Cols[:visible+1+len(slots)] {
		c.ID = b.ID()
		for _, input := range n.Inputs[1:] {
			c.Dep = c.Dep || input.Cols[i].Dep
			c.Type.Nullable = c.Type.Nullable || input.Cols[i].Type.Nullable
		}
		n.Cols = append(n.Cols, c)
		if i >= visible {
			n.Key = append(n.Key, c.ID)
		}
	}
	n.Unique = n.Key
	return n
}

// unionSlots shares key columns of the same kind among branches: the slots' kinds, and the slot of each
// branch's key columns.
func unionSlots(in []*Node) (slots []kernels.Kind, at [][]int) {
	for _, input := range in {
		used, mine := map[int]bool{}, []int(nil)
		for _, k := range input.Key {
			kind, slot := input.Col(k).Type.Kind, -1
			for s, sk := range slots {
				if sk == kind && !used[s] {
					slot = s
					break
				}
			}
			if slot < 0 {
				slots = append(slots, kind)
				slot = len(slots) - 1
			}
			used[slot] = true
			mine = append(mine, slot)
		}
		at = append(at, mine)
	}
	return slots, at
}

// Semi keeps the rows of l that have (SemiJoin) or lack (AntiJoin) a partner in r. Equalities read l on the left.
func (b *Builder) Semi(op Op, l, r *Node, equi []Equi, pred []*kernels.Expr) *Node {
	equi = slices.Clone(equi)
	for i, q := range equi {
		if q.L.Input == 1 {
			equi[i].L, equi[i].R = q.R, q.L
		}
	}
	n := &Node{Op: op, Inputs: []*Node{l, r}, Equi: equi, Pred: pred, Least: []ColumnID{}, Pos: -1}
	for _, c := range l.Cols {
		id := b.ID()
		if l.IsKey(c.ID) {
			n.Key = append(n.Key, id)
		}
		if slices.Contains(l.Unique, c.ID) {
			n.Unique = append(n.Unique, id)
		}
		if slices.Contains(l.Fixed, c.ID) {
			n.Fixed = append(n.Fixed, id)
		}
		if slices.Contains(l.least(), c.ID) {
			n.Least = append(n.Least, id)
		}
		c.ID = id
		n.Cols = append(n.Cols, c)
	}
	return n
}

// Add sums gradient relations whose columns correspond by position, the first nKey being the key.
func (b *Builder) Add(in []*Node, nKey int) *Node {
	n := &Node{Op: Add, Inputs: in, Pos: -1}
	for i, c := range in[0].Cols {
		for _, o := range in[1:] {
			c.Dep = c.Dep || o.Cols[i].Dep
		}
		c.ID = b.ID()
		n.Cols = append(n.Cols, c)
		if i < nKey {
			n.Key = append(n.Key, c.ID)
		}
	}
	n.Unique = n.Key
	return n
}

// Opaque is a sub-query that the store runs; its identity is a hidden row number, its last column.
func (b *Builder) Opaque(query any, label string, cols []Column) *Node {
	n := &Node{Op: Opaque, Asked: Asked{Query: query}, Label: label, Pos: -1}
	for _, c := range cols {
		c.ID, c.Dep = b.ID(), false
		n.Cols = append(n.Cols, c)
	}
	n.Cols = append(n.Cols, Column{ID: b.ID(), Name: "row_number", Type: kernels.Type{Kind: kernels.Int}})
	n.Key = []ColumnID{n.Cols[len(cols)].ID}
	n.Unique = n.Key
	return n
}

// Gradient stands for the gradient of a loss with respect to the table that scan reads, until autodiff
// expands it. Its columns correspond to the scan's; where the scan has no identity a constant column follows, as one.
func (b *Builder) Gradient(loss, scan *Node, pos int) *Node {
	n := &Node{Op: Gradient, Inputs: []*Node{loss, scan}, Table: scan.Table, TableCols: scan.TableCols, Pos: pos}
	for _, c := range scan.Cols {
		if c.Type.IsFloat() && c.Dep && !scan.IsKey(c.ID) {
			c.Type.Nullable = false
		}
		id := b.ID()
		if scan.IsKey(c.ID) {
			n.Key = append(n.Key, id)
		}
		c.ID = id
		n.Cols = append(n.Cols, c)
	}
	if len(n.Key) == 0 { // the one row of a table without key columns need not reach the loss
		n.Cols = append(n.Cols, Column{ID: b.ID(), Name: "all", Type: kernels.Type{Kind: kernels.Int}})
		n.Key = []ColumnID{n.Cols[len(scan.Cols)].ID}
	}
	n.Unique = n.Key
	return n
}
