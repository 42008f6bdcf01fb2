package kernels

import "strings"

// samples returns the calls that tests and the manual use: the Def's own, else the usual ones for an
// element-wise kernel.
func (d *Def) samples() []Sample {
	if d.Samples != nil || d.Elem == nil {
		return d.Samples
	}
	scalar, vec, mat := Type{Kind: Float64}, Type{Kind: Float64, Shape: []int{3}}, Type{Kind: Float32, Shape: []int{2, 3}}
	var out []Sample
	for _, t := range []Type{scalar, vec, mat} {
		s := Sample{}
		for range d.MinArgs {
			s.Types = append(s.Types, t)
		}
		out = append(out, s)
	}
	for i := range d.MinArgs {
		if d.MinArgs == 1 {
			break
		}
		for _, pair := range [][2]Type{{scalar, vec}, {vec, mat}, {{Kind: Float64, Shape: []int{2, 1}}, {Kind: Float64, Shape: []int{1, 3}}}} {
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
				v = IntArray(2, 3).Const
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
