package kernels

import "strings"

// Shorthands of samples.
func f64(shape ...int) Type { return Type{Kind: Float64, Shape: shape} }
func f32(shape ...int) Type { return Type{Kind: Float32, Shape: shape} }

// Calls returns the sample calls that tests and the manual use: the Def's own, else those of an element-wise
// kernel: every rank from 0 to 4 in both types, single elements, integers, and all forms of broadcasting.
func (d *Def) Calls() []Sample {
	if d.Samples != nil || d.Elem == nil {
		return d.Samples
	}
	var out []Sample
	for _, t := range []Type{f64(), f64(3), f32(2, 3), f32(), f32(1), f64(2, 1, 2), f32(1, 2, 1, 2), {Kind: Int}} {
		s := Sample{}
		for range d.MinArgs {
			s.Types = append(s.Types, t)
		}
		out = append(out, s)
	}
	if d.MinArgs == 1 {
		return out
	}
	for i := range d.MinArgs {
		for _, pair := range broadcasts {
			s := Sample{}
			for j := range d.MinArgs {
				if i == j {
					s.Types = append(s.Types, pair[0])
				} else {
					s.Types = append(s.Types, pair[1])
				}
			}
			out = append(out, s)
		}
	}
	return out
}

// broadcasts are pairs of different types that an element-wise kernel takes.
var broadcasts = [][2]Type{
	{f64(), f64(3)}, {f64(3), f32(2, 3)}, {f64(2, 1), f64(1, 3)}, {f32(), f32(2, 3)},
	{f32(1), f32(3)}, {{Kind: Int}, f64(2)},
	{f32(2, 3), f64(2, 3)}, {f32(2, 1), f64(2, 2, 3)}, {f32(1, 2, 1, 2), f32(2, 1, 3, 1)},
}

// Array is the value of a bigint[] argument of a sample call: the attributes' shape for a macro that has one.
func (d *Def) Array(s Sample) *Expr {
	if !d.IsMacro() || s.Attr.Shape == nil {
		return IntArray(2, 3)
	}
	var x []int64
	for _, n := range s.Attr.Shape {
		x = append(x, int64(n))
	}
	return IntArray(x...)
}

// call builds the sample's call over the columns 0:1, 0:2, …; a macro's static arguments are constants.
func (d *Def) call(s Sample) (*Expr, error) {
	args, ints := make([]*Expr, len(s.Types)), s.Ints
	for i, t := range s.Types {
		args[i] = Column(Col{ID: ColumnID(i + 1)}, t)
		if d.IsMacro() && t.Kind == Int {
			v := IntValue(1)
			if len(ints) > 0 {
				v, ints = IntValue(ints[0]), ints[1:]
			}
			if t.Shape != nil {
				v = d.Array(s).Const
			}
			args[i] = Const(v)
		}
	}
	if d.IsMacro() {
		return d.Apply(args...)
	}
	return Call(d, s.Attr, args...)
}

// argNames are the names of the run-time arguments in the manual.
func (d *Def) argNames() []string {
	var out []string
	for _, a := range strings.Split(strings.NewReplacer("[", "", "]", "").Replace(d.Args), ",") {
		name, _, _ := strings.Cut(strings.TrimSpace(a), " ")
		static := d.Bind != nil && !d.IsMacro() && (name == "spec" || name == "shape" || name == "axis" || name == "n")
		if name != "" && name != "…" && !static {
			out = append(out, name)
		}
	}
	return out
}
