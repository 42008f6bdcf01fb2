package kernels

import "github.com/relgrad/relgrad/internal/lists"

// registerExtreme registers GREATEST (sign 1) and LEAST (sign -1).
func registerExtreme(name, sql string, sign int) {
	Register(&Def{
		Name: name, Args: "a, …", MinArgs: 1, MaxArgs: -1, Internal: true, NonStrict: true,
		Traits: NullWhereAllAre | ReturnsArgument,
		Doc:    sql + "(a, …) of scalars; NaN is above all numbers.",
		Kink:   "Arguments that tie share the gradient equally.",
		Null:   "NULLs are skipped; NULL only where all arguments are.",
		Infer: func(a []Type, _ Attr) (Type, error) {
			t, err := Unify(sql, a...)
			if err == nil && t.Shape != nil {
				err = wrongType(name, a).WithHint("Element by element there are maximum(a, b) and minimum(a, b).")
			}
			for _, x := range a {
				t.Nullable = t.Nullable && x.Nullable
			}
			return t, err
		},
		Eval: func(_ *Env, a []Value, _ Attr, out Type) (Value, error) {
			best := NullOf(out)
			for i := range a {
				if v := coerce(a[i], out); !v.Null && (best.Null || sign*Compare(v, best) > 0) {
					best = v
				}
			}
			return best, nil
		},
		VJP: func(e, g *Expr) []*Expr {
			ties := tie(e, e.Args[0])
			for _, a := range e.Args[1:] {
				ties = Add(ties, tie(e, a))
			}
			out := make([]*Expr, len(e.Args))
			for i := range out {
				out[i] = Div(g, ties)
			}
			return out
		},
		Guarded: func(e *Expr) []*Expr { return lists.Map(e.Args, func(a *Expr) *Expr { return Build("eq", a, e) }) },
		Samples: []Sample{{Types: []Type{{Kind: Float64}, {Kind: Float64}}},
			{Types: []Type{{Kind: Float32}, {Kind: Float64}, {Kind: Float64}}}},
	})
}

// tie is 1 where the argument a is the result e, else 0 (also where it is NULL).
func tie(e, a *Expr) *Expr { return Build("case", Build("eq", a, e), Num(1), Num(0)) }

func init() {
	registerExtreme("greatest", "GREATEST", 1)
	registerExtreme("least", "LEAST", -1)
}
