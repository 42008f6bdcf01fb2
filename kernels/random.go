package kernels

import (
	"math"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/tensor"
)

// draw is element i of the stream (seed, key).
type draw func(seed int64, key uint64, i int) float64

// registerDraw registers a constructor (shape, seed, key, …) of double precision chunks, drawn as of says for the
// extra numeric arguments after the key.
func registerDraw(name, doc string, extra int, of func(extra []Value) (draw, error)) {
	args, least := "shape, seed, key DEFAULT '{}'", 2
	sample := []Type{{Kind: Int}, {Kind: Int, Shape: []int{2}}}
	if extra > 0 {
		args, least = "shape, seed, key, fan_in, fan_out", 3+extra
		sample = append(sample, Type{Kind: Int}, Type{Kind: Int})
	}
	Register(&Def{
		Name: name, Args: args, MinArgs: least, MaxArgs: 3 + extra, Zero: true,
		Doc: doc + " The result is double precision; shape (constant) and key are bigint[]. Every engine draws the same.",
		Bind: func(args []*Expr) (*Expr, error) {
			shape, err := staticShape(name, args[0])
			if err != nil {
				return nil, err
			}
			rest := args[1:]
			if len(rest) == 1 {
				rest = []*Expr{rest[0], IntArray()}
			}
			return Call(Lookup(name), Attr{Shape: shape}, rest...)
		},
		Infer: func(a []Type, at Attr) (Type, error) {
			ok := len(a) == 2+extra && a[0].Kind == Int && a[0].Shape == nil && a[1].Kind == Int && a[1].Shape != nil
			for _, t := range a[min(2, len(a)):] {
				ok = ok && t.Shape == nil && (t.IsFloat() || t.Kind == Int)
			}
			if !ok {
				return Type{}, wrongType(name, a).WithHint("The arguments are %s, shape and key of type bigint[].", args)
			}
			return Type{Kind: Float64, Shape: at.Shape}, nil
		},
		Eval: func(_ *Env, a []Value, at Attr, out Type) (Value, error) {
			element, err := of(a[2:])
			if err != nil {
				return Value{}, err
			}
			res, key := make([]float64, out.Size()), tensor.HashKey(a[1].Ints...)
			for i := range res {
				res[i] = element(a[0].I, key, i)
			}
			return Value{Type: out, F: res}, nil
		},
		Flops: perElement(40),
		Samples: []Sample{
			{Types: sample, Attr: Attr{Shape: []int{2, 3}}, Ints: []int64{1, 2, 3}},
			{Types: sample, Attr: Attr{Shape: []int{1}}, Ints: []int64{2, 3, 1}},
			{Types: sample, Attr: Attr{Shape: []int{2, 1, 2}}, Ints: []int64{1, 2, 3}},
			{Types: sample, Attr: Attr{Shape: []int{1, 2, 1, 2}}, Ints: []int64{1, 4, 5}},
		},
	})
}

func init() {
	registerDraw("random_uniform", "Uniform draws in [0,1) (Philox).", 0,
		func([]Value) (draw, error) { return tensor.Uniform, nil })
	registerDraw("random_normal", "Draws from the standard normal distribution (Philox, Box–Muller).", 0,
		func([]Value) (draw, error) { return tensor.Normal, nil })
	registerDraw("glorot_uniform", "Uniform draws in ±sqrt(6 / (fan_in + fan_out)).", 2, func(fan []Value) (draw, error) {
		sum := fan[0].Float() + fan[1].Float()
		if !(sum > 0) {
			return nil, sqlerr.New(sqlerr.InvalidParameter, "glorot_uniform with fan_in %v and fan_out %v", fan[0], fan[1]).
				WithHint("Their sum must be positive: they count inputs and outputs.")
		}
		limit := math.Sqrt(6 / sum)
		return func(seed int64, key uint64, i int) float64 { return limit * (2*tensor.Uniform(seed, key, i) - 1) }, nil
	})
}

var _ = Register(&Def{
	Name: "random_int", Args: "n, seed, key", MinArgs: 3, Zero: true,
	Doc: "A uniform draw of a bigint in 0 … n-1: floor(n·u), u the first uniform draw of (seed, key).",
	Infer: func(a []Type, _ Attr) (Type, error) {
		if a[0].Kind != Int || a[1].Kind != Int || a[2].Kind != Int || a[0].Shape != nil ||
			a[1].Shape != nil || a[2].Shape == nil {
			return Type{}, wrongType("random_int", a)
		}
		return Type{Kind: Int}, nil
	},
	Eval: func(_ *Env, a []Value, _ Attr, _ Type) (Value, error) {
		if a[0].I < 1 {
			return Value{}, sqlerr.New(sqlerr.InvalidParameter, "random_int of %d numbers", a[0].I)
		}
		u := tensor.Uniform(a[1].I, tensor.HashKey(a[2].Ints...), 0)
		return IntValue(min(int64(float64(a[0].I)*u), a[0].I-1)), nil
	},
	Flops:   perElement(40),
	Samples: []Sample{{Types: []Type{{Kind: Int}, {Kind: Int}, {Kind: Int, Shape: []int{2}}}, Ints: []int64{10, 1}}},
})

var _ = Register(&Def{
	Name: "int_array", Args: "i, …", MinArgs: 0, MaxArgs: -1, Internal: true, Zero: true,
	Doc: "ARRAY[i, …] of bigint: keys of draws, shapes.",
	Infer: func(a []Type, _ Attr) (Type, error) {
		for _, t := range a {
			if t.Kind != Int || t.Shape != nil {
				return Type{}, wrongType("int_array", a)
			}
		}
		return Type{Kind: Int, Shape: []int{len(a)}}, nil
	},
	Eval: func(_ *Env, a []Value, _ Attr, out Type) (Value, error) {
		v := Value{Type: out, Ints: make([]int64, len(a))}
		for i := range a {
			v.Ints[i] = a[i].I
		}
		return v, nil
	},
	Samples: []Sample{{Types: []Type{{Kind: Int}, {Kind: Int}}, Ints: []int64{4, 5}}},
})

// IntArray is a constant bigint[].
func IntArray(x ...int64) *Expr {
	if x == nil {
		x = []int64{}
	}
	return Const(Value{Type: Type{Kind: Int, Shape: []int{len(x)}}, Ints: x})
}

var _ = Register(&Def{
	Name: "drop_mask", Args: "key", MinArgs: 1, Internal: true, Zero: true, PerStep: true, PerCall: true,
	Doc: "The mask of dropout, of the attribute's shape (none: a scalar) and type: element i is 0 with probability Num, " +
		"else 1/(1 - Num), by " +
		"word i mod 4 of block i / 4 of Philox in the stream (seed, hash(Int, step, key)). Num is met to 2⁻³²; above 0 it " +
		"never becomes 0, nor 1.",
	Infer: func(a []Type, at Attr) (Type, error) {
		if a[0].Kind != Int || a[0].Shape != nil {
			return Type{}, wrongType("drop_mask", a)
		}
		if !(at.Num >= 0 && at.Num < 1) {
			return Type{}, sqlerr.New(sqlerr.InvalidParameter, "dropout probability %v is not in [0,1)", at.Num)
		}
		return Type{Kind: at.Kind, Shape: at.Shape}, nil
	},
	Eval: func(env *Env, a []Value, at Attr, out Type) (Value, error) {
		key, f := tensor.HashKey(at.Int, env.Step, a[0].I), make([]float64, out.Size())
		for i := range f {
			if !tensor.Dropped(env.Seed, key, i, at.Num) {
				f[i] = 1 / (1 - at.Num)
			}
		}
		return floats(out, f), nil
	},
	Flops: perElement(5), // a block of four elements is 20 multiplications, with the rest in their shadow
	Samples: []Sample{
		{Types: []Type{{Kind: Int}}, Attr: Attr{Shape: []int{3}, Num: 0.5, Int: 7}, Ints: []int64{3}},
		{Types: []Type{{Kind: Int}}, Attr: Attr{Num: 0.3, Int: 7}, Ints: []int64{3}},
		{Types: []Type{{Kind: Int}}, Attr: Attr{Shape: []int{5, 3}, Num: 0.7, Int: -7}, Ints: []int64{1 << 40}},
		{Types: []Type{{Kind: Int}}, Attr: Attr{Shape: []int{2, 2, 2}, Num: 1e-12, Int: 7}, Ints: []int64{-3}},
	},
})

var _ = Register(&Def{
	Name: "row_key", Args: "a, …", MinArgs: 0, MaxArgs: -1, Internal: true, Zero: true,
	Doc: "A 64-bit hash of the values of a key, for draws.",
	Infer: func(a []Type, _ Attr) (Type, error) {
		for _, t := range a {
			if t.Shape != nil {
				return Type{}, wrongType("row_key", a)
			}
		}
		return Type{Kind: Int}, nil
	},
	Eval: func(_ *Env, a []Value, _ Attr, _ Type) (Value, error) {
		parts := make([]int64, len(a))
		for i, v := range a {
			switch {
			case v.Type.Kind == Text:
				parts[i] = int64(tensor.HashText(v.T))
			case v.Type.IsFloat():
				parts[i] = int64(math.Float64bits(v.X))
			default:
				parts[i] = v.I
			}
		}
		return IntValue(int64(tensor.HashKey(parts...))), nil
	},
	Flops:   func(a []Type, _ Attr, _ Type) float64 { return 8 * float64(len(a)) },
	Samples: []Sample{{Types: []Type{{Kind: Int}, {Kind: Text}}, Ints: []int64{3}}},
})

var _ = Register(&Def{
	Name: "current_step", MinArgs: 0, Zero: true, PerStep: true,
	Doc:     "The step of the training run or of gradient(…, step => n), a bigint; 0 outside.",
	Infer:   func([]Type, Attr) (Type, error) { return Type{Kind: Int}, nil },
	Eval:    func(env *Env, _ []Value, _ Attr, _ Type) (Value, error) { return IntValue(env.Step), nil },
	Samples: []Sample{{}},
})

var _ = Register(&Def{
	Name: "current_epoch", MinArgs: 0, Zero: true, PerStep: true,
	Doc: "The epoch of the training run, a bigint from 1: the pass over batch that the step belongs to. Without batch, " +
		"and in gradient(…, step => n), the step; 0 outside.",
	Infer:   func([]Type, Attr) (Type, error) { return Type{Kind: Int}, nil },
	Eval:    func(env *Env, _ []Value, _ Attr, _ Type) (Value, error) { return IntValue(env.Epoch), nil },
	Samples: []Sample{{}},
})

var _ = Register(&Def{
	Name: "current_seed", MinArgs: 0, Zero: true, PerCall: true,
	Doc:     "The seed of the training run or of gradient(…, seed => n), a bigint; 0 outside.",
	Infer:   func([]Type, Attr) (Type, error) { return Type{Kind: Int}, nil },
	Eval:    func(env *Env, _ []Value, _ Attr, _ Type) (Value, error) { return IntValue(env.Seed), nil },
	Samples: []Sample{{}},
})
