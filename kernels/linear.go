package kernels

import "slices"

// LinearForm is an expression e as a linear function of Core: e = Of(Core). Of reads late columns only, Core none.
type LinearForm struct {
	Core   *Expr
	kind   Kind
	factor *Expr             // a scalar; nil: 1
	wrap   func(*Expr) *Expr // nil: the identity
}

// Late reports whether Of does anything.
func (l *LinearForm) Late() bool { return l.factor != nil || l.wrap != nil }

// Of applies the linear function to x, which stands for the core or a sum of cores and has its type; for the core 1 it
// may be an integer, their number. The result has the type of the whole expression, so that Σ e = Of(Σ Core) up to
// rounding.
func (l *LinearForm) Of(x *Expr) *Expr {
	if l.wrap != nil {
		x = l.wrap(x)
	}
	if l.factor != nil {
		x = Mul(l.factor, x)
	}
	return CastTo(l.kind, x)
}

// SplitLinear takes the largest part of e that reads no late column out of the linear kernels around it; an e that
// reads late columns alone is e times the core 1. It returns nil where e is not linear in that part. A NULL anywhere
// makes both sides NULL.
func SplitLinear(e *Expr, late func(Col) bool) *LinearForm {
	s := splitter{late: late, sides: map[*Expr]side{}}
	var l *LinearForm
	if s.side(e)&early == 0 {
		l = &LinearForm{Core: Num(1), wrap: func(x *Expr) *Expr { return Mul(x, e) }}
	} else if l = s.split(e); l == nil {
		return nil
	}
	l.kind = e.Type.Kind
	return l
}

type side uint8

const (
	early side = 1 << iota
	later
)

type splitter struct {
	late  func(Col) bool
	sides map[*Expr]side
}

// side tells which columns e reads; a constant reads none.
func (s *splitter) side(e *Expr) side {
	if e.IsCol {
		if s.late(e.Col) {
			return later
		}
		return early
	}
	if known, ok := s.sides[e]; ok || e.Def == nil {
		return known
	}
	out := side(0)
	for _, a := range e.Args {
		out |= s.side(a)
	}
	s.sides[e] = out
	return out
}

// split handles an e that reads early columns.
func (s *splitter) split(e *Expr) *LinearForm {
	if !e.Type.IsFloat() {
		return nil
	}
	if s.side(e) == early {
		return &LinearForm{Core: e}
	}
	if e.Def == nil || e.Def.NonStrict {
		return nil
	}
	forms := make([]*LinearForm, len(e.Args))
	count, at := 0, 0
	for i, a := range e.Args {
		if s.side(a)&early == 0 {
			continue
		}
		if forms[i] = s.split(a); forms[i] == nil || !slices.Contains(e.Def.Linear, i) {
			return nil
		}
		count, at = count+1, i
	}
	if count == 1 {
		return around(e, at, forms[at])
	}
	return product(e, forms)
}

// around is a call whose argument at has the form l, and whose other arguments read late columns at most.
func around(e *Expr, at int, l *LinearForm) *LinearForm {
	if l.wrap == nil {
		switch e.Def.Name {
		case "neg":
			return &LinearForm{Core: Neg(l.Core), factor: l.factor}
		case "mul":
			if other := e.Args[1-at]; other.Type.IsFloat() && other.Type.Shape == nil {
				return &LinearForm{Core: l.Core, factor: times(l.factor, other)}
			}
		}
	}
	inner := *l
	inner.kind = e.Args[at].Type.Kind
	return &LinearForm{Core: l.Core, wrap: func(x *Expr) *Expr {
		args := slices.Clone(e.Args)
		args[at] = inner.Of(x)
		return BuildAttr(e.Def.Name, e.Attr, args...)
	}}
}

// product is a call that is linear in each of its arguments, which have these forms: scalar factors come out of all,
// and out of a product with a scalar another linear function too.
func product(e *Expr, forms []*LinearForm) *LinearForm {
	out, cores := &LinearForm{}, slices.Clone(e.Args)
	for i, l := range forms {
		if l == nil {
			return nil
		}
		if l.wrap != nil {
			if e.Def.Name != "mul" || out.wrap != nil || e.Args[1-i].Type.Shape != nil {
				return nil
			}
			out.wrap = l.wrap
		}
		out.factor, cores[i] = times(out.factor, l.factor), l.Core
	}
	out.Core = BuildAttr(e.Def.Name, e.Attr, cores...)
	return out
}

// times is a product of factors, nil being 1.
func times(a, b *Expr) *Expr {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return Mul(a, b)
}
