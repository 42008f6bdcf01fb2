package physical

import (
	"context"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// hand makes relations and plans by the names of keys: a relation has integer keys, each of which counts from 0 to its
// length, and one chunk v. Rows are spread by the number of their cell.
type hand struct {
	t     *testing.T
	b     *ra.Builder
	sites int
	lens  map[string]int64
	data  map[string][]*column.Column
	lax   bool       // what cannot be placed is left for Validate to refuse
	draw  *rand.Rand // of small integers, for the chunks of scans; nil: they are NULL
}

func newHand(t *testing.T, sites int, lens map[string]int64) *hand {
	return &hand{t: t, b: ra.NewBuilder(), sites: sites, lens: lens, data: map[string][]*column.Column{}}
}

// Read implements ra.Source.
func (h *hand) Read(_ context.Context, t *ra.Table, cols []int) ([]*column.Column, error) {
	return lists.Map(cols, func(c int) *column.Column { return h.data[t.Name][c] }), nil
}

// Opaque implements ra.Source: there are none.
func (h *hand) Opaque(context.Context, *ra.Node, *kernels.Env) ([]*column.Column, error) {
	return nil, nil
}

// table makes a full grid over keys. Its chunks are given row by row; nil: they are NULL of their shape, so that they
// may have any size.
func (h *hand) table(name, keys string, shape []int, values func(row int) []float64) *ra.Node {
	t := &ra.Table{Name: name, Rows: 1, Declared: true}
	names := strings.Fields(keys)
	for i := range names {
		t.Key, t.Rows = append(t.Key, i), t.Rows*h.lens[names[i]]
	}
	every := int64(1)
	for i := len(names) - 1; i >= 0; i-- {
		x := make([]int64, t.Rows)
		for row := range x {
			x[row] = int64(row) / every % h.lens[names[i]]
		}
		every *= h.lens[names[i]]
		h.data[name] = slices.Insert(h.data[name], 0, column.Of(kernels.Type{Kind: kernels.Int}, x))
	}
	if shape != nil {
		h.data[name] = append(h.data[name], chunks(shape, int(t.Rows), values))
		names = append(names, "v")
	}
	for i, c := range h.data[name] {
		t.Cols = append(t.Cols, ra.TableColumn{Name: names[i], Type: c.Type()})
	}
	return h.b.Scan(t, nil)
}

func chunks(shape []int, rows int, values func(row int) []float64) *column.Column {
	ty := kernels.Type{Kind: kernels.Float64, Shape: shape}
	if values == nil {
		c := column.Planned(column.F64, rows, ty.Size())
		c.SetType(ty)
		for i := range rows {
			c.SetNull(i)
		}
		return c
	}
	c := column.New(ty, rows)
	for i := range rows {
		copy(c.F64()[i*ty.Size():], values(i))
	}
	return c
}

func (h *hand) col(n *ra.Node, name string) ra.ColumnID {
	i := slices.IndexFunc(n.Cols, func(c ra.Column) bool { return c.Name == name })
	if i < 0 {
		h.t.Fatalf("a %v has no column %s", n.Op, name)
	}
	return n.Cols[i].ID
}

func (h *hand) cols(n *ra.Node, names string) []ra.ColumnID {
	return lists.Map(strings.Fields(names), func(name string) ra.ColumnID { return h.col(n, name) })
}

// joinRA joins relations on keys of equal names; v is made of the chunks, by a kernel or, where there is none, as a
// NULL of a shape.
func (h *hand) joinRA(keys string, v any, inputs ...*ra.Node) *ra.Node {
	var equi []ra.Equi
	first := map[string]kernels.Col{}
	for i, in := range inputs {
		for _, c := range in.Cols {
			at := kernels.Col{Input: i, ID: c.ID}
			if l, ok := first[c.Name]; ok && c.Name != "v" {
				equi = append(equi, ra.Equi{L: l, R: at})
			} else {
				first[c.Name] = at
			}
		}
	}
	var out []ra.OutCol
	for _, k := range strings.Fields(keys) {
		out = append(out, ra.OutCol{Name: k, X: inputs[first[k].Input].Var(first[k].Input, first[k].ID)})
	}
	switch v := v.(type) {
	case []int:
		null := kernels.NullOf(kernels.Type{Kind: kernels.Float64, Shape: v, Nullable: true})
		out = append(out, ra.OutCol{Name: "v", X: kernels.Const(null)})
	case string:
		var args []*kernels.Expr
		for i, in := range inputs {
			if slices.ContainsFunc(in.Cols, func(c ra.Column) bool { return c.Name == "v" }) {
				args = append(args, in.Var(i, h.col(in, "v")))
			}
		}
		x := args[0]
		if v != "" {
			var err error
			x, err = kernels.Call(kernels.Lookup(v), kernels.Attr{}, args...)
			must(h.t, err)
		}
		out = append(out, ra.OutCol{Name: "v", X: x})
	}
	return h.b.Join(inputs, equi, nil, out)
}

func (h *hand) sumRA(in *ra.Node, keys string, fn ra.AggFn) *ra.Node {
	out, err := h.b.Aggregate(in, h.cols(in, keys), []ra.AggCol{{Name: "v", Agg: ra.Agg{Fn: fn, Arg: h.col(in, "v")}}})
	must(h.t, err)
	return out
}

// spread is a grid over columns.
func (h *hand) spread(of *ra.Node, by []ra.ColumnID) Function {
	return Function{Kind: Grid, Lens: lists.Map(by, func(id ra.ColumnID) int64 { return h.lens[of.Col(id).Name] })}
}

func (h *hand) by(of *ra.Node, names string) Placement {
	ids := h.cols(of, names)
	return Spread(h.spread(of, ids), ids...)
}

// placed derives a placement.
func (h *hand) placed(n *Node) *Node {
	h.t.Helper()
	p, err := derive(n, h.sites)
	if !h.lax {
		must(h.t, err)
	}
	n.Place = p
	return n
}

// scan is a stored table: by columns, at site 0 ("") or everywhere ("*").
func (h *hand) scan(name, keys, by string, shape ...int) *Node {
	var values func(int) []float64
	if h.draw != nil {
		values = func(int) []float64 { return integers(h.draw.Intn(11), h.draw.Intn(11), 13, 1)[:shape[0]] }
	}
	n := &Node{RA: h.table(name, keys, shape, values)}
	switch by {
	case "":
	case "*":
		n.Place = Everywhere()
	default:
		n.Place = h.by(n.RA, by)
	}
	return n
}

func (h *hand) join(keys string, v any, inputs ...*Node) *Node {
	h.t.Helper()
	return h.placed(&Node{RA: h.joinRA(keys, v, lists.Map(inputs, (*Node).Relation)...), Inputs: inputs})
}

func (h *hand) sum(in *Node, keys string) *Node {
	h.t.Helper()
	return h.placed(&Node{RA: h.sumRA(in.Relation(), keys, ra.Sum), Inputs: []*Node{in}})
}

func (h *hand) bcast(in *Node) *Node { return h.placed(&Node{Op: Bcast, Inputs: []*Node{in}}) }

// halo is what a partner needs of in, by columns of equal names.
func (h *hand) halo(in, partner *Node, by string) *Node {
	h.t.Helper()
	return h.placed(&Node{Op: Halo, Inputs: []*Node{in, partner}, By: h.cols(in.Relation(), by),
		On: h.cols(partner.Relation(), by)})
}

func (h *hand) gather(in *Node) *Node { return h.placed(&Node{Op: Gather, Inputs: []*Node{in}}) }

func (h *hand) shuf(in *Node, by string) *Node {
	ids := h.cols(in.Relation(), by)
	return h.placed(&Node{Op: Shuf, By: ids, Fn: h.spread(in.Relation(), ids), Inputs: []*Node{in}})
}

// plan has the nodes as results, which are gathered where they are spread.
func (h *hand) plan(results ...*Node) *Plan {
	h.t.Helper()
	out := &Plan{Sites: h.sites, Spread: h.spread}
	for _, n := range results {
		if n.Place.Kind != Single {
			n = h.gather(n)
		}
		of := n.Relation()
		ids := lists.Map(of.Cols, func(c ra.Column) ra.ColumnID { return c.ID })
		out.Roots = append(out.Roots, Root{Name: of.Op.String(), Node: n, Cols: ids, Place: At(0)})
	}
	must(h.t, Validate(out))
	return out
}
