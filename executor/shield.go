package executor

import "github.com/relgrad/relgrad/kernels"

// shield makes v safe to be computed for all rows, also those for which the condition of its branch does not hold
// (law 6): parts that can fail get the condition themselves, since they may be computed into memory apart from the
// CASE that guards them, once for a whole run.
func (g *graph) shield(v, cond *val) (*val, error) {
	s := &shielder{g: g, cond: cond, fails: map[*val]bool{}, done: map[*val]*val{}}
	return s.visit(v)
}

type shielder struct {
	g     *graph
	cond  *val
	fails map[*val]bool
	done  map[*val]*val
}

// canFail reports whether v is made of kernels that can, above what is computed for all rows in any case.
func (s *shielder) canFail(v *val) bool {
	if v.op != vCall && v.op != vGather {
		return false
	}
	if f, ok := s.fails[v]; ok {
		return f
	}
	f := v.op == vCall && !total(v.expr.Def, v.expr.Attr, v.args) && !v.constant()
	for _, a := range v.args {
		f = f || s.canFail(a)
	}
	s.fails[v] = f
	return f
}

// constant reports whether a call reads nothing.
func (v *val) constant() bool {
	for _, a := range v.args {
		if a.op != vConst {
			return false
		}
	}
	return true
}

// shielded reports whether v is CASE WHEN condition THEN … END already.
func (s *shielder) shielded(v *val) bool {
	return v.op == vCall && v.expr.Def.Name == "case" && v.args[0] == s.cond && (len(v.args) == 2 || v.args[2].op == vConst)
}

func (s *shielder) visit(v *val) (out *val, err error) {
	if !s.canFail(v) || s.shielded(v) {
		return v, nil
	}
	if out := s.done[v]; out != nil {
		return out, nil
	}
	defer func() { s.done[v] = out }()
	inner, idx := v, (*index)(nil)
	if v.op == vGather { // the kernel moves to where the condition is known
		inner, idx = v.args[0], v.idx
		if inner.op != vCall || idx.missing {
			return v, nil
		}
	}
	args := make([]*val, len(inner.args))
	for i, a := range inner.args {
		if idx != nil {
			if a, err = s.g.gather(a, idx); err != nil {
				return nil, err
			}
		}
		if args[i], err = s.visit(a); err != nil {
			return nil, err
		}
	}
	out, err = s.g.call(inner.expr.Def, inner.expr.Attr, args...)
	if err != nil || total(inner.expr.Def, inner.expr.Attr, args) {
		return out, err
	}
	return s.g.call(kernels.Lookup("case"), kernels.Attr{}, s.cond, out, s.g.constant(kernels.NullOf(out.typ)))
}

// shieldBranches shields the arguments of CASE and COALESCE, which SQL computes only where they are wanted.
func shieldBranches(g *graph, e *kernels.Expr, args []*val, visit func(*kernels.Expr) (*val, error)) error {
	for i, c := range wanted(e) {
		if c == nil || args[i].op != vCall && args[i].op != vGather {
			continue
		}
		cond, err := visit(c)
		if err != nil {
			return err
		}
		if args[i], err = g.shield(args[i], cond); err != nil {
			return err
		}
	}
	return nil
}

// wanted gives, for each argument of CASE or COALESCE, the condition under which it is looked at; nil: always.
func wanted(e *kernels.Expr) []*kernels.Expr {
	out := make([]*kernels.Expr, len(e.Args))
	var earlier *kernels.Expr
	switch e.Def.Name {
	case "case":
		for i := 0; i+1 < len(e.Args); i += 2 {
			out[i], out[i+1] = earlier, kernels.And(earlier, e.Args[i])
			earlier = kernels.And(earlier, kernels.Build("not", kernels.Build("is_true", e.Args[i])))
		}
		if len(e.Args)%2 == 1 {
			out[len(out)-1] = earlier
		}
	case "coalesce":
		for i, a := range e.Args {
			out[i] = earlier
			earlier = kernels.And(earlier, kernels.Build("is_null", a))
		}
	default:
		return nil
	}
	return out
}
