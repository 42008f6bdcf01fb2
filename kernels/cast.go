package kernels

import (
	"math"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/tensor"
)

var _ = Register(&Def{
	Name: "cast", Args: "a", MinArgs: 1, Internal: true, Traits: Converts, Labels: []string{"...->..."},
	Role: RoleScaled,
	Doc: "CAST(a AS type). To bigint a float is rounded half to even. A cast to real is exact in the reference code, " +
		"which works in double precision throughout; rounding happens where the value is stored.",
	Kink: "The derivative of a cast to bigint, boolean or text is 0.",
	Infer: func(a []Type, at Attr) (Type, error) {
		from, to := a[0], Type{Kind: at.Kind, Shape: a[0].Shape}
		ok := from.Kind == to.Kind || to.Kind == Text || from.Kind == Text
		switch {
		case from.IsChunk():
			ok = to.IsFloat()
		case from.Shape != nil: // an array of integers
			ok = from.Kind == to.Kind
		case from.Kind == Bool || to.Kind == Bool:
			ok = ok || from.Kind == Int || to.Kind == Int
		default:
			ok = true
		}
		if !ok {
			return Type{}, sqlerr.New(sqlerr.CannotCoerce, "cannot cast type %v to %v", from, at.Kind)
		}
		return to, nil
	},
	Eval: func(_ *Env, a []Value, _ Attr, out Type) (Value, error) { return castValue(a[0], out) },
	VJP: func(e, g *Expr) []*Expr {
		if !e.Type.IsFloat() || !e.Args[0].Type.IsFloat() {
			return []*Expr{nil}
		}
		return []*Expr{CastTo(e.Args[0].Type.Kind, g)}
	},
	Samples: []Sample{
		{Types: []Type{{Kind: Float64}}, Attr: Attr{Kind: Float32}},
		{Types: []Type{{Kind: Float32, Shape: []int{2, 2}}}, Attr: Attr{Kind: Float64}},
		{Types: []Type{{Kind: Int}}, Attr: Attr{Kind: Float64}, Ints: []int64{3}},
		{Types: []Type{{Kind: Float64}}, Attr: Attr{Kind: Text}},
		{Types: []Type{f64(1)}, Attr: Attr{Kind: Float32}},
		{Types: []Type{f64(3)}, Attr: Attr{Kind: Float32}},
		{Types: []Type{f32(2, 1, 2)}, Attr: Attr{Kind: Float64}},
		{Types: []Type{f64(1, 2, 1, 2)}, Attr: Attr{Kind: Float32}},
	},
})

// castValue converts a valid value to the kind of out.
func castValue(v Value, out Type) (Value, error) {
	from := v.Type.Kind
	r := Value{Type: out}
	switch {
	case from == out.Kind || out.Shape != nil:
		v.Type = out
		return v, nil
	case out.Kind == Text:
		r.T = castText(v)
	case from == Text:
		return castFromText(strings.TrimSpace(v.T), v.T, out)
	case out.IsFloat():
		r.X = v.Float()
	case out.Kind == Bool:
		if v.I != 0 {
			r.I = 1
		}
	case from == Bool:
		r.I = v.I
	default:
		x := math.RoundToEven(v.X)
		if !(x >= -(1<<63) && x < 1<<63) {
			return r, overflow(true)
		}
		r.I = int64(x)
	}
	return r, nil
}

func castText(v Value) string {
	switch v.Type.Kind {
	case Bool:
		return strconv.FormatBool(v.I != 0)
	case Int:
		return strconv.FormatInt(v.I, 10)
	}
	return tensor.FormatFloat(v.X, v.Type.Kind.DType())
}

func castFromText(s, text string, out Type) (Value, error) {
	r := Value{Type: out}
	var err error
	switch out.Kind {
	case Int:
		r.I, err = strconv.ParseInt(s, 10, 64)
	case Bool:
		switch low := strings.ToLower(s); { // a word may be cut short
		case low == "":
			err = strconv.ErrSyntax
		case strings.HasPrefix("true", low), strings.HasPrefix("yes", low), low == "on", low == "1":
			r.I = 1
		case strings.HasPrefix("false", low), strings.HasPrefix("no", low), low == "of", low == "off", low == "0":
		default:
			err = strconv.ErrSyntax
		}
	default:
		if r.X, err = strconv.ParseFloat(s, 64); strings.ContainsAny(s, "_xX") {
			err = strconv.ErrSyntax
		}
	}
	if err == nil {
		return r, nil
	}
	if e, ok := err.(*strconv.NumError); ok && e.Err == strconv.ErrRange {
		return r, sqlerr.New(sqlerr.NumericOutOfRange, "%q is out of range for type %v", text, out.Kind)
	}
	return r, sqlerr.New(sqlerr.InvalidText, "invalid input syntax for type %v: %q", out.Kind, text)
}
