package bind

import (
	"cmp"
	"slices"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// Ranks are made of counts over windows. They are structure: no gradient flows through them.

// whole is the frame of all rows of the partition.
var whole = ra.Frame{Lo: -ra.Unbounded, Hi: ra.Unbounded}

// places are where a row stands in its partition, as expressions over the scope. Each is a window of its own, added to
// the scope when it is asked for.
type places struct {
	s      *scope
	o      *ordered
	counts map[ra.Frame]*kernels.Expr
	err    error // of any of them
}

// placesOf orders the rows of a scope, which must not depend on a parameter's values.
func placesOf(s *scope, c *ast.FuncCall, w *ast.Window, keys []*kernels.Expr) (*places, error) {
	order, err := bindSortKeys(s, w.OrderBy)
	switch {
	case err != nil:
		return nil, err
	case c.Filter != nil:
		return nil, s.f.fail(c, sqlerr.FeatureNotSupported,
			"FILTER is not implemented for non-aggregate window functions")
	case s.mask() != nil:
		return nil, refusePositions(s, c)
	}
	return &places{s: s, o: orderRows(s, keys, order), counts: map[ra.Frame]*kernels.Expr{}}, nil
}

// count is the number of rows in the row's frame.
func (p *places) count(f ra.Frame) *kernels.Expr {
	if p.counts[f] == nil {
		n, err := overRows(p.s, p.o, f, ra.CountRows)
		if err != nil {
			p.err, n = err, []*kernels.Expr{intConst(0)}
		}
		p.counts[f] = n[0]
	}
	return p.counts[f]
}

// position is that of the row, from 0, in an order that tells rows apart.
func (p *places) position() *kernels.Expr { return p.count(ra.Frame{Lo: -ra.Unbounded, Hi: -1}) }

// before is how many rows precede the row and those equal to it.
func (p *places) before() *kernels.Expr {
	return kernels.Build("sub", p.peers(), p.count(ra.Frame{Peers: true}))
}

// peers is how many rows precede the row or are equal to it, itself among them.
func (p *places) peers() *kernels.Expr { return p.count(toPeers) }

// rows is the number of rows of the partition.
func (p *places) rows() *kernels.Expr { return p.count(whole) }

// again orders the same rows with extra columns, which are over the scope.
func (o *ordered) again(s *scope, extra ...*kernels.Expr) *ordered {
	groups := make([]*kernels.Expr, len(o.group))
	for i, id := range o.group {
		groups[i] = o.rows.Var(0, id)
	}
	return orderRows(s, groups, o.keys, extra...)
}

// ranking is a window function without arguments that a row's places make.
func ranking(of func(p *places) *kernels.Expr) func(*scope, *ast.FuncCall, *ast.Window, []*kernels.Expr) (
	*kernels.Expr, error) {
	return func(s *scope, c *ast.FuncCall, w *ast.Window, keys []*kernels.Expr) (*kernels.Expr, error) {
		if err := argumentCount(s, c, 0); err != nil {
			return nil, err
		}
		p, err := placesOf(s, c, w, keys)
		if err != nil {
			return nil, err
		}
		return of(p), p.err
	}
}

func argumentCount(s *scope, c *ast.FuncCall, n int) error {
	if len(c.Args) == n {
		return nil
	}
	many := [...]string{"no argument", "1 argument", "2 arguments"}[n]
	return s.f.fail(c, sqlerr.UndefinedFunction, "%s takes %s, not %d", c.Name, many, len(c.Args))
}

// ratio divides whole numbers, of which the second is not 0.
func ratio(a, b *kernels.Expr) *kernels.Expr {
	return kernels.Div(kernels.CastTo(kernels.Float64, a), kernels.CastTo(kernels.Float64, b))
}

// percentRank is (rank - 1) / (rows - 1), 0 of one row.
func percentRank(p *places) *kernels.Expr {
	others := kernels.Build("sub", p.rows(), intConst(1))
	return ratio(p.before(), kernels.Build("case", kernels.Build("gt", others, intConst(0)), others, intConst(1)))
}

// denseRank counts the rows, up to the row and those equal to it, that are the first of their equals.
func denseRank(s *scope, c *ast.FuncCall, w *ast.Window, keys []*kernels.Expr) (*kernels.Expr, error) {
	if err := argumentCount(s, c, 0); err != nil {
		return nil, err
	}
	p, err := placesOf(s, c, w, keys)
	if err != nil {
		return nil, err
	}
	leads := kernels.Build("case", kernels.Build("eq", p.position(), p.before()), intConst(1), nullInt())
	n, err := overRows(s, p.o.again(s, leads), toPeers, ra.Count)
	return first(n), cmp.Or(p.err, err)
}

// ntile divides the rows into n parts, of which the first have one row more where they cannot be equal.
func ntile(s *scope, c *ast.FuncCall, w *ast.Window, keys []*kernels.Expr) (*kernels.Expr, error) {
	if err := argumentCount(s, c, 1); err != nil {
		return nil, err
	}
	n, err := wholeArgument(s, c, 0, "22014")
	if err != nil {
		return nil, err
	}
	p, err := placesOf(s, c, w, keys)
	if err != nil {
		return nil, err
	}
	build := kernels.Build
	size, more := build("div", p.rows(), intConst(n)), build("mod", p.rows(), intConst(n))
	large := build("div", p.position(), build("add", size, intConst(1)))
	divisor := build("case", build("gt", size, intConst(0)), size, intConst(1))
	small := build("div", build("sub", p.position(), more), divisor)
	return build("add", build("case", build("lt", large, more), large, small), intConst(1)), p.err
}

// wholeArgument is argument i, a constant of at least 1; code is the SQLSTATE of a lesser one.
func wholeArgument(s *scope, c *ast.FuncCall, i int, code string) (int64, error) {
	x, err := s.expr(c.Args[i])
	if err == nil {
		x, err = folded(s, c.Args[i], x)
	}
	switch {
	case err != nil:
		return 0, err
	case !x.IsConst() || x.Type.Kind != kernels.Int || x.Const.Null:
		return 0, s.f.fail(c.Args[i], sqlerr.FeatureNotSupported,
			"argument %d of %s must be an integer constant in a loss", i+1, c.Name)
	case x.Const.I < 1:
		return 0, s.f.fail(c.Args[i], code, "argument of %s must be greater than zero", c.Name)
	}
	return x.Const.I, nil
}

// frameValue is first_value, last_value and nth_value: x of one row of the frame, to which the gradient goes. The place
// of that row in its partition is structure, and a row meets it there.
func frameValue(place func(begin, end *kernels.Expr, n int64) *kernels.Expr, nth bool) func(*scope, *ast.FuncCall,
	*ast.Window, []*kernels.Expr) (*kernels.Expr, error) {
	return func(s *scope, c *ast.FuncCall, w *ast.Window, keys []*kernels.Expr) (*kernels.Expr, error) {
		n, args := int64(1), 1
		if nth {
			args = 2
		}
		err := argumentCount(s, c, args)
		if err == nil && nth {
			n, err = wholeArgument(s, c, 1, "22016")
		}
		if err != nil {
			return nil, err
		}
		f, err := frameOf(s, c, w)
		if err != nil {
			return nil, err
		}
		x, err := s.expr(c.Args[0])
		if err != nil {
			return nil, err
		}
		fn := ra.Sum // of one row
		if !x.Type.IsFloat() {
			fn = ra.Max
		}
		if _, err := ra.AggType(fn, x.Type); err != nil {
			return nil, err
		}
		p, err := placesOf(s, c, w, slices.Clone(keys))
		if err != nil {
			return nil, err
		}
		begin, end := p.frame(f)
		at := place(begin, end, n)
		in := kernels.Build("and", kernels.Build("ge", at, begin), kernels.Build("le", at, end))
		o := p.o.again(s, p.o.swap(x), p.position(), kernels.Build("case", in, at, intConst(-1)))
		o.keys = nil
		here := ra.Equi{L: kernels.Col{ID: o.extra[2]}, R: kernels.Col{Input: 1, ID: o.extra[1]}}
		cols, err := foldOrNull(s, o, []ra.Equi{here}, nil, []ra.AggFn{fn})
		return first(cols), cmp.Or(p.err, err)
	}
}

// frame returns the positions of the first and the last row of a row's frame; the frame is empty if they cross.
func (p *places) frame(f ra.Frame) (begin, end *kernels.Expr) {
	last := kernels.Build("sub", p.rows(), intConst(1))
	begin, end = intConst(0), last
	switch {
	case f.Lo == -ra.Unbounded:
	case f.Peers:
		begin = p.before()
	default:
		begin = kernels.Build("add", p.position(), intConst(f.Lo))
		begin = kernels.Build("case", kernels.Build("lt", begin, intConst(0)), intConst(0), begin)
	}
	switch {
	case f.Hi == ra.Unbounded:
	case f.Peers:
		end = kernels.Build("sub", p.peers(), intConst(1))
	default:
		end = kernels.Build("add", p.position(), intConst(f.Hi))
		end = kernels.Build("case", kernels.Build("gt", end, last), last, end)
	}
	return begin, end
}
