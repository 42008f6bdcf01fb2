package eindecomp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// Case is a graph in JSON, with the number of kernel calls and plans whose cost is asked.
type Case struct {
	Name  string      `json:"name"`
	P     int64       `json:"p"`
	Graph Description `json:"graph"`
	Given []GivenPlan `json:"given"`
}

// Description is a graph by names. Labels are local to an op, but a label's size is the same everywhere.
type Description struct {
	Sizes  map[string]int64    `json:"sizes"`
	Inputs map[string][]string `json:"inputs"`
	Ops    []Op                `json:"ops"`
}

// Op is a vertex by names. Costs do not depend on what Map and Agg compute.
type Op struct {
	Name      string     `json:"name"`
	In        []string   `json:"in"`
	InLabels  [][]string `json:"in_labels"`
	OutLabels []string   `json:"out_labels"`
	Map       string     `json:"map"`
	Agg       string     `json:"agg"`
}

// GivenPlan is a plan by names: for each vertex the parts of its labels.
type GivenPlan struct {
	Label string                      `json:"label"`
	Plan  map[string]map[string]int64 `json:"plan"`
}

// Answer is what Solve finds, by the names of a Case.
type Answer struct {
	Name        string                      `json:"name,omitempty"`
	P           int64                       `json:"p"`
	Tree        bool                        `json:"tree"`
	Viable      map[string]int              `json:"viable_counts"`
	Optimal     int64                       `json:"optimal"`
	OptimalBy   string                      `json:"optimal_by"`
	OptimalPlan map[string]map[string]int64 `json:"optimal_plan"`
	TreeDP      *int64                      `json:"tree_dp,omitempty"`
	Text        int64                       `json:"linearised_text"`
	Informed    int64                       `json:"linearised_informed"`
	Paths       [][]string                  `json:"paths"`
	Given       []GivenCosts                `json:"given"`
}

// GivenCosts are the costs of a plan.
type GivenCosts struct {
	GivenPlan
	Vertices map[string]VertexAnswer `json:"vertices"`
	Edges    []EdgeAnswer            `json:"edges"`
	Total    int64                   `json:"total"`
}

// VertexAnswer is a VertexCost.
type VertexAnswer struct {
	Tuples int64 `json:"tuples"`
	Join   int64 `json:"join"`
	Agg    int64 `json:"agg"`
}

// EdgeAnswer is an EdgeCost.
type EdgeAnswer struct {
	From   string `json:"from"`
	To     string `json:"to"`
	Slot   int    `json:"slot"`
	Repart int64  `json:"repart"`
}

// ReadCase reads a case. Fields that hold answers are allowed, and not read.
func ReadCase(data []byte) (*Case, error) {
	if err := checkNames(data); err != nil {
		return nil, err
	}
	var out Case
	if err := json.Unmarshal(data, &out); err != nil {
		return nil, malformed(data, err)
	}
	if out.Graph.Sizes == nil || len(out.Graph.Ops) == 0 {
		return nil, sqlerr.New(sqlerr.InvalidText, "the case has no graph: its field graph needs sizes, inputs and ops")
	}
	return &out, nil
}

// malformed is the error of a text that is no case.
func malformed(data []byte, err error) error {
	out := sqlerr.New(sqlerr.InvalidText, "the case is malformed: %s", err).Wrap(err)
	var syntax *json.SyntaxError
	var typed *json.UnmarshalTypeError
	at := int64(0)
	switch {
	case errors.As(err, &syntax):
		at = syntax.Offset
	case errors.As(err, &typed):
		out.Message = fmt.Sprintf("the case is malformed: field %s needs %s, not %s", typed.Field, typed.Type, typed.Value)
		at = typed.Offset
	default:
		return out
	}
	before := data[:min(max(at-1, 0), int64(len(data)))]
	return out.WithDetail("At line %d, byte %d.", 1+bytes.Count(before, []byte("\n")),
		len(before)-bytes.LastIndexByte(before, '\n'))
}

// checkNames refuses a text that is not one JSON object, or in which an object names a field twice: of these
// encoding/json would take the last.
func checkNames(data []byte) error {
	var whole json.RawMessage
	if err := json.Unmarshal(data, &whole); err != nil {
		return malformed(data, err)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return sqlerr.New(sqlerr.InvalidText, "the case is no JSON object").WithHint("A list of cases is read one by one: " +
			"give each a file.")
	}
	if err := uniqueNames(d); err != nil {
		return malformed(data, err)
	}
	return nil
}

// uniqueNames reads the rest of an object whose brace has been read.
func uniqueNames(d *json.Decoder) error {
	type frame struct {
		object, value bool // value: a name has been read, its value follows
		names         map[string]bool
	}
	stack := []frame{{object: true, names: map[string]bool{}}}
	for len(stack) > 0 {
		t, err := d.Token()
		if err != nil {
			return err
		}
		top := &stack[len(stack)-1]
		name, text := t.(string)
		switch {
		case t == json.Delim('}') || t == json.Delim(']'):
			stack = stack[:len(stack)-1]
			continue
		case top.object && !top.value && text:
			if top.names[name] {
				return fmt.Errorf("an object names %q twice", name)
			}
			top.names[name], top.value = true, true
			continue
		}
		top.value = false
		if t == json.Delim('{') || t == json.Delim('[') {
			stack = append(stack, frame{object: t == json.Delim('{'), names: map[string]bool{}})
		}
	}
	return nil
}

// New makes a checked graph of a description. Vertices are in the order of ops.
func (d *Description) New() (*Graph, error) {
	number := map[string]int{}
	for i, op := range d.Ops {
		if _, twice := number[op.Name]; twice || op.Name == "" {
			return nil, sqlerr.New(sqlerr.DuplicateObject, "op number %d has the name %q, which is empty or another's", i,
				op.Name)
		}
		if _, twice := d.Inputs[op.Name]; twice {
			return nil, sqlerr.New(sqlerr.DuplicateObject, "%s is both an input and an op", op.Name)
		}
		number[op.Name] = i
	}
	for _, l := range sortedKeys(d.Sizes) {
		if size := d.Sizes[l]; size < 1 {
			return nil, sqlerr.New(sqlerr.InvalidParameter, "label %s has size %d; sizes are positive", l, size)
		}
	}
	for _, name := range sortedKeys(d.Inputs) {
		for _, l := range d.Inputs[name] {
			if _, known := d.Sizes[l]; !known {
				return nil, noSize(l, "input "+name)
			}
		}
	}
	vertices := make([]Vertex, len(d.Ops))
	for i := range d.Ops {
		if err := d.vertex(&d.Ops[i], number, &vertices[i]); err != nil {
			return nil, err
		}
	}
	return New(vertices)
}

func sortedKeys[V any](m map[string]V) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// noSize is the error of a label without a bound.
func noSize(label, of string) error {
	return sqlerr.New(sqlerr.UndefinedObject, "label %s of %s has no size", label, of)
}

// vertex makes the vertex of an op.
func (d *Description) vertex(op *Op, number map[string]int, out *Vertex) error {
	out.Name = op.Name
	if len(op.InLabels) != len(op.In) {
		return sqlerr.New(sqlerr.InvalidParameter, "op %s has %d inputs, but labels of %d", op.Name, len(op.In),
			len(op.InLabels))
	}
	labels := map[string]int{}
	for slot, name := range op.In {
		o := Operand{Name: name, Vertex: Input}
		if v, known := number[name]; known {
			o.Vertex = v
		} else if of, known := d.Inputs[name]; !known {
			return sqlerr.New(sqlerr.UndefinedObject, "op %s reads %s, which is neither an input nor an op", op.Name, name)
		} else if err := d.agree(op, slot, of); err != nil {
			return err
		}
		for _, l := range op.InLabels[slot] {
			if _, known := labels[l]; !known {
				size, known := d.Sizes[l]
				if !known {
					return noSize(l, "op "+op.Name)
				}
				labels[l] = len(out.Labels)
				out.Labels = append(out.Labels, Label{Name: l, Bound: size})
			}
			o.Labels = append(o.Labels, labels[l])
		}
		out.Operands = append(out.Operands, o)
	}
	for _, l := range op.OutLabels {
		n, known := labels[l]
		if !known {
			return sqlerr.New(sqlerr.UndefinedObject, "label %s of the output of op %s is in none of its inputs", l, op.Name)
		}
		out.Output = append(out.Output, n)
	}
	return nil
}

// agree refuses an input of the graph that is read with another shape than it has.
func (d *Description) agree(op *Op, slot int, of []string) error {
	as := op.InLabels[slot]
	if len(as) != len(of) {
		return sqlerr.New(sqlerr.DatatypeMismatch, "op %s reads input %s by %d labels, but it has %d", op.Name, op.In[slot],
			len(as), len(of))
	}
	for i, l := range as {
		if size, known := d.Sizes[l]; known && size != d.Sizes[of[i]] {
			return sqlerr.New(sqlerr.DatatypeMismatch, "op %s reads dimension %d of input %s as label %s of size %d, but it is "+
				"%s of size %d", op.Name, i, op.In[slot], l, size, of[i], d.Sizes[of[i]])
		}
	}
	return nil
}

// mostTried is how many plans Solve tries beside elimination, which must find the same.
const mostTried = 1 << 18

// Solve answers a case by all methods.
func (c *Case) Solve(ctx context.Context, limits Limits) (*Answer, error) {
	g, err := c.Graph.New()
	if err != nil {
		return nil, err
	}
	d, err := NewDecomposer(g, c.P, limits)
	if err != nil {
		return nil, err
	}
	out := &Answer{Name: c.Name, P: c.P, Tree: g.IsTree(), Viable: map[string]int{}, Given: []GivenCosts{}}
	for v, n := range d.Viable() {
		out.Viable[g.Vertices[v].Name] = n
	}
	for _, path := range g.Paths() {
		var names []string
		for _, v := range path {
			names = append(names, g.Vertices[v].Name)
		}
		out.Paths = append(out.Paths, names)
	}
	for _, given := range c.Given {
		costs, err := g.given(given)
		if err != nil {
			return nil, err
		}
		out.Given = append(out.Given, *costs)
	}
	return out, d.answer(ctx, out)
}

// answer fills in what the methods find.
func (d *Decomposer) answer(ctx context.Context, out *Answer) error {
	plan, err := d.Decompose(ctx)
	if err != nil {
		return err
	}
	out.Optimal, out.OptimalBy, out.OptimalPlan = plan.Costs.Total, plan.By, d.s.g.named(plan.Vectors)
	if plan.Why != "" {
		out.OptimalBy = fmt.Sprintf("%s and what improves on it, not proved least: %s", plan.By, plan.Why)
	}
	tried, err := d.Enumerate(ctx, mostTried)
	if err != nil {
		return err
	}
	if tried != nil && plan.Why == "" {
		out.OptimalBy = ByEnumeration + " and " + plan.By
		if tried.Costs.Total != plan.Costs.Total {
			return sqlerr.Broken("optimizer/eindecomp", "%s finds %d, %s %d", ByEnumeration, tried.Costs.Total, plan.By,
				plan.Costs.Total)
		}
	}
	if out.Tree {
		tree, err := d.Tree(ctx)
		if err != nil {
			return err
		}
		out.TreeDP = &tree.Costs.Total
	}
	text, err := d.Linearise(ctx, false)
	if err != nil {
		return err
	}
	informed, err := d.Linearise(ctx, true)
	if err != nil {
		return err
	}
	out.Text, out.Informed = text.Costs.Total, informed.Costs.Total
	return nil
}

// named gives a plan by names.
func (g *Graph) named(plan []Vector) map[string]map[string]int64 {
	out := map[string]map[string]int64{}
	for v, d := range plan {
		parts := map[string]int64{}
		for l, n := range d {
			parts[g.Vertices[v].Labels[l].Name] = n
		}
		out[g.Vertices[v].Name] = parts
	}
	return out
}

// given computes the costs of a plan that somebody gave.
func (g *Graph) given(of GivenPlan) (*GivenCosts, error) {
	plan := make([]Vector, len(g.Vertices))
	for i := range g.Vertices {
		v := &g.Vertices[i]
		parts, known := of.Plan[v.Name]
		if !known {
			return nil, sqlerr.New(sqlerr.UndefinedObject, "plan %q has no vector for %s", of.Label, v.Name)
		}
		for _, l := range v.Labels {
			n, known := parts[l.Name]
			if !known {
				return nil, sqlerr.New(sqlerr.UndefinedObject, "plan %q has no parts for label %s of %s", of.Label, l.Name, v.Name)
			}
			plan[i] = append(plan[i], n)
		}
		if len(parts) != len(v.Labels) {
			return nil, sqlerr.New(sqlerr.UndefinedObject, "plan %q has parts for %d labels of %s, which has %d", of.Label,
				len(parts), v.Name, len(v.Labels))
		}
	}
	if len(of.Plan) != len(plan) {
		return nil, sqlerr.New(sqlerr.UndefinedObject, "plan %q has vectors for %d vertices; the graph has %d", of.Label,
			len(of.Plan), len(plan))
	}
	costs, err := g.Costs(plan)
	if err != nil {
		return nil, err
	}
	out := &GivenCosts{GivenPlan: of, Vertices: map[string]VertexAnswer{}, Edges: []EdgeAnswer{}, Total: costs.Total}
	for v, c := range costs.Vertices {
		out.Vertices[g.Vertices[v].Name] = VertexAnswer(c)
	}
	for _, e := range costs.Edges {
		out.Edges = append(out.Edges, EdgeAnswer{g.Vertices[e.From].Name, g.Vertices[e.To].Name, e.Slot, e.Repartitions})
	}
	return out, nil
}
