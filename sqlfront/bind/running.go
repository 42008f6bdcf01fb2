package bind

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// Ordered windows are the algebra's windows, whose work is linear but for the sort. It has no least and greatest of
// texts and of chunks: these are taken over pairs of rows of a partition, of which the other is in the row's frame, and
// so is what lag and lead read that is a text. Pairs of equal positions meet by them; the work of others is quadratic
// in the partitions.

// rowFunctions are the window functions that are not aggregates.
var rowFunctions = map[string]func(s *scope, c *ast.FuncCall, w *ast.Window,
	keys []*kernels.Expr) (*kernels.Expr, error){
	"row_number": rowNumber,
	"rank": ranking(func(p *places) *kernels.Expr {
		return kernels.Build("add", p.before(), intConst(1))
	}),
	"dense_rank":   denseRank,
	"percent_rank": ranking(percentRank),
	"cume_dist":    ranking(func(p *places) *kernels.Expr { return ratio(p.peers(), p.rows()) }),
	"ntile":        ntile,
	"first_value": frameValue(func(begin, _ *kernels.Expr, _ int64) *kernels.Expr {
		return begin
	}, false),
	"last_value": frameValue(func(_, end *kernels.Expr, _ int64) *kernels.Expr {
		return end
	}, false),
	"nth_value": frameValue(func(begin, _ *kernels.Expr, n int64) *kernels.Expr {
		return kernels.Build("add", begin, intConst(n-1))
	}, true),
	"lag": func(s *scope, c *ast.FuncCall, w *ast.Window, keys []*kernels.Expr) (*kernels.Expr, error) {
		return shifted(s, c, w, keys, -1)
	},
	"lead": func(s *scope, c *ast.FuncCall, w *ast.Window, keys []*kernels.Expr) (*kernels.Expr, error) {
		return shifted(s, c, w, keys, 1)
	},
}

// toPeers is the frame of all rows up to the row and those equal to it.
var toPeers = ra.Frame{Peers: true, Lo: -ra.Unbounded}

// frameOf reads a frame clause.
func frameOf(s *scope, c *ast.FuncCall, w *ast.Window) (ra.Frame, error) {
	kind, from, to := ast.FrameBounds(w.Frame)
	lo, ok := frameBound(from)
	hi, ok2 := frameBound(to)
	switch whole := from == "UNBOUNDED PRECEDING" && to == "UNBOUNDED FOLLOWING"; {
	case w.Frame == "":
		return toPeers, nil
	case strings.Contains(w.Frame, " EXCLUDE "): // refused below
	case whole || kind == "ROWS" && ok && ok2:
		return ra.Frame{Lo: lo, Hi: hi}, nil
	case kind == "RANGE" && (to == "CURRENT ROW" || to == "UNBOUNDED FOLLOWING") &&
		(from == "CURRENT ROW" || from == "UNBOUNDED PRECEDING"):
		return ra.Frame{Peers: true, Lo: lo, Hi: hi}, nil
	}
	return ra.Frame{}, s.f.fail(c, sqlerr.FeatureNotSupported, "the frame %s is not differentiable", w.Frame).
		WithHint("ROWS BETWEEN … is, without EXCLUDE, and RANGE between the current row and the ends of the partition.")
}

func frameBound(text string) (int64, bool) {
	word, dir, two := strings.Cut(text, " ")
	sign := int64(1)
	if dir == "PRECEDING" {
		sign = -1
	}
	if text == "CURRENT ROW" {
		return 0, true
	}
	if word == "UNBOUNDED" {
		return sign * ra.Unbounded, true
	}
	n, err := strconv.ParseInt(word, 10, 32)
	return sign * n, two && err == nil && n >= 0 && (dir == "PRECEDING" || dir == "FOLLOWING")
}

// runningAggregate is an aggregate over a window with frames.
func runningAggregate(s *scope, c *ast.FuncCall, w *ast.Window, keys []*kernels.Expr) (*kernels.Expr, error) {
	agg := aggregates[c.Name]
	if agg.centered || agg.pairs {
		return nil, s.f.fail(c, sqlerr.FeatureNotSupported, "%s over a window with ORDER BY or a frame is not differentiable",
			c.Name).WithHint("OVER (PARTITION BY …) of sum, avg, count, min and max is, with ORDER BY and frames.")
	}
	f, err := frameOf(s, c, w)
	if err != nil {
		return nil, err
	}
	x, err := aggregateArg(s, c)
	if err != nil {
		return nil, err
	}
	parts := agg.parts(x)
	cols, rows, err := overFrame(s, c, w, keys, f, parts)
	if err != nil {
		return nil, err
	}
	return aggregated(c, cols, rows, parts[0].arg), nil
}

// overFrame aggregates parts over the frames of the rows. rows is the relation over which the first part's argument is.
func overFrame(s *scope, c *ast.FuncCall, w *ast.Window, keys []*kernels.Expr, f ra.Frame,
	parts []aggPart) (cols []*kernels.Expr, rows *ra.Node, err error) {
	order, err := bindSortKeys(s, w.OrderBy)
	if err != nil {
		return nil, nil, err
	}
	var args []*kernels.Expr
	var fns []ra.AggFn
	for _, p := range parts {
		if _, err := ra.AggType(p.fn, p.arg.Type); err != nil {
			return nil, nil, err
		}
		args, fns = append(args, p.arg), append(fns, p.fn)
	}
	if positional(f) && s.mask() != nil {
		return nil, nil, refusePositions(s, c)
	}
	if slices.ContainsFunc(parts, func(p aggPart) bool {
		return (p.fn == ra.Min || p.fn == ra.Max) && !ra.Extremal(p.arg.Type)
	}) {
		return overPairs(s, keys, order, f, args, fns)
	}
	o := orderRows(s, keys, order, args...)
	cols, err = overRows(s, o, f, fns...)
	return cols, o.rows, err
}

// overPairs is overFrame by pairs of rows.
func overPairs(s *scope, keys []*kernels.Expr, order []sortKey, f ra.Frame, args []*kernels.Expr,
	fns []ra.AggFn) (cols []*kernels.Expr, rows *ra.Node, err error) {
	n := len(args)
	if positional(f) {
		at, swap, err := placeRows(s, keys, order)
		if err != nil {
			return nil, nil, err
		}
		order = nil
		renameAll(swap, keys, args)
		args = append(args, at)
		if f.Lo == f.Hi {
			args = append(args, kernels.Build("add", at, intConst(f.Lo)))
		}
	}
	o := orderRows(s, keys, order, args...)
	var equi []ra.Equi
	var pred []*kernels.Expr
	switch {
	case !positional(f):
		pred = o.among(f)
	case f.Lo == f.Hi:
		equi = append(equi, ra.Equi{L: kernels.Col{ID: o.extra[n+1]}, R: kernels.Col{Input: 1, ID: o.extra[n]}})
	default:
		pred = o.between(o.extra[n], f)
	}
	cols, err = foldOrNull(s, o, equi, pred, fns)
	return cols, o.rows, err
}

// positional reports whether a frame depends on the positions of rows.
func positional(f ra.Frame) bool {
	return !f.Peers && (f.Lo > -ra.Unbounded || f.Hi < ra.Unbounded)
}

// among is the condition that the other row's keys are in the row's frame.
func (o *ordered) among(f ra.Frame) (pred []*kernels.Expr) {
	if f.Peers && f.Lo == 0 {
		pred = append(pred, kernels.Build("not", o.before(false)))
	}
	if f.Peers && f.Hi == 0 {
		pred = append(pred, o.before(true))
	}
	return pred
}

// between is the condition that the other row's position is in the row's frame.
func (o *ordered) between(position ra.ColumnID, f ra.Frame) (pred []*kernels.Expr) {
	far := kernels.Build("sub", o.rows.Var(1, position), o.rows.Var(0, position))
	if f.Lo > -ra.Unbounded {
		pred = append(pred, kernels.Build("ge", far, intConst(f.Lo)))
	}
	if f.Hi < ra.Unbounded {
		pred = append(pred, kernels.Build("le", far, intConst(f.Hi)))
	}
	return pred
}

// foldOrNull aggregates the first extra columns over pairs. A row without pairs gets the aggregates of no rows.
func foldOrNull(s *scope, o *ordered, equi []ra.Equi, pred []*kernels.Expr, fns []ra.AggFn) ([]*kernels.Expr, error) {
	var args, none []ra.OutCol
	for _, id := range o.extra[:len(fns)] {
		c := o.rows.Col(id)
		args = append(args, ra.OutCol{Name: c.Name, X: o.rows.Var(1, id)})
		none = append(none, ra.OutCol{Name: c.Name, X: kernels.Const(kernels.NullOf(c.Type))})
	}
	n, own := o.pairs(s.b.b, equi, pred, args...)
	alone := s.b.projection(o.rows, nil, append(o.identity(), none...))
	return foldOrdered(s, o, s.b.unite([]*ra.Node{n, alone}, own+len(fns)), own, fns...)
}

// placeRows computes each row's position in its partition, from 0.
func placeRows(s *scope, keys []*kernels.Expr, order []sortKey) (*kernels.Expr, renaming, error) {
	o := orderRows(s, keys, order)
	at, err := overRows(s, o, ra.Frame{Lo: -ra.Unbounded, Hi: -1}, ra.CountRows)
	return first(at), o.swap, err
}

func refusePositions(s *scope, c *ast.FuncCall) error {
	return s.f.fail(c, sqlerr.FeatureNotSupported,
		"positions of rows that a parameter's values choose are not differentiable").
		WithHint("Structure may not depend on values: choose by keys or attributes.")
}

// rowNumber is row_number().
func rowNumber(s *scope, c *ast.FuncCall, w *ast.Window, keys []*kernels.Expr) (*kernels.Expr, error) {
	if len(c.Args) > 0 || c.Filter != nil {
		return nil, s.f.fail(c, sqlerr.UndefinedFunction, "row_number() takes no argument and no FILTER")
	}
	order, err := bindSortKeys(s, w.OrderBy)
	switch {
	case err != nil:
		return nil, err
	case s.mask() != nil:
		return nil, refusePositions(s, c)
	}
	at, err := overRows(s, orderRows(s, keys, order), ra.Frame{Lo: -ra.Unbounded}, ra.CountRows)
	return first(at), err
}

// shifted is lag(x, n, default) and lead: x of the row n positions before or after.
func shifted(s *scope, c *ast.FuncCall, w *ast.Window, keys []*kernels.Expr, sign int64) (*kernels.Expr, error) {
	args, err := s.exprs(c.Args)
	switch {
	case err != nil:
		return nil, err
	case len(args) < 1 || len(args) > 3 || c.Filter != nil:
		return nil, s.f.fail(c, sqlerr.UndefinedFunction, "%s takes 1 to 3 arguments and no FILTER", c.Name).
			WithHint("Write %s(x, n, default).", c.Name)
	}
	if len(args) == 3 {
		pair := []*kernels.Expr{args[0], args[2]}
		if err := cmp.Or(typeTexts(s, []ast.Expr{c.Args[0], c.Args[2]}, pair), oneType(s, pair, c)); err != nil {
			return nil, err
		}
		if pair[0] != args[0] {
			return nil, s.f.fail(c, sqlerr.FeatureNotSupported, "%s of %v with a default of %v is not supported in a loss",
				c.Name, args[0].Type.Of, args[2].Type.Of).WithHint("Cast the first argument.")
		}
		args[2] = pair[1]
	}
	by := int64(1)
	if len(args) > 1 {
		if args[1], err = folded(s, c.Args[1], args[1]); err != nil {
			return nil, err
		}
		if !args[1].IsConst() || args[1].Type.Kind != kernels.Int || args[1].Const.Null {
			return nil, s.f.fail(c.Args[1], sqlerr.FeatureNotSupported,
				"the second argument of %s must be an integer constant in a loss", c.Name)
		}
		by = args[1].Const.I
	}
	x, fn := args[0], ra.Sum
	if !x.Type.IsFloat() {
		fn = ra.Max
	}
	if by < -ra.Unbounded || by > ra.Unbounded {
		return nil, s.f.fail(c.Args[1], sqlerr.InvalidParameter, "%s by %d rows", c.Name, by)
	}
	by = sign * min(max(by, 1-ra.Unbounded), ra.Unbounded-1) // no partition has so many rows
	f := ra.Frame{Lo: by, Hi: by}
	cols, _, err := overFrame(s, c, w, slices.Clone(keys), f, []aggPart{{fn, x}, {ra.Count, intConst(1)}})
	if err != nil || len(args) < 3 {
		return first(cols), err
	}
	other := args[2]
	if !other.IsConst() { // otherwise its columns have new names
		if other, err = s.expr(c.Args[2]); err != nil {
			return nil, err
		}
	}
	return s.apply("case", c, kernels.Build("gt", cols[1], intConst(0)), cols[0], other)
}

func first(list []*kernels.Expr) *kernels.Expr {
	if len(list) == 0 {
		return nil
	}
	return list[0]
}
