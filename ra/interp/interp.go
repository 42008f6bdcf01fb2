// Package interp is the oracle: a row-at-a-time interpreter of ra in float64 with SQL's NULLs.
//
// # What
//
// Eval computes a node's rows by the definition of each operator, with no cleverness at all; Apply those of one
// operator. Central differences check it; it checks every engine, rule and pushed-down text.
//
// # Invariants
//
// Nothing is rounded to real: a real column is read as stored, everything after is float64. Row order is
// unspecified. A node is evaluated once per Interp, however often it is referenced.
//
// # Errors
//
// Errors of kernels (division by zero, a label out of range) and of the Source are returned as they come.
//
// # Where to add
//
// An operator: a case in Apply.
package interp

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// Row holds the values of a node's columns, in order.
type Row []kernels.Value

// Interp evaluates nodes over one source and environment.
type Interp struct {
	src    ra.Source
	env    *kernels.Env
	memo   map[*ra.Node][]Row
	levels map[*ra.Node][][]Row // of Recursions
}

// New returns an interpreter. env may be nil.
func New(src ra.Source, env *kernels.Env) *Interp {
	if env == nil {
		env = &kernels.Env{}
	}
	return &Interp{src: src, env: env, memo: map[*ra.Node][]Row{}, levels: map[*ra.Node][][]Row{}}
}

// Eval returns the rows of n.
func (in *Interp) Eval(ctx context.Context, n *ra.Node) ([]Row, error) {
	if rows, ok := in.memo[n]; ok {
		return rows, nil
	}
	if n.Op == ra.Recursion {
		rows, err := in.recursion(ctx, n)
		in.memo[n] = rows
		return rows, err
	}
	inputs := make([][]Row, len(n.Inputs))
	for i, c := range n.Inputs {
		rows, err := in.Eval(ctx, c)
		if err != nil {
			return nil, err
		}
		inputs[i] = rows
	}
	rows, err := in.Apply(ctx, n, inputs)
	if err != nil {
		return nil, err
	}
	in.memo[n] = rows
	return rows, nil
}

// Apply returns the rows of n over the given rows of its inputs, which may be a part of these: those of one site.
func (in *Interp) Apply(ctx context.Context, n *ra.Node, inputs [][]Row) ([]Row, error) {
	switch n.Op {
	case ra.Scan:
		cols, err := in.src.Read(ctx, n.Table, n.TableCols)
		return fromVectors(cols), err
	case ra.Opaque:
		cols, err := in.src.Opaque(ctx, n, in.env)
		if err != nil {
			return nil, err
		}
		rows := fromVectors(cols)
		for i := range rows {
			rows[i] = append(rows[i], kernels.IntValue(int64(i)))
		}
		return rows, nil
	case ra.Select, ra.Join:
		return in.join(n, inputs)
	case ra.Aggregate:
		return aggregate(n, inputs[0]), nil
	case ra.Union:
		var out []Row
		for _, rows := range inputs {
			for _, r := range rows {
				out = append(out, r[:len(n.Cols)])
			}
		}
		return out, nil
	case ra.Window:
		return windowed(n, inputs[0]), nil
	case ra.SemiJoin, ra.AntiJoin:
		return in.semi(n, inputs)
	case ra.Add:
		return add(n, inputs), nil
	}
	return nil, fmt.Errorf("interp: %v cannot be evaluated", n.Op)
}

func fromVectors(cols []*column.Column) []Row {
	if len(cols) == 0 {
		return nil
	}
	rows := make([]Row, cols[0].Len())
	for i := range rows {
		rows[i] = make(Row, len(cols), len(cols)+1)
		for j, c := range cols {
			rows[i][j] = c.Value(i)
		}
	}
	return rows
}

// combo is one row of each input of a join so far.
type combo []Row

func lookup(n *ra.Node, c combo) func(kernels.Col) kernels.Value {
	return func(col kernels.Col) kernels.Value { return c[col.Input][n.Inputs[col.Input].Index(col.ID)] }
}

// combine joins the inputs one after the other on the equality conditions, then applies Pred.
func (in *Interp) combine(n *ra.Node, inputs [][]Row) ([]combo, error) {
	combos := []combo{{}}
	for i := range inputs {
		var here []ra.Equi // conditions that become checkable with input i; R is its column
		for _, q := range n.Equi {
			if q.L.Input == i && q.R.Input <= i {
				q.L, q.R = q.R, q.L
			}
			if q.R.Input == i && q.L.Input <= i {
				here = append(here, q)
			}
		}
		index := map[string][]Row{}
		for _, r := range inputs[i] {
			if k, ok := equiKey(n, here, append(make(combo, i), r), i); ok {
				index[k] = append(index[k], r)
			}
		}
		var next []combo
		for _, c := range combos {
			k, ok := equiKey(n, here, c, -1)
			if !ok {
				continue
			}
			for _, r := range index[k] {
				if joined := append(c[:len(c):len(c)], r); selfConditions(n, here, joined, i) {
					next = append(next, joined)
				}
			}
		}
		combos = next
	}
	return in.filter(n, combos)
}

// equiKey encodes the columns of the conditions: those of the new input (slot ≥ 0) or their partners. NULL
// matches only under NullSafe. Conditions within one input are left to selfConditions.
func equiKey(n *ra.Node, conds []ra.Equi, c combo, slot int) (string, bool) {
	var b strings.Builder
	for _, q := range conds {
		if q.L.Input == q.R.Input {
			continue
		}
		col := q.L
		if slot >= 0 {
			col = q.R
		}
		v := lookup(n, c)(col)
		if v.Null && !q.NullSafe {
			return "", false
		}
		writeKey(&b, v)
	}
	return b.String(), true
}

func selfConditions(n *ra.Node, conds []ra.Equi, c combo, slot int) bool {
	for _, q := range conds {
		if q.L.Input != slot || q.R.Input != slot {
			continue
		}
		l, r := lookup(n, c)(q.L), lookup(n, c)(q.R)
		if (l.Null || r.Null) && !(q.NullSafe && l.Null && r.Null) || key(l) != key(r) {
			return false
		}
	}
	return true
}

func (in *Interp) filter(n *ra.Node, combos []combo) ([]combo, error) {
	var out []combo
	for _, c := range combos {
		keep := true
		for _, p := range n.Pred {
			v, err := p.Eval(in.env, lookup(n, c))
			if err != nil {
				return nil, err
			}
			keep = keep && v.True()
		}
		if keep {
			out = append(out, c)
		}
	}
	return out, nil
}

func (in *Interp) join(n *ra.Node, inputs [][]Row) ([]Row, error) {
	combos, err := in.combine(n, inputs)
	if err != nil {
		return nil, err
	}
	out := make([]Row, len(combos))
	for i, c := range combos {
		out[i] = make(Row, len(n.Out))
		for j, e := range n.Out {
			if out[i][j], err = e.Eval(in.env, lookup(n, c)); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

func (in *Interp) semi(n *ra.Node, inputs [][]Row) ([]Row, error) {
	var out []Row
	for _, l := range inputs[0] {
		combos, err := in.combine(n, [][]Row{{l}, inputs[1]})
		if err != nil {
			return nil, err
		}
		if (len(combos) > 0) == (n.Op == ra.SemiJoin) {
			out = append(out, l)
		}
	}
	return out, nil
}

func aggregate(n *ra.Node, rows []Row) []Row {
	in := n.Inputs[0]
	groups, order := map[string]Row{}, []string(nil)
	start := func(k string, r Row) Row {
		g := make(Row, len(n.Cols))
		for i, id := range n.Group {
			g[i] = r[in.Index(id)]
		}
		for i, a := range n.Aggs {
			t := n.Cols[len(n.Group)+i].Type
			switch a.Fn {
			case ra.Count, ra.CountRows:
				g[len(n.Group)+i] = kernels.IntValue(0)
			case ra.GradSum:
				g[len(n.Group)+i] = zero(t)
			default:
				g[len(n.Group)+i] = kernels.NullOf(t)
			}
		}
		groups[k] = g
		order = append(order, k)
		return g
	}
	if len(n.Group) == 0 {
		start("", nil)
	}
	for _, r := range rows {
		var b strings.Builder
		for _, id := range n.Group {
			writeKey(&b, r[in.Index(id)])
		}
		g, ok := groups[b.String()]
		if !ok {
			g = start(b.String(), r)
		}
		for i, a := range n.Aggs {
			acc := &g[len(n.Group)+i]
			if a.Fn == ra.CountRows {
				acc.I++
				continue
			}
			accumulate(a.Fn, acc, r[in.Index(a.Arg)])
		}
	}
	return lists.Map(order, func(k string) Row { return groups[k] })
}

func zero(t kernels.Type) kernels.Value {
	v := kernels.Value{Type: t}
	if t.Shape != nil {
		v.F = make([]float64, t.Size())
	}
	return v
}

func accumulate(fn ra.AggFn, acc *kernels.Value, v kernels.Value) {
	if v.Null {
		return
	}
	switch {
	case fn == ra.Count:
		acc.I++
	case acc.Null:
		v.F = append([]float64(nil), v.F...)
		*acc = v
	case fn == ra.Sum || fn == ra.GradSum:
		acc.I += v.I
		acc.X += v.X
		for i, x := range v.F {
			acc.F[i] += x
		}
	case v.Type.IsChunk():
		for i, x := range v.F {
			if c := kernels.Compare(kernels.FloatValue(x), kernels.FloatValue(acc.F[i])); fn == ra.Min && c < 0 ||
				fn == ra.Max && c > 0 {
				acc.F[i] = x
			}
		}
	default:
		if c := kernels.Compare(v, *acc); fn == ra.Min && c < 0 || fn == ra.Max && c > 0 {
			*acc = v
		}
	}
}

func add(n *ra.Node, inputs [][]Row) []Row {
	var out []Row
	at := map[string]int{}
	for _, rows := range inputs {
		for _, r := range rows {
			var b strings.Builder
			for i := range n.Key {
				writeKey(&b, r[i])
			}
			i, ok := at[b.String()]
			if !ok {
				at[b.String()] = len(out)
				row := append(Row(nil), r[:len(n.Cols)]...)
				for j := range row {
					row[j].F = append([]float64(nil), row[j].F...)
				}
				out = append(out, row)
				continue
			}
			for j := len(n.Key); j < len(n.Cols); j++ {
				accumulate(ra.GradSum, &out[i][j], r[j])
			}
		}
	}
	return out
}

// key encodes a value so that equal values, in SQL's sense plus NULL = NULL, have equal keys.
func key(v kernels.Value) string {
	var b strings.Builder
	writeKey(&b, v)
	return b.String()
}

func writeKey(b *strings.Builder, v kernels.Value) {
	switch {
	case v.Null:
		b.WriteString("N;")
	case v.Type.Kind == kernels.Text:
		b.WriteString(strconv.Itoa(len(v.T)) + ":" + v.T)
	case !v.Type.IsFloat():
		b.WriteString(strconv.FormatInt(v.I, 10) + ";")
	default:
		for _, x := range v.Floats() {
			switch {
			case x == 0:
				x = 0
			case x != x:
				x = math.NaN()
			}
			b.WriteString(strconv.FormatUint(math.Float64bits(x), 16) + ";")
		}
	}
}
