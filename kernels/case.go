package kernels

import "github.com/relgrad/relgrad/internal/sqlerr"

// Unify returns the common type of the alternatives of CASE, COALESCE, GREATEST and their kin; name is for
// the message. Numbers unify to double precision unless all are bigint or all real; shapes must be equal.
// The result is nullable when some alternative is.
func Unify(name string, a ...Type) (Type, error) {
	out := a[0]
	for _, t := range a[1:] {
		nullable := out.Nullable || t.Nullable
		num := (out.IsFloat() || out.Kind == Int) && (t.IsFloat() || t.Kind == Int)
		switch {
		case !out.Shape.Equal(t.Shape) && out.IsChunk() && t.IsChunk():
			return Type{}, sqlerr.New(sqlerr.ArraySubscript, "%s: different shapes %v and %v", name, out.Shape, t.Shape)
		case !out.Shape.Equal(t.Shape) || out.Kind != t.Kind && !num:
			return Type{}, sqlerr.New(sqlerr.DatatypeMismatch, "%s types %v and %v cannot be matched", name, out, t)
		case out.Kind != t.Kind:
			out.Kind = Float64
		}
		if out.Of == nil {
			out.Of = t.Of
		}
		out.Nullable = nullable
	}
	return out, nil
}

// coerce gives a value the type that Unify chose.
func coerce(v Value, t Type) Value {
	if v.Null {
		return NullOf(t)
	}
	if v.Type.Kind == Int && t.IsFloat() {
		v.X, v.I = float64(v.I), 0
	}
	v.Type = t
	return v
}

var _ = Register(&Def{
	Name: "case", Args: "condition1, value1, …, otherwise", MinArgs: 3, MaxArgs: -1, Internal: true, NonStrict: true,
	Role: RoleChoice, Chosen: caseValues, Traits: Branches,
	Doc:  "CASE WHEN condition1 THEN value1 … ELSE otherwise END.",
	Kink: "The chosen branch receives the gradient; nothing inside the others is evaluated. Conditions have derivative 0.",
	Null: "A NULL condition does not hold; a NULL in a branch that is not chosen does not matter.",
	Infer: func(a []Type, _ Attr) (Type, error) {
		if len(a)%2 == 0 {
			return Type{}, sqlerr.New(sqlerr.Internal, "case with %d arguments", len(a))
		}
		values := []Type{a[len(a)-1]}
		for i := 0; i+1 < len(a); i += 2 {
			if a[i].Kind != Bool {
				return Type{}, sqlerr.New(sqlerr.DatatypeMismatch, "argument of CASE/WHEN must be type boolean, not type %v", a[i])
			}
			values = append(values, a[i+1])
		}
		return Unify("CASE", values...)
	},
	Lazy: func(e *Expr, eval func(*Expr) (Value, error)) (Value, error) {
		n, chosen := len(e.Args), len(e.Args)-1
		for i := 0; i+1 < n; i += 2 {
			c, err := eval(e.Args[i])
			if err != nil {
				return Value{}, err
			}
			if c.True() {
				chosen = i + 1
				break
			}
		}
		v, err := eval(e.Args[chosen])
		return coerce(v, e.Type), err
	},
	VJP: func(e, g *Expr) []*Expr {
		out := make([]*Expr, len(e.Args))
		for i := 1; i < len(out); i += 2 {
			out[i] = g
		}
		out[len(out)-1] = g
		return out
	},
	Guarded: func(e *Expr) []*Expr {
		out := make([]*Expr, len(e.Args))
		var earlier *Expr // none of the earlier conditions holds
		for i := 0; i+1 < len(e.Args); i += 2 {
			out[i+1] = And(earlier, e.Args[i])
			earlier = And(earlier, Build("not", Build("is_true", e.Args[i])))
		}
		out[len(out)-1] = earlier
		return out
	},
	Flops: perElement(1),
	Samples: []Sample{
		{Types: []Type{{Kind: Bool}, {Kind: Float64}, {Kind: Float32}}, Ints: []int64{1}},
		{Types: []Type{{Kind: Bool}, {Kind: Float64}, {Kind: Bool}, {Kind: Float64}, {Kind: Float64}}, Ints: []int64{0, 1}},
		{Types: []Type{{Kind: Bool}, {Kind: Float32, Shape: []int{3}}, {Kind: Float32, Shape: []int{3}}}, Ints: []int64{0}},
		{Types: []Type{{Kind: Bool}, f64(1), f32(1)}, Ints: []int64{1}},
		{Types: []Type{{Kind: Bool}, f64(2, 3), f64(2, 3)}, Ints: []int64{1}},
		{Types: []Type{{Kind: Bool}, f32(2, 1, 2), f64(2, 1, 2)}, Ints: []int64{0}},
		{Types: []Type{{Kind: Bool}, f64(1, 2, 1, 2), f64(1, 2, 1, 2)}, Ints: []int64{1}},
	},
})

var _ = Register(&Def{
	Name: "coalesce", Args: "a, …", MinArgs: 1, MaxArgs: -1, Internal: true, NonStrict: true,
	Role: RoleChoice, Traits: NullWhereAllAre,
	Doc:  "COALESCE(a, …): the first argument that is not NULL.",
	Kink: "The chosen argument receives the gradient.",
	Null: "NULL only where all arguments are.",
	Infer: func(a []Type, _ Attr) (Type, error) {
		t, err := Unify("COALESCE", a...)
		for _, x := range a {
			t.Nullable = t.Nullable && x.Nullable
		}
		return t, err
	},
	Lazy: func(e *Expr, eval func(*Expr) (Value, error)) (Value, error) {
		for _, a := range e.Args {
			if v, err := eval(a); err != nil || !v.Null {
				return coerce(v, e.Type), err
			}
		}
		return NullOf(e.Type), nil
	},
	VJP: func(e, g *Expr) []*Expr {
		out := make([]*Expr, len(e.Args))
		for i := range out {
			out[i] = g
		}
		return out
	},
	Guarded: func(e *Expr) []*Expr {
		out := make([]*Expr, len(e.Args))
		var earlier *Expr // all earlier arguments are NULL
		for i, a := range e.Args {
			out[i] = And(earlier, Build("is_not_null", a))
			earlier = And(earlier, Build("is_null", a))
		}
		return out
	},
	Samples: []Sample{
		{Types: []Type{{Kind: Float64}, {Kind: Float64}}},
		{Types: []Type{{Kind: Float32, Shape: []int{2}}, {Kind: Float32, Shape: []int{2}}}},
		{Types: []Type{f64(1), f64(1)}},
		{Types: []Type{f32(2, 3), f64(2, 3)}},
		{Types: []Type{f64(2, 1, 2), f64(2, 1, 2), f64(2, 1, 2)}},
		{Types: []Type{f32(1, 2, 1, 2), f32(1, 2, 1, 2)}},
	},
})

var _ = Register(&Def{
	Name: "nullif", Args: "a, b", MinArgs: 2, Internal: true, NonStrict: true, Traits: OnlySelects,
	Doc:  "NULLIF(a, b): NULL where a = b, else a.",
	Kink: "a receives the gradient where it is the result.",
	Null: "a where b is NULL.",
	Infer: func(a []Type, at Attr) (Type, error) {
		_, err := inferCompare("eq")(a, at)
		t := a[0]
		t.Nullable = true
		return t, err
	},
	Eval: func(_ *Env, a []Value, _ Attr, out Type) (Value, error) {
		if a[0].Null || !a[1].Null && Compare(a[0], a[1]) == 0 {
			return NullOf(out), nil
		}
		return a[0], nil
	},
	VJP:     func(e, g *Expr) []*Expr { return []*Expr{g, nil} },
	Guarded: func(e *Expr) []*Expr { return []*Expr{Build("is_distinct", e.Args[0], e.Args[1]), nil} },
	Samples: []Sample{{Types: []Type{{Kind: Float64}, {Kind: Float64}}}},
})

// caseValues are the arguments of CASE that are no conditions: condition, value, …, otherwise.
func caseValues(n int) (out []int) {
	for i := range n {
		if i%2 == 1 || i == n-1 {
			out = append(out, i)
		}
	}
	return out
}
