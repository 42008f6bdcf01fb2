package eindecomp

import (
	"math/bits"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// Limits of a graph. A set of labels is a word of 64 bits.
const (
	mostLabels   = 64
	mostVertices = 1 << 14
)

// Input, as the Vertex of an operand, is an input of the graph: it is there in every partitioning and costs nothing.
const Input = -1

// Label is a name for a dimension inside one vertex, with its bound.
type Label struct {
	Name  string
	Bound int64
	Whole bool // it is not cut
}

// Operand is what a vertex reads: the output of another vertex or an input of the graph.
type Operand struct {
	Name   string
	Vertex int   // the number of the producer, or Input
	Labels []int // numbers of the vertex's labels, one for each dimension
}

// Vertex is one einsum expression. Labels are those of its operands, each once, in the order of appearance.
type Vertex struct {
	Name     string
	Labels   []Label
	Operands []Operand
	Output   []int // numbers of the labels that the output has, one for each dimension
}

// Graph is a graph of einsum expressions that New has checked.
type Graph struct {
	Vertices []Vertex
	order    []int    // the vertices, producers before consumers
	edges    []edge   // by consumer and slot
	into     [][]int  // the edges into each vertex
	from     [][]int  // the edges from each vertex
	elements []uint64 // of each vertex's output
}

// edge leads from a producer to the operand of a consumer.
type edge struct{ from, to, slot int }

// New checks a graph.
func New(vertices []Vertex) (*Graph, error) {
	if len(vertices) > mostVertices {
		return nil, sqlerr.New(sqlerr.ProgramLimit, "the graph has %d vertices, more than %d", len(vertices), mostVertices)
	}
	g := &Graph{Vertices: vertices, into: make([][]int, len(vertices)), from: make([][]int, len(vertices))}
	for v := range vertices {
		if err := vertices[v].check(); err != nil {
			return nil, err
		}
		g.elements = append(g.elements, vertices[v].elements(vertices[v].Output))
	}
	for v := range vertices {
		if err := g.connect(v); err != nil {
			return nil, err
		}
	}
	return g, g.sort()
}

// check checks what a vertex says of itself.
func (v *Vertex) check() error {
	if len(v.Labels) > mostLabels {
		return sqlerr.New(sqlerr.ProgramLimit, "vertex %s has %d labels, more than %d", v.Name, len(v.Labels), mostLabels)
	}
	if len(v.Operands) == 0 {
		return sqlerr.New(sqlerr.InvalidParameter, "vertex %s has no input", v.Name)
	}
	for _, l := range v.Labels {
		if l.Bound < 1 {
			return sqlerr.New(sqlerr.InvalidParameter, "label %s of vertex %s has bound %d; bounds are positive", l.Name,
				v.Name, l.Bound)
		}
	}
	var read uint64
	for slot, o := range v.Operands {
		set, err := v.set(o.Labels, "input "+o.Name)
		if err != nil {
			return err
		}
		if read |= set; v.elements(o.Labels) >= tooMany {
			return sqlerr.New(sqlerr.NumericOutOfRange, "input %s (number %d) of vertex %s has 2^63 elements or more", o.Name,
				slot, v.Name)
		}
	}
	set, err := v.set(v.Output, "the output")
	if err == nil && (set&^read != 0 || bits.OnesCount64(read) != len(v.Labels)) {
		lacking := v.Labels[bits.TrailingZeros64(^read)].Name
		err = sqlerr.New(sqlerr.UndefinedObject, "label %s of vertex %s is in none of its inputs", lacking, v.Name)
	}
	if err == nil && v.elements(v.Output) >= tooMany {
		err = sqlerr.New(sqlerr.NumericOutOfRange, "the output of vertex %s has 2^63 elements or more", v.Name)
	}
	return err
}

// set makes a set of labels that must differ.
func (v *Vertex) set(labels []int, of string) (out uint64, err error) {
	for _, l := range labels {
		if l < 0 || l >= len(v.Labels) {
			return 0, sqlerr.New(sqlerr.UndefinedObject, "vertex %s has no label number %d", v.Name, l)
		}
		if out&(1<<l) != 0 {
			return 0, sqlerr.New(sqlerr.DuplicateObject, "label %s is repeated in %s of vertex %s", v.Labels[l].Name, of,
				v.Name).WithHint("A diagonal is not an operand: give each dimension a label of its own.")
		}
		out |= 1 << l
	}
	return out, nil
}

// elements is the product of the bounds of labels.
func (v *Vertex) elements(labels []int) uint64 {
	n := uint64(1)
	for _, l := range labels {
		n = times(n, uint64(v.Labels[l].Bound))
	}
	return n
}

// connect notes the edges into vertex v.
func (g *Graph) connect(v int) error {
	to := &g.Vertices[v]
	for slot, o := range to.Operands {
		if o.Vertex == Input {
			continue
		}
		if o.Vertex < 0 || o.Vertex >= len(g.Vertices) {
			return sqlerr.New(sqlerr.UndefinedObject, "vertex %s reads vertex number %d, which does not exist", to.Name,
				o.Vertex)
		}
		from := &g.Vertices[o.Vertex]
		if len(o.Labels) != len(from.Output) {
			return sqlerr.New(sqlerr.DatatypeMismatch, "vertex %s reads %s by %d labels, but %s has %d", to.Name, from.Name,
				len(o.Labels), from.Name, len(from.Output))
		}
		for i, l := range o.Labels {
			if want, has := to.Labels[l], from.Labels[from.Output[i]]; want.Bound != has.Bound {
				return sqlerr.New(sqlerr.DatatypeMismatch, "dimension %d of %s has bound %d as label %s of vertex %s, but %d "+
					"where it is produced", i, from.Name, want.Bound, want.Name, to.Name, has.Bound)
			}
		}
		g.into[v] = append(g.into[v], len(g.edges))
		g.from[o.Vertex] = append(g.from[o.Vertex], len(g.edges))
		g.edges = append(g.edges, edge{o.Vertex, v, slot})
	}
	return nil
}

// sort puts producers before consumers; of those that are ready, the first in the list comes first.
func (g *Graph) sort() error {
	waits := make([]int, len(g.Vertices))
	var ready []int
	for v := range waits {
		if waits[v] = len(g.into[v]); waits[v] == 0 {
			ready = append(ready, v)
		}
	}
	for len(ready) > 0 {
		v := ready[0]
		g.order, ready = append(g.order, v), ready[1:]
		for _, e := range g.from[v] {
			to := g.edges[e].to
			if waits[to]--; waits[to] == 0 {
				ready = append(ready, to)
			}
		}
	}
	if len(g.order) == len(g.Vertices) {
		return nil
	}
	return sqlerr.New(sqlerr.InvalidParameter, "the graph has a cycle: %s", strings.Join(g.cycle(waits), " reads "))
}

// cycle names the vertices of a cycle. Those that still wait have a producer that does.
func (g *Graph) cycle(waits []int) []string {
	v := slices.IndexFunc(waits, func(n int) bool { return n > 0 })
	var path []int
	for !slices.Contains(path, v) {
		path = append(path, v)
		for _, e := range g.into[v] {
			if from := g.edges[e].from; waits[from] > 0 {
				v = from
				break
			}
		}
	}
	var names []string
	for _, u := range append(path[slices.Index(path, v):], v) {
		names = append(names, g.Vertices[u].Name)
	}
	return names
}

// IsTree reports whether no output is used twice.
func (g *Graph) IsTree() bool {
	for v := range g.from {
		if len(g.from[v]) > 1 {
			return false
		}
	}
	return true
}
