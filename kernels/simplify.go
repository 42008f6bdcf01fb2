package kernels

// Simplify removes what validity tests leave behind once columns are known to hold no NULL: tests of values
// that are never NULL, COALESCE over them, branches and connectives whose condition is constant; and products with the
// constant 1. It changes no value. Mark the columns with MapCols first.
func Simplify(e *Expr) *Expr { return Simplifier{}.Simplify(e) }

// Simplifier is Simplify for several expressions; it remembers what it made of each part, since large ones share parts.
type Simplifier map[*Expr]*Expr

// Simplify simplifies e.
func (m Simplifier) Simplify(e *Expr) *Expr {
	if e.Def == nil {
		return e
	}
	out := m[e]
	if out == nil {
		out = m.call(e)
		m[e] = out
	}
	return out
}

func (m Simplifier) call(e *Expr) *Expr {
	args, changed := make([]*Expr, len(e.Args)), false
	for i, a := range e.Args {
		args[i] = m.Simplify(a)
		changed = changed || args[i] != a
	}
	if changed {
		n := must(e.Def.Name, e.Attr, args...)
		n.Pos = e.Pos
		e = n
	}
	s := simpler(e)
	if s == nil {
		return e
	}
	if s.Type.Is(e.Type) {
		return s
	}
	if s.Type.IsFloat() && e.Type.IsFloat() {
		return CastTo(e.Type.Kind, s)
	}
	return e
}

// simpler is what a call whose arguments are simple can be replaced by, but for its type; nil: nothing.
func simpler(e *Expr) *Expr {
	switch e.Def.Name {
	case "is_null", "is_not_null":
		if !e.Args[0].Type.Nullable {
			return Const(BoolValue(e.Def.Name == "is_not_null"))
		}
	case "is_true":
		if !e.Args[0].Type.Nullable {
			return e.Args[0]
		}
	case "not":
		if c := e.Args[0]; c.IsConst() && !c.Const.Null {
			return Const(BoolValue(c.Const.I == 0))
		}
	case "and", "or":
		return simplifyConnective(e)
	case "coalesce":
		return simplifyCoalesce(e)
	case "case":
		return simplifyCase(e)
	case "mul":
		if p := Mul(e.Args[0], e.Args[1]); p == e.Args[0] || p == e.Args[1] {
			return p
		}
	}
	return nil
}

func simplifyConnective(e *Expr) *Expr {
	for i, a := range e.Args {
		if a.IsConst() && !a.Const.Null {
			if a.True() == (e.Def.Name == "and") {
				return e.Args[1-i]
			}
			return a
		}
	}
	return nil
}

// simplifyCoalesce drops what comes after an argument that is never NULL.
func simplifyCoalesce(e *Expr) *Expr {
	for i, a := range e.Args {
		switch {
		case a.Type.Nullable:
			continue
		case i == 0:
			return a
		case i < len(e.Args)-1:
			return must("coalesce", Attr{}, e.Args[:i+1]...)
		}
		return nil
	}
	return nil
}

// simplifyCase drops branches that are never chosen and those after one that always is.
func simplifyCase(e *Expr) *Expr {
	var keep []*Expr
	last := e.Args[len(e.Args)-1]
	for i := 0; i+1 < len(e.Args); i += 2 {
		c := e.Args[i]
		if c.IsConst() && c.True() {
			last = e.Args[i+1]
			break
		}
		if !c.IsConst() {
			keep = append(keep, c, e.Args[i+1])
		}
	}
	switch len(keep) {
	case 0:
		return last
	case len(e.Args) - 1:
		if last == e.Args[len(e.Args)-1] {
			return nil
		}
	}
	return must("case", Attr{}, append(keep, last)...)
}

// True reports whether e is the constant TRUE.
func (e *Expr) True() bool { return e.IsConst() && e.Type.Kind == Bool && e.Const.True() }
