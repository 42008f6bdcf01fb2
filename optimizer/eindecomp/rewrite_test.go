package eindecomp

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/need"
)

// tensor is an array of integers in row-major order.
type tensor struct {
	bound []int
	cells []int64
}

// each calls f for every index within a bound, in row-major order.
func each(bound []int, f func(at []int)) {
	at := make([]int, len(bound))
	if slices.Contains(bound, 0) {
		return
	}
	for {
		f(at)
		i := len(at) - 1
		for ; i >= 0; i-- {
			if at[i]++; at[i] < bound[i] {
				break
			}
			at[i] = 0
		}
		if i < 0 {
			return
		}
	}
}

func newTensor(bound []int) *tensor {
	n := 1
	for _, b := range bound {
		n *= b
	}
	return &tensor{bound, make([]int64, n)}
}

func (t *tensor) cell(at []int) *int64 {
	n := 0
	for i, b := range t.bound {
		n = n*b + at[i]
	}
	return &t.cells[n]
}

// expression is an einsum over integers: what is computed of the operands' elements, and how results are combined.
type expression struct {
	name    string
	of      func(x []int64) int64
	combine func(a, b int64) int64
}

var expressions = []expression{
	{"sum of products", func(x []int64) int64 {
		out := int64(1)
		for _, v := range x {
			out *= v
		}
		return out
	}, func(a, b int64) int64 { return a + b }},
	{"greatest sum", func(x []int64) int64 { return x[0] + 2*x[len(x)-1] }, func(a, b int64) int64 { return max(a, b) }},
	{"sum of squared differences", func(x []int64) int64 { d := x[0] - x[len(x)-1]; return d * d },
		func(a, b int64) int64 { return a + b }},
	{"least difference", func(x []int64) int64 { return x[0] - x[len(x)-1] },
		func(a, b int64) int64 { return min(a, b) }},
}

// pick gives the numbers at some places.
func pick(of, places []int) []int {
	out := make([]int, len(places))
	for i, p := range places {
		out[i] = of[p]
	}
	return out
}

// kernel evaluates a vertex on whole tensors; bound is that of its labels.
func (v *Vertex) kernel(x expression, bound []int, operands []*tensor) *tensor {
	out := newTensor(pick(bound, v.Output))
	seen := make(map[*int64]bool)
	values := make([]int64, len(operands))
	each(bound, func(at []int) {
		for i, o := range v.Operands {
			values[i] = *operands[i].cell(pick(at, o.Labels))
		}
		to, value := out.cell(pick(at, v.Output)), x.of(values)
		if seen[to] {
			value = x.combine(*to, value)
		}
		*to, seen[to] = value, true
	})
	return out
}

// tuple is one of a tensor relation: a block under its key.
type tuple struct {
	key    []int
	blocks []*tensor
}

// cut makes a tensor relation (EinDecomp §4.1): element j lies in block j div (b/d) at j mod (b/d).
func cut(t *tensor, parts []int) (out []tuple) {
	block := make([]int, len(parts))
	for i := range parts {
		block[i] = t.bound[i] / parts[i]
	}
	each(parts, func(key []int) {
		b := newTensor(block)
		each(block, func(at []int) {
			from := make([]int, len(at))
			for i := range at {
				from[i] = key[i]*block[i] + at[i]
			}
			*b.cell(at) = *t.cell(from)
		})
		out = append(out, tuple{slices.Clone(key), []*tensor{b}})
	})
	return out
}

// join matches tuples whose keys agree in equal labels (§4.2). A label without a key yet has -1.
func join(left, right []tuple, labels []int) (out []tuple) {
	for _, x := range left {
		for _, y := range right {
			key := slices.Clone(x.key)
			fits := true
			for i, l := range labels {
				fits = fits && (key[l] < 0 || key[l] == y.key[i])
				key[l] = y.key[i]
			}
			if fits {
				out = append(out, tuple{key, slices.Concat(x.blocks, y.blocks)})
			}
		}
	}
	return out
}

// decomposed evaluates a vertex as a join and an aggregation of blocks, and counts what moves.
func (v *Vertex) decomposed(x expression, operands []*tensor, d []int) (out *tensor, moved VertexCost) {
	start := make([]int, len(v.Labels))
	for l := range start {
		start[l] = -1
	}
	tuples := []tuple{{key: start}}
	for i, o := range v.Operands {
		tuples = join(tuples, cut(operands[i], pick(d, o.Labels)), o.Labels)
	}
	block, bound := make([]int, len(d)), make([]int, len(d))
	for l := range d {
		bound[l] = int(v.Labels[l].Bound)
		block[l] = bound[l] / d[l]
	}
	groups := map[string]*tensor{}
	moved.Tuples = int64(len(tuples))
	for _, t := range tuples {
		for _, b := range t.blocks {
			moved.Join += int64(len(b.cells))
		}
		result, key := v.kernel(x, block, t.blocks), fmt.Sprint(pick(t.key, v.Output))
		if sum := groups[key]; sum == nil {
			groups[key] = result
		} else {
			for i := range sum.cells {
				sum.cells[i] = x.combine(sum.cells[i], result.cells[i])
			}
			moved.Agg += int64(len(result.cells))
		}
	}
	out = newTensor(pick(bound, v.Output))
	each(out.bound, func(at []int) {
		key, within := make([]int, len(at)), make([]int, len(at))
		for i, l := range v.Output {
			key[i], within[i] = at[i]/block[l], at[i]%block[l]
		}
		*out.cell(at) = *groups[fmt.Sprint(key)].cell(within)
	})
	return out, moved
}

// TestRewrite: the join and the aggregation of blocks give the same integers as the einsum, by every viable vector, and
// move as many floats as the formulas say.
func TestRewrite(t *testing.T) {
	b := newBuilder(map[string]int64{"i": 4, "j": 8, "k": 2, "l": 6, "m": 3})
	b.lines(`P = X[i,j] Y[j,k] -> i,k
		T = X[i,j] Y[j,k] -> k,j,i
		B = X[i,k,j] Y[k,j,l] -> k,i,l
		S = X[i,j,l] -> j
		N = X[i,j] -> 
		E = X[i,j] Y[j,i] -> i,j
		D = X[i,j] Y[i] -> i,j
		O = X[i] Y[k] -> k,i
		M = X[i,m] Y[m,k] Z[k,i] -> i
		C = X[i,j] Y[j,k] Z[k,l] -> i,l`, "")
	for i := range b.Ops {
		for _, name := range b.Ops[i].In {
			b.Inputs[name+b.Ops[i].Name] = nil
		}
		for slot, name := range b.Ops[i].In {
			b.Ops[i].In[slot] = name + b.Ops[i].Name
			b.Inputs[name+b.Ops[i].Name] = b.Ops[i].InLabels[slot]
		}
	}
	g, err := b.New()
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	runs := 0
	for i := range g.Vertices {
		for _, x := range expressions {
			for p := int64(1); p <= 64; p *= 2 {
				runs += checkRewrite(t, r, &g.Vertices[i], x, p)
			}
		}
	}
	t.Logf("%d vectors", runs)
}

// checkRewrite evaluates a vertex by all viable vectors.
func checkRewrite(t *testing.T, r *rand.Rand, v *Vertex, x expression, p int64) int {
	bound := make([]int, len(v.Labels))
	for l := range bound {
		bound[l] = int(v.Labels[l].Bound)
	}
	var operands []*tensor
	for _, o := range v.Operands {
		in := newTensor(pick(bound, o.Labels))
		for i := range in.cells {
			in.cells[i] = r.Int64N(19) - 9
		}
		operands = append(operands, in)
	}
	want := v.kernel(x, bound, operands)
	viable, err := v.viable(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range viable {
		parts := make([]int, len(d))
		for l, e := range d {
			parts[l] = 1 << e
		}
		got, moved := v.decomposed(x, operands, parts)
		tuples, join := v.joining(d)
		if cost := (VertexCost{int64(tuples), int64(join), int64(v.aggregating(d))}); moved != cost {
			t.Errorf("%s by %v moves %+v, not %+v", v.Name, parts, moved, cost)
		}
		if !slices.Equal(got.cells, want.cells) {
			t.Errorf("%s of %s by %v: %v, not %v", x.name, v.Name, parts, got.cells, want.cells)
		}
	}
	return len(viable)
}

// TestGoldenRewrite: results by given vectors are those of the golden file.
func TestGoldenRewrite(t *testing.T) {
	var units struct {
		Repart []struct {
			Bound            []int64
			Produced, Wanted Vector
			Repart           int64
		}
		Rewrite []struct {
			Einsum   string
			Sizes, D map[string]int64
			Tuples   int64
			GroupsOf int64   `json:"groups_of"`
			BlockOut []int   `json:"block_out"`
			BlocksIn [][]int `json:"blocks_in"`
			Result   []int64
		}
	}
	data, err := os.ReadFile(filepath.Join(need.Data(t), "eindecomp_golden", "units.json"))
	if err != nil {
		need.Absent(t, "data", err.Error())
	}
	if err := json.Unmarshal(data, &units); err != nil {
		t.Fatal(err)
	}
	for _, u := range units.Repart {
		if got, err := Repartition(u.Wanted, u.Produced, u.Bound); err != nil || got != u.Repart {
			t.Errorf("%v → %v of %v: %d (%v), not %d", u.Produced, u.Wanted, u.Bound, got, err, u.Repart)
		}
	}
	for _, u := range units.Rewrite {
		v, operands := unit(t, u.Einsum, u.Sizes)
		var d []int
		for _, l := range v.Labels {
			d = append(d, int(u.D[l.Name]))
		}
		got, moved := v.decomposed(expressions[0], operands, d)
		groups := int64(len(got.cells)) * u.GroupsOf
		for _, b := range u.BlockOut {
			groups /= int64(b)
		}
		if !slices.Equal(got.cells, u.Result) || moved.Tuples != u.Tuples || groups != u.Tuples {
			t.Errorf("%s by %v: %v, %+v; want %v, %d tuples in groups of %d", u.Einsum, u.D, got.cells, moved, u.Result,
				u.Tuples, u.GroupsOf)
		}
		for i, o := range v.Operands {
			if first := cut(operands[i], pick(d, o.Labels))[0].blocks[0]; !slices.Equal(first.bound, u.BlocksIn[i]) {
				t.Errorf("%s by %v: block %v, not %v", u.Einsum, u.D, first.bound, u.BlocksIn[i])
			}
		}
	}
}

// unit makes the vertex of an einsum such as ij,jk->ik and the operands of the golden file.
func unit(t *testing.T, einsum string, sizes map[string]int64) (*Vertex, []*tensor) {
	in, out, _ := strings.Cut(einsum, "->")
	d := &Description{Sizes: sizes, Inputs: map[string][]string{}}
	op := Op{Name: "Z", OutLabels: strings.Split(out, "")}
	for i, labels := range strings.Split(in, ",") {
		name := string(rune('A' + i))
		d.Inputs[name] = strings.Split(labels, "")
		op.In, op.InLabels = append(op.In, name), append(op.InLabels, d.Inputs[name])
	}
	d.Ops = []Op{op}
	g, err := d.New()
	if err != nil {
		t.Fatal(err)
	}
	var operands []*tensor
	for i, o := range g.Vertices[0].Operands {
		var bound []int
		for _, l := range o.Labels {
			bound = append(bound, int(g.Vertices[0].Labels[l].Bound))
		}
		x := newTensor(bound)
		for n := range x.cells {
			x.cells[n] = int64([]int{(7*n+3)%11 - 5, (5*n+1)%13 - 6}[i])
		}
		operands = append(operands, x)
	}
	return &g.Vertices[0], operands
}
