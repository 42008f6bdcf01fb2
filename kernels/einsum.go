package kernels

import (
	"sort"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/tensor"
)

var _ = Register(&Def{
	Name: "einsum", Args: "spec, a[, b[, c[, d]]]", MinArgs: 2, MaxArgs: 5,
	Doc: "Einstein's summation: einsum('ij,jk->ik', a, b) multiplies the elements that the labels pair and sums over " +
		"the labels " +
		"that the result lacks. A label repeated in one operand takes the diagonal, one repeated in the result places it. " +
		"Without -> " +
		"the result has the labels that occur once, sorted. No labels: double precision. A loss, and the embedded store, " +
		"take up to 16 operands, which are multiplied by twos in the cheapest order.",
	Bind: func(args []*Expr) (*Expr, error) {
		v, err := static("einsum", "spec", args[0])
		if err != nil {
			return nil, err
		}
		if v.Type.Kind != Text {
			return nil, wrongType("einsum", []Type{v.Type})
		}
		s, err := parseEinsum(v.T, len(args)-1)
		if err != nil {
			return nil, err
		}
		return Call(Lookup("einsum"), Attr{Spec: s.String()}, args[1:]...)
	},
	Infer: func(a []Type, at Attr) (Type, error) {
		s, err := parseEinsum(at.Spec, len(a))
		if err != nil {
			return Type{}, err
		}
		return s.infer(a)
	},
	Divide: EinsumPath,
	Eval:   evalEinsum,
	VJP:    vjpEinsum,
	Flops: func(a []Type, at Attr, _ Type) float64 {
		s, err := parseEinsum(at.Spec, len(a))
		if err != nil {
			return 0
		}
		n, seen := float64(len(a)), map[rune]bool{}
		for i, t := range a {
			for d, l := range s.in[i] {
				if !seen[l] {
					seen[l] = true
					n *= float64(t.Shape[d])
				}
			}
		}
		return n
	},
	Samples: []Sample{
		{Types: []Type{{Kind: Float32, Shape: []int{2, 3}}, {Kind: Float32, Shape: []int{3, 4}}},
			Attr: Attr{Spec: "ij,jk->ik"}},
		{Types: []Type{{Kind: Float64, Shape: []int{3, 3}}}, Attr: Attr{Spec: "ii->i"}},
		{Types: []Type{{Kind: Float64, Shape: []int{3, 3}}}, Attr: Attr{Spec: "ii->"}},
		{Types: []Type{{Kind: Float64, Shape: []int{3}}}, Attr: Attr{Spec: "i->ii"}},
		{Types: []Type{{Kind: Float64, Shape: []int{2, 3}}}, Attr: Attr{Spec: "ij->j"}},
		{Types: []Type{{Kind: Float64, Shape: []int{2, 3}}, {Kind: Float64, Shape: []int{2}},
			{Kind: Float64, Shape: []int{3}}}, Attr: Attr{Spec: "ij,i,j->"}},
		{Types: []Type{{Kind: Float64, Shape: []int{2, 2, 3}}, {Kind: Float64, Shape: []int{4}}},
			Attr: Attr{Spec: "iij,k->k"}},
		{Types: []Type{f32(2, 3), f64(3, 2), f64(2, 2), f32(2)}, Attr: Attr{Spec: "ij,jk,kl,l->i"}},
		{Types: []Type{f64(2, 1, 2, 3), f64(3, 2)}, Attr: Attr{Spec: "abcd,dc->abd"}},
		{Types: []Type{f32(3), f64(), f32(2)}, Attr: Attr{Spec: "i,,j->ji"}},
		{Types: []Type{f32(1)}, Attr: Attr{Spec: "z->"}},
		{Types: []Type{f64(), f64(), f64()}, Attr: Attr{Spec: ",,->"}},
		{Types: []Type{f32(2, 1, 2, 1, 2, 2)}, Attr: Attr{Spec: "abcdef->fed"}},
		{Types: []Type{f64(2, 1, 2, 1, 2), f64(2, 2)}, Attr: Attr{Spec: "abcde,ef->abcdf"}},
		{Types: []Type{f64(2, 2), f64(2, 2)}, Attr: Attr{Spec: "Ab,bA->AAb"}},
	},
})

// einsumSpec holds the labels of the operands and of the result.
type einsumSpec struct {
	in  []string
	out string
}

func (s einsumSpec) String() string { return strings.Join(s.in, ",") + "->" + s.out }

func parseEinsum(spec string, operands int) (einsumSpec, error) {
	bad := func(format string, args ...any) (einsumSpec, error) {
		return einsumSpec{}, sqlerr.New(sqlerr.InvalidParameter, format, args...).
			WithHint("A spec looks like 'ij,jk->ik': one letter for each dimension of each operand.")
	}
	text := strings.ReplaceAll(spec, " ", "")
	if strings.Contains(text, "...") {
		return einsumSpec{}, sqlerr.New(sqlerr.FeatureNotSupported, "einsum spec %q has an ellipsis", spec).
			WithHint("Write a letter for each dimension; shapes are fixed.")
	}
	left, out, explicit := strings.Cut(text, "->")
	s := einsumSpec{in: strings.Split(left, ","), out: out}
	if len(s.in) != operands {
		return bad("einsum spec %q has %d operands, not %d", spec, len(s.in), operands)
	}
	count := map[rune]int{}
	for _, op := range s.in {
		for _, l := range op {
			count[l]++
		}
	}
	if !explicit {
		var once []string
		for l, n := range count {
			if n == 1 {
				once = append(once, string(l))
			}
		}
		sort.Strings(once)
		s.out = strings.Join(once, "")
	}
	for _, l := range strings.Join(s.in, "") + s.out {
		if !(l >= 'a' && l <= 'z' || l >= 'A' && l <= 'Z') {
			return bad("einsum spec %q has %q, which is no letter", spec, l)
		}
		if count[l] == 0 {
			return bad("einsum spec %q: no operand has the label %q of the result", spec, l)
		}
	}
	return s, nil
}

func (s einsumSpec) infer(a []Type) (Type, error) {
	dims, kind := map[rune]int{}, Float32
	for i, t := range a {
		if !t.IsFloat() && t.Kind != Int || t.Kind == Int && t.Shape != nil {
			return Type{}, wrongType("einsum", a)
		}
		if len(t.Shape) != len(s.in[i]) {
			return Type{}, sqlerr.New(sqlerr.ArraySubscript,
				"einsum %s: operand %d has shape %v, not %d dimensions", s, i+1, t.Shape, len(s.in[i]))
		}
		if t.Shape != nil && t.Kind == Float64 {
			kind = Float64
		}
		for d, l := range s.in[i] {
			if n, ok := dims[l]; ok && n != t.Shape[d] {
				return Type{}, sqlerr.New(sqlerr.ArraySubscript,
					"einsum %s: label %q has the lengths %d and %d", s, l, n, t.Shape[d])
			}
			dims[l] = t.Shape[d]
		}
	}
	if s.out == "" {
		return Type{Kind: Float64}, nil
	}
	if len(s.out) > tensor.MaxRank {
		return Type{}, sqlerr.New(sqlerr.InvalidParameter,
			"einsum %s: the result has %d dimensions, at most %d are possible", s, len(s.out), tensor.MaxRank)
	}
	out := Type{Kind: kind}
	for _, l := range s.out {
		out.Shape = append(out.Shape, dims[l])
	}
	return out, nil
}

func evalEinsum(_ *Env, a []Value, at Attr, out Type) (Value, error) {
	s, err := parseEinsum(at.Spec, len(a))
	if err != nil {
		return Value{}, err
	}
	all := distinct(strings.Join(s.in, ""))
	shape := make(tensor.Shape, len(all))
	labelStrides := func(labels string, dims tensor.Shape) []int {
		st, step := make([]int, len(all)), 1
		for d := len(labels) - 1; d >= 0; d-- {
			l := strings.IndexByte(all, labels[d])
			st[l] += step // a repeated label walks the diagonal
			shape[l] = dims[d]
			step *= dims[d]
		}
		return st
	}
	data, st := make([][]float64, len(a)), make([][]int, len(a)+1)
	for i := range a {
		data[i], st[i] = a[i].Floats(), labelStrides(s.in[i], a[i].Type.Shape)
	}
	st[len(a)] = labelStrides(s.out, out.Shape)
	sum := make([]float64, out.Size())
	for c, more := newCursor(shape, st...), true; more; more = c.next() {
		p := 1.0
		for i, x := range data {
			p *= x[c.off[i]]
		}
		sum[c.off[len(a)]] += p
	}
	return floats(out, sum), nil
}

// vjpEinsum: the contribution to operand k is again a product of g with the other operands, of the labels
// of k. Labels that only k has are repeated (expand_to), labels that k repeats are put on the diagonal.
func vjpEinsum(e, g *Expr) []*Expr {
	s, _ := parseEinsum(e.Attr.Spec, len(e.Args))
	out := make([]*Expr, len(e.Args))
	for k, x := range e.Args {
		labels, args := []string{s.out}, []*Expr{g}
		for i, o := range e.Args {
			if i != k {
				labels, args = append(labels, s.in[i]), append(args, o)
			}
		}
		have := strings.Join(labels, "")
		mine := distinct(s.in[k])
		var known string
		var one, full tensor.Shape // of mine: unknown labels with length 1, with their own
		for _, l := range mine {
			n := x.Type.Shape[strings.IndexRune(s.in[k], l)]
			full = append(full, n)
			if strings.ContainsRune(have, l) {
				known += string(l)
				one = append(one, n)
			} else {
				one = append(one, 1)
			}
		}
		c := BuildAttr("einsum", Attr{Spec: einsumSpec{labels, known}.String()}, args...)
		if known != mine {
			if known != "" {
				c = Reshape(c, one)
			}
			c = ExpandTo(c, Type{Kind: x.Type.Kind, Shape: full})
		}
		if mine != s.in[k] {
			c = BuildAttr("einsum", Attr{Spec: mine + "->" + s.in[k]}, c)
		}
		out[k] = c
	}
	return out
}

// distinct keeps the first of each label.
func distinct(labels string) string {
	out := ""
	for _, l := range labels {
		if !strings.ContainsRune(out, l) {
			out += string(l)
		}
	}
	return out
}

// diag has the same spec machinery: it is an einsum over one label.
var _ = Register(&Def{
	Name: "diag", Args: "x", MinArgs: 1,
	Doc: "Of a vector [n] the diagonal matrix [n,n]; of a square matrix [n,n] its diagonal [n].",
	Bind: func(args []*Expr) (*Expr, error) {
		t := args[0].Type
		switch {
		case t.IsChunk() && len(t.Shape) == 1:
			return Call(Lookup("einsum"), Attr{Spec: "i->ii"}, args[0])
		case t.IsChunk() && len(t.Shape) == 2 && t.Shape[0] == t.Shape[1]:
			return Call(Lookup("einsum"), Attr{Spec: "ii->i"}, args[0])
		}
		return nil, wrongType("diag", []Type{t}).WithHint("The argument must be a vector or a square matrix.")
	},
	Samples: []Sample{
		{Types: []Type{{Kind: Float32, Shape: []int{3}}}},
		{Types: []Type{{Kind: Float64, Shape: []int{3, 3}}}},
		{Types: []Type{f64(1)}},
		{Types: []Type{f32(1, 1)}},
	},
})
