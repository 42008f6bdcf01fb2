package kernels

import "github.com/relgrad/relgrad/internal/sqlerr"

func inferLogic(name string) func([]Type, Attr) (Type, error) {
	return func(a []Type, _ Attr) (Type, error) {
		out := Type{Kind: Bool}
		for _, t := range a {
			if t.Kind != Bool {
				return Type{}, sqlerr.New(sqlerr.DatatypeMismatch,
					"argument of %s must be type boolean, not type %v", sqlName(name), t)
			}
			out.Nullable = out.Nullable || t.Nullable
		}
		return out, nil
	}
}

func sqlName(name string) string {
	return map[string]string{"and": "AND", "or": "OR", "not": "NOT", "is_true": "IS TRUE"}[name]
}

var boolSamples = []Sample{{Types: []Type{{Kind: Bool}, {Kind: Bool}}, Ints: []int64{1, 0}}}

// registerConnective registers AND (absorbing: false) and OR (absorbing: true).
func registerConnective(name, doc string, absorbing bool) {
	Register(&Def{
		Name: name, Args: "a, b", MinArgs: 2, Internal: true, Zero: true, NonStrict: true,
		Doc:   doc,
		Null:  "Three-valued logic; the second argument is not evaluated where the first decides.",
		Infer: inferLogic(name),
		Lazy: func(e *Expr, eval func(*Expr) (Value, error)) (Value, error) {
			null := false
			for _, x := range e.Args {
				v, err := eval(x)
				switch {
				case err != nil:
					return Value{}, err
				case v.Null:
					null = true
				case (v.I != 0) == absorbing:
					return BoolValue(absorbing), nil
				}
			}
			if null {
				return NullOf(e.Type), nil
			}
			return BoolValue(!absorbing), nil
		},
		Samples: boolSamples,
	})
}

func init() {
	registerConnective("and", "a AND b.", false)
	registerConnective("or", "a OR b.", true)
}

var _ = Register(&Def{
	Name: "not", Args: "a", MinArgs: 1, Internal: true, Zero: true,
	Doc:     "NOT a.",
	Infer:   inferLogic("not"),
	Eval:    func(_ *Env, a []Value, _ Attr, _ Type) (Value, error) { return BoolValue(a[0].I == 0), nil },
	Samples: []Sample{{Types: []Type{{Kind: Bool}}, Ints: []int64{1}}},
})

var _ = Register(&Def{
	Name: "is_true", Args: "a", MinArgs: 1, Internal: true, Zero: true, NonStrict: true,
	Doc:  "a IS TRUE.",
	Null: "NULL is not true; never NULL.",
	Infer: func(a []Type, at Attr) (Type, error) {
		_, err := inferLogic("is_true")(a, at)
		return Type{Kind: Bool}, err
	},
	Eval:    func(_ *Env, a []Value, _ Attr, _ Type) (Value, error) { return BoolValue(a[0].True()), nil },
	Samples: []Sample{{Types: []Type{{Kind: Bool}}, Ints: []int64{1}}},
})

func registerNullTest(name, doc string, null bool) {
	Register(&Def{
		Name: name, Args: "a", MinArgs: 1, Internal: true, Zero: true, NonStrict: true, Traits: TestsNull,
		Doc:   doc,
		Null:  "Never NULL.",
		Infer: func([]Type, Attr) (Type, error) { return Type{Kind: Bool}, nil },
		Eval:  func(_ *Env, a []Value, _ Attr, _ Type) (Value, error) { return BoolValue(a[0].Null == null), nil },
		Samples: append([]Sample{{Types: []Type{{Kind: Text}}}, {Types: []Type{{Kind: Float32, Shape: []int{2}}}}},
			lastSamples...),
	})
}

func init() {
	registerNullTest("is_null", "a IS NULL, for any type.", true)
	registerNullTest("is_not_null", "a IS NOT NULL, for any type.", false)
}

// And is the conjunction; a nil side counts as true.
func And(a, b *Expr) *Expr {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	case !b.Total(): // looked at only where a holds
		return Build("case", a, b, Const(BoolValue(false)))
	}
	return Build("and", a, b)
}

// Valid returns the condition under which e is not NULL, nil where it never is. For strict kernels it is
// asked of the columns, so that the condition does not compute e again.
func Valid(e *Expr) *Expr {
	if !e.Type.Nullable {
		return nil
	}
	if !e.Strict() {
		return Build("is_not_null", e)
	}
	var out *Expr
	for _, a := range e.Args {
		out = And(out, Valid(a))
	}
	return out
}

// Strict reports whether e is a call that is NULL exactly where an argument is.
func (e *Expr) Strict() bool { return e.Def != nil && !e.Def.NonStrict && !mayBeNull(e.Def, e) }

// mayBeNull reports whether the call can be NULL though no argument is.
func mayBeNull(d *Def, e *Expr) bool {
	types := make([]Type, len(e.Args))
	for i, a := range e.Args {
		types[i] = a.Type
		types[i].Nullable = false
	}
	t, err := d.Infer(types, e.Attr)
	return err != nil || t.Nullable
}
