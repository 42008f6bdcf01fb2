package kernels

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
