package kernels

import "strings"

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
