package ra

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/kernels"
)

// Over says over which rows of its input each row of a Window aggregates. It is never changed: rules make a new one.
type Over struct {
	Pass      []ColumnID // columns of the input that are passed on as Cols[:len(Pass)]; none depends on a parameter
	Partition []ColumnID // columns of the input: NULLs are equal
	Order     []Sort
	Frame     Frame
	Among     *Extremes // nil: each row of the frame counts
}

// Extremes restricts which rows of a frame count: those that attain the frame's least or greatest value of a column.
// NULLs do not. Which rows these are depends on values, as no structure may: it is decided in each step. Where it is
// Back the pairs of a row and one that counts for it are the same ones, turned: of the rows in the frame those count
// in whose own frames, which are mirrored, the row attains the extreme.
type Extremes struct {
	Col  ColumnID
	Fn   AggFn // Min or Max
	Back bool
}

// Turned are the same pairs from the other side.
func (e *Extremes) Turned() *Extremes { return &Extremes{e.Col, e.Fn, !e.Back} }

// Sort is a column of the input that orders the rows of a partition.
type Sort struct {
	Col              ColumnID
	Desc, NullsFirst bool
}

// Unbounded is a bound of a frame that reaches to the end of the partition, with its sign.
const Unbounded = 1<<31 - 1

// Frame is the part of its partition over which a row aggregates: the rows at positions Lo to Hi relative to the row,
// which Order must tell apart; it may hold no row. With Peers, the rows from those that Order has equal to the row (Lo
// is 0), or from the first (-Unbounded), to those equal to it (Hi is 0), or to the last.
type Frame struct {
	Peers  bool
	Lo, Hi int64
}

// Mirrored is the frame of a row's readers: the rows whose frames hold it.
func (f Frame) Mirrored() Frame { return Frame{f.Peers, -f.Hi, -f.Lo} }

// HoldsRow reports whether each row is in its own frame.
func (f Frame) HoldsRow() bool { return f.Lo <= 0 && f.Hi >= 0 }

// String prints a frame as SQL does.
func (f Frame) String() string {
	kind := "ROWS"
	if f.Peers {
		kind = "RANGE"
	}
	return kind + " BETWEEN " + bound(f.Lo, f.Lo == -Unbounded) + " AND " + bound(f.Hi, f.Hi == Unbounded)
}

func bound(at int64, unbounded bool) string {
	rows, side := strconv.FormatInt(max(at, -at), 10), " FOLLOWING"
	if at < 0 {
		side = " PRECEDING"
	}
	switch {
	case unbounded:
		return "UNBOUNDED" + side
	case at == 0:
		return "CURRENT ROW"
	}
	return rows + side
}

// Window aggregates for each row over its frame. Output columns: those passed on, which must hold the identity of the
// input and not depend on a parameter, then the aggregates: Sum, GradSum, Count, CountRows and, of scalars, Min, Max
// and Rank, which is NULL of a NULL, and whose frame is the partition, by positions. Among extremes of a scalar column
// they are Sum and GradSum of scalars.
func (b *Builder) Window(in *Node, over Over, aggs []AggCol) (*Node, error) {
	n := &Node{Op: Window, Inputs: []*Node{in}, Over: &over, Least: []ColumnID{}, Pos: -1}
	for _, id := range over.Pass {
		c := *in.Col(id)
		c.ID = b.ID()
		n.Cols = append(n.Cols, c)
	}
	carry := func(ids []ColumnID) []ColumnID {
		return lists.Map(ids, func(id ColumnID) ColumnID { return n.Cols[slices.Index(over.Pass, id)].ID })
	}
	n.Key, n.Unique, n.Least = carry(in.Key), carry(in.Unique), carry(in.least())
	n.Fixed = carry(slices.DeleteFunc(slices.Clone(in.Key), func(id ColumnID) bool { return !in.fixed(id) }))
	for _, a := range aggs {
		t, dep := kernels.Type{Kind: kernels.Int}, false
		if a.Fn != CountRows {
			var err error
			if t, err = AggType(a.Fn, in.Col(a.Arg).Type); err != nil {
				return nil, err
			}
			dep = in.Col(a.Arg).Dep
		}
		folds := a.Fn == Sum || a.Fn == Min || a.Fn == Max
		t.Nullable = a.Fn == Rank && t.Nullable || folds && (t.Nullable || !over.Frame.HoldsRow())
		if e := over.Among; e != nil {
			dep = dep || in.Col(e.Col).Dep
			t.Nullable = a.Fn == Sum && (t.Nullable || e.Back || in.Col(e.Col).Type.Nullable)
		}
		n.Aggs = append(n.Aggs, a.Agg)
		n.Cols = append(n.Cols, Column{ID: b.ID(), Name: a.Name, Type: t, Dep: dep})
	}
	return n, nil
}

// windowDetail prints how a window divides and orders its input.
func (p *printer) windowDetail(n *Node) string {
	var order string
	for i, s := range n.Over.Order {
		if i > 0 {
			order += ", "
		}
		order += p.names[s.Col]
		if s.Desc {
			order += " desc"
		}
		if s.NullsFirst != s.Desc {
			order += map[bool]string{true: " nulls first", false: " nulls last"}[s.NullsFirst]
		}
	}
	among := ""
	if e := n.Over.Among; e != nil {
		among = fmt.Sprintf(" among %v of %s", e.Fn, p.names[e.Col])
		if e.Back {
			among += ", turned"
		}
	}
	return fmt.Sprintf(" by (%s) order (%s) %v%s", p.idList(n.Over.Partition), order, n.Over.Frame, among)
}

// Renamed is o over other columns of the input.
func (o *Over) Renamed(to func(ColumnID) ColumnID) *Over {
	out := &Over{Pass: lists.Map(o.Pass, to), Partition: lists.Map(o.Partition, to), Frame: o.Frame}
	for _, s := range o.Order {
		s.Col = to(s.Col)
		out.Order = append(out.Order, s)
	}
	if o.Among != nil {
		e := *o.Among
		e.Col = to(e.Col)
		out.Among = &e
	}
	return out
}
