package eindecomp

import (
	"math"
	"math/bits"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// tooMany is where counting ends. Costs of so many floats or more are not distinguished, and are refused instead of
// returned. Sums and products of smaller costs are exact.
const tooMany = uint64(math.MaxInt64)

func plus(a, b uint64) uint64 { return min(a+b, tooMany) }

func times(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	if high > 0 {
		return tooMany
	}
	return min(low, tooMany)
}

// Vector is a partition vector: the parts of each label of a vertex.
type Vector []int64

// vector is a partition vector of powers of two, as their exponents.
type vector []uint8

// parts gives the numbers of parts.
func (d vector) parts() Vector {
	out := make(Vector, len(d))
	for l, e := range d {
		out[l] = 1 << e
	}
	return out
}

// cuts is the binary logarithm of the number of blocks into which labels are cut.
func (d vector) cuts(labels []int) (out int) {
	for _, l := range labels {
		out += int(d[l])
	}
	return out
}

// power is 2^e.
func power(e int) uint64 {
	if e > 62 {
		return tooMany
	}
	return 1 << e
}

// VertexCost is what a vertex moves: its join produces Tuples tuples and moves Join floats, its aggregation moves Agg.
type VertexCost struct{ Tuples, Join, Agg int64 }

// EdgeCost is what repartition moves between a producer and operand Slot of a consumer.
type EdgeCost struct {
	From, To     int
	Slot         int
	Repartitions int64
}

// Costs are the costs of a plan.
type Costs struct {
	Vertices []VertexCost
	Edges    []EdgeCost
	Total    int64
}

// joining counts the tuples of a join (EinDecomp §6) and the floats that go into it: each of the N = ∏ d kernel calls
// receives one block of each operand (§7).
func (v *Vertex) joining(d vector) (tuples, join uint64) {
	all := 0
	for _, e := range d {
		all += int(e)
	}
	tuples = power(all)
	for _, o := range v.Operands {
		block := v.elements(o.Labels) >> d.cuts(o.Labels)
		join = plus(join, times(tuples, block))
	}
	return tuples, join
}

// aggregating counts the floats that aggregation moves: all blocks of a group of n_agg but one (§7). The blocks of a
// group differ in the labels that the output lacks.
func (v *Vertex) aggregating(d vector) uint64 {
	all := 0
	for _, e := range d {
		all += int(e)
	}
	groups := d.cuts(v.Output)
	moved := times(power(groups), power(all-groups)-1)
	return times(moved, v.elements(v.Output)>>groups)
}

// repartition counts the floats that move if n elements are produced in 2^produced blocks and wanted in 2^wanted, and
// both cuts together make 2^both blocks (§7). Each wanted block is put together from the producer's blocks that it
// touches: the first of these moves if only a part of it is used, each further one moves with the wanted block.
func repartition(n uint64, wanted, produced, both int) uint64 {
	blockWanted, blockProduced := n>>wanted, n>>produced
	moved := times(power(both)-power(wanted), plus(blockWanted, blockProduced))
	if both != produced {
		moved = plus(moved, times(blockProduced, power(wanted)))
	}
	return moved
}

// repart is the cost of an edge for the vectors of its consumer and its producer.
func (g *Graph) repart(e edge, consumer, producer vector) uint64 {
	wanted, produced, both := 0, 0, 0
	output := g.Vertices[e.from].Output
	for i, l := range g.Vertices[e.to].Operands[e.slot].Labels {
		c, p := consumer[l], producer[output[i]]
		wanted += int(c)
		produced += int(p)
		both += int(max(c, p))
	}
	return repartition(g.elements[e.from], wanted, produced, both)
}

// Repartition counts the floats that move if a tensor with these bounds is produced in one cut and wanted in another.
func Repartition(wanted, produced Vector, bound []int64) (int64, error) {
	if len(wanted) != len(bound) || len(produced) != len(bound) {
		return 0, sqlerr.New(sqlerr.DatatypeMismatch, "vectors of %d and %d numbers for a tensor of %d dimensions",
			len(wanted), len(produced), len(bound))
	}
	v := Vertex{Name: "tensor"}
	for i, b := range bound {
		v.Labels, v.Output = append(v.Labels, Label{Name: "dimension", Bound: b}), append(v.Output, i)
	}
	v.Operands = []Operand{{Name: "tensor", Vertex: Input, Labels: v.Output}}
	w := v
	w.Operands = []Operand{{Name: "tensor", Vertex: 0, Labels: v.Output}}
	g, err := New([]Vertex{v, w})
	if err != nil {
		return 0, err
	}
	costs, err := g.Costs([]Vector{produced, wanted})
	if err != nil {
		return 0, err
	}
	return costs.Edges[0].Repartitions, nil
}

// exponents checks a vector of a vertex that a caller gave.
func (v *Vertex) exponents(d Vector) (vector, error) {
	if len(d) != len(v.Labels) {
		return nil, sqlerr.New(sqlerr.InvalidParameter, "a vector of %d numbers for the %d labels of vertex %s", len(d),
			len(v.Labels), v.Name)
	}
	out := make(vector, len(d))
	for l, parts := range d {
		if parts < 1 || parts&(parts-1) != 0 {
			return nil, sqlerr.New(sqlerr.InvalidParameter, "label %s of vertex %s is cut into %d parts, which is no power "+
				"of two", v.Labels[l].Name, v.Name, parts)
		}
		if v.Labels[l].Bound%parts != 0 {
			return nil, sqlerr.New(sqlerr.InvalidParameter, "label %s of vertex %s is cut into %d parts, which do not divide "+
				"its bound %d", v.Labels[l].Name, v.Name, parts, v.Labels[l].Bound)
		}
		out[l] = uint8(bits.TrailingZeros64(uint64(parts)))
	}
	return out, nil
}

// Costs computes the cost of a plan: one vector per vertex, viable or not.
func (g *Graph) Costs(plan []Vector) (*Costs, error) {
	if len(plan) != len(g.Vertices) {
		return nil, sqlerr.New(sqlerr.InvalidParameter, "a plan of %d vectors for %d vertices", len(plan), len(g.Vertices))
	}
	d := make([]vector, len(plan))
	out := &Costs{}
	total := uint64(0)
	for i := range plan {
		v := &g.Vertices[i]
		var err error
		if d[i], err = v.exponents(plan[i]); err != nil {
			return nil, err
		}
		tuples, join := v.joining(d[i])
		agg := v.aggregating(d[i])
		if total = plus(total, plus(join, agg)); total >= tooMany {
			return nil, passes("the cost of vertex " + v.Name)
		}
		out.Vertices = append(out.Vertices, VertexCost{int64(tuples), int64(join), int64(agg)})
	}
	for _, e := range g.edges {
		moved := g.repart(e, d[e.to], d[e.from])
		if total = plus(total, moved); total >= tooMany {
			return nil, passes("the cost of the edge from " + g.Vertices[e.from].Name + " to " + g.Vertices[e.to].Name)
		}
		out.Edges = append(out.Edges, EdgeCost{e.from, e.to, e.slot, int64(moved)})
	}
	out.Total = int64(total)
	return out, nil
}

// passes is the error of a number that does not fit into int64.
func passes(what string) error {
	return sqlerr.New(sqlerr.NumericOutOfRange, "%s, or the sum with what it is added to, is 2^63 floats or more", what)
}
