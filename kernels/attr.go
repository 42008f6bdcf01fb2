package kernels

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/tensor"
)

// Encode prints the attributes as generated SQL passes them to a kernel: "shape=[3,4] kind=real", fields at
// their zero value left out, the free text of spec last. DecodeAttr reads it back.
func (a Attr) Encode() string {
	var p []string
	if a.Shape != nil {
		p = append(p, "shape="+a.Shape.String())
	}
	if a.From != nil {
		p = append(p, "from="+tensor.Shape(a.From).String())
	}
	if a.Axis != 0 {
		p = append(p, "axis="+strconv.Itoa(a.Axis))
	}
	if a.Num != 0 {
		p = append(p, "num="+strconv.FormatFloat(a.Num, 'g', -1, 64))
	}
	if a.Int != 0 {
		p = append(p, "int="+strconv.FormatInt(a.Int, 10))
	}
	if a.Kind != 0 {
		p = append(p, "kind="+strings.ReplaceAll(a.Kind.String(), " ", "_"))
	}
	if a.Spec != "" {
		p = append(p, "spec="+a.Spec)
	}
	return strings.Join(p, " ")
}

// DecodeAttr reads what Encode prints; anything else is an error with SQLSTATE 22023.
func DecodeAttr(s string) (Attr, error) {
	var a Attr
	for rest := s; rest != ""; {
		if spec, ok := strings.CutPrefix(rest, "spec="); ok {
			a.Spec = spec
			break
		}
		var field string
		field, rest, _ = strings.Cut(rest, " ")
		key, value, _ := strings.Cut(field, "=")
		if err := a.set(key, value); err != nil {
			return Attr{}, sqlerr.New(sqlerr.InvalidParameter, "malformed attributes %q: %v", s, err)
		}
	}
	return a, nil
}

func (a *Attr) set(key, value string) (err error) {
	switch key {
	case "shape":
		a.Shape, err = decodeInts(value)
	case "from":
		a.From, err = decodeInts(value)
	case "axis":
		a.Axis, err = strconv.Atoi(value)
	case "num":
		a.Num, err = strconv.ParseFloat(value, 64)
	case "int":
		a.Int, err = strconv.ParseInt(value, 10, 64)
	case "kind":
		for k := Float64; k <= Text; k++ {
			if value == strings.ReplaceAll(k.String(), " ", "_") {
				a.Kind = k
				return nil
			}
		}
		return fmt.Errorf("no kind %q", value)
	default:
		return fmt.Errorf("no field %q", key)
	}
	return err
}

// decodeInts reads "[3,4]".
func decodeInts(s string) ([]int, error) {
	in, ok := strings.CutPrefix(s, "[")
	in, ok2 := strings.CutSuffix(in, "]")
	if !ok || !ok2 {
		return nil, fmt.Errorf("%q is no list", s)
	}
	out := []int{}
	if in == "" {
		return out, nil
	}
	for _, f := range strings.Split(in, ",") {
		n, err := strconv.Atoi(f)
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, nil
}

// Static reports whether calls of the kernel carry attributes, as its samples show.
func (d *Def) Static() bool {
	return slices.ContainsFunc(d.Samples, func(s Sample) bool { return s.Attr.Encode() != "" })
}

// IsArray reports whether argument i is a bigint[], as the kernel's samples show.
func (d *Def) IsArray(i int) bool {
	return slices.ContainsFunc(d.Samples,
		func(s Sample) bool { return i < len(s.Types) && s.Types[i].Kind == Int && s.Types[i].Shape != nil })
}

// EvalAttr is what a kernel's function in generated SQL does: the shape rule on the run-time arguments with the
// attributes, then the reference code. A NULL needs no type: it takes that of an argument that is not NULL.
func (d *Def) EvalAttr(env *Env, at Attr, a []Value) (Value, error) {
	if err := d.arityAttr(len(a)); err != nil {
		return Value{}, err
	}
	valid := -1
	for i := range a {
		switch {
		case !a[i].Null:
			valid = i
		case !d.NonStrict:
			return NullOf(Type{Kind: Float64}), nil
		}
	}
	args := make([]*Expr, len(a))
	for i := range a {
		if a[i].Null && valid >= 0 {
			a[i].Type = a[valid].Type
		}
		args[i] = Const(a[i])
	}
	e, err := Call(d, at, args...)
	if err != nil {
		return Value{}, err
	}
	return e.Eval(env, nil)
}

// arityAttr refuses numbers of run-time arguments that no call has, so that a shape rule may index them.
func (d *Def) arityAttr(n int) error {
	if d.Bind == nil {
		return d.arity(n)
	}
	least, most := -1, d.MaxArgs
	for _, s := range d.Samples {
		if least < 0 || len(s.Types) < least {
			least = len(s.Types)
		}
	}
	if n < least || most >= 0 && n > most {
		return sqlerr.New(sqlerr.UndefinedFunction, "%s with %d run-time arguments does not exist", d.Name, n)
	}
	return nil
}
