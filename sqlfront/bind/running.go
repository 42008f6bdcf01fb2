package bind

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// Ordered windows are sums over pairs of rows of a partition: the other row is in the row's frame. Their work is
// quadratic in the partitions, except for lag and lead, whose pairs meet by position once the positions are known.

// rowFunctions are the window functions that are not aggregates.
var rowFunctions = map[string]func(s *scope, c *ast.FuncCall, w *ast.Window,
	keys []*kernels.Expr) (*kernels.Expr, error){
	"row_number": rowNumber,
	"rank":       rankCall,
	"lag": func(s *scope, c *ast.FuncCall, w *ast.Window, keys []*kernels.Expr) (*kernels.Expr, error) {
		return shifted(s, c, w, keys, -1)
	},
	"lead": func(s *scope, c *ast.FuncCall, w *ast.Window, keys []*kernels.Expr) (*kernels.Expr, error) {
		return shifted(s, c, w, keys, 1)
	},
}

// frame is the frame of a window: the rows at positions lo to hi relative to the row; if rows is not set, all rows up
// to the row and those equal to it.
type frame struct {
	rows   bool
	lo, hi int64
}

const unbounded = math.MaxInt32

// frameOf reads a frame clause.
func frameOf(s *scope, c *ast.FuncCall, w *ast.Window) (frame, error) {
	kind, bounds, _ := strings.Cut(w.Frame, " BETWEEN ")
	from, to, _ := strings.Cut(bounds, " AND ")
	whole := from == "UNBOUNDED PRECEDING" && to == "UNBOUNDED FOLLOWING"
	lo, ok := frameBound(from)
	hi, ok2 := frameBound(to)
	switch {
	case w.Frame == "" || kind == "RANGE" && from == "UNBOUNDED PRECEDING" && to == "CURRENT ROW":
		return frame{}, nil
	case whole:
		return frame{rows: true, lo: -unbounded, hi: unbounded}, nil
	case kind == "ROWS" && ok && ok2:
		return frame{true, lo, hi}, nil
	}
	return frame{}, s.f.fail(c, sqlerr.FeatureNotSupported, "the frame %s is not differentiable", w.Frame).
		WithHint("ROWS BETWEEN … is, without EXCLUDE, and the default frame.")
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
		return sign * unbounded, true
	}
	n, err := strconv.ParseInt(word, 10, 32)
	return sign * n, two && err == nil && n >= 0
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
func overFrame(s *scope, c *ast.FuncCall, w *ast.Window, keys []*kernels.Expr, f frame,
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
	n := len(args)
	if f.rows {
		at, swap, err := placeRows(s, c, keys, order)
		if err != nil {
			return nil, nil, err
		}
		order = nil
		renameAll(swap, keys, args)
		args = append(args, at[0])
		if f.lo == f.hi {
			args = append(args, kernels.Build("add", at[0], intConst(f.lo)))
		}
	}
	o := orderRows(s, keys, order, args...)
	var equi []ra.Equi
	var pred []*kernels.Expr
	switch {
	case !f.rows:
		yes := true
		pred = append(pred, o.before(&yes))
	case f.lo == f.hi:
		equi = append(equi, ra.Equi{L: kernels.Col{ID: o.extra[n+1]}, R: kernels.Col{Input: 1, ID: o.extra[n]}})
	default:
		pred = o.between(o.extra[n], f)
	}
	cols, err = foldOrNull(s, o, equi, pred, fns)
	return cols, o.rows, err
}

// between is the condition that the other row's position is in the row's frame.
func (o *ordered) between(position ra.ColumnID, f frame) (pred []*kernels.Expr) {
	far := kernels.Build("sub", o.rows.Var(1, position), o.rows.Var(0, position))
	if f.lo > -unbounded {
		pred = append(pred, kernels.Build("ge", far, intConst(f.lo)))
	}
	if f.hi < unbounded {
		pred = append(pred, kernels.Build("le", far, intConst(f.hi)))
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

// placeRows computes each row's position in its partition, from 0, and the number of rows there.
func placeRows(s *scope, c *ast.FuncCall, keys []*kernels.Expr, order []sortKey) ([]*kernels.Expr, renaming, error) {
	if s.mask() != nil {
		return nil, nil, s.f.fail(c, sqlerr.FeatureNotSupported,
			"positions of rows that a parameter's values choose are not differentiable").
			WithHint("Structure may not depend on values: choose by keys or attributes.")
	}
	o := orderRows(s, keys, order, intConst(1))
	at, err := positionsIn(s, o)
	return at, o.swap, err
}

// rowNumber is row_number().
func rowNumber(s *scope, c *ast.FuncCall, w *ast.Window, keys []*kernels.Expr) (*kernels.Expr, error) {
	if len(c.Args) > 0 || c.Filter != nil {
		return nil, s.f.fail(c, sqlerr.UndefinedFunction, "row_number() takes no argument and no FILTER")
	}
	order, err := bindSortKeys(s, w.OrderBy)
	if err != nil {
		return nil, err
	}
	at, _, err := placeRows(s, c, keys, order)
	if err != nil {
		return nil, err
	}
	return kernels.Build("add", at[0], intConst(1)), nil
}

// rankCall is rank(): 1 plus the number of rows before the row that are not equal to it.
func rankCall(s *scope, c *ast.FuncCall, w *ast.Window, keys []*kernels.Expr) (*kernels.Expr, error) {
	if len(c.Args) > 0 || c.Filter != nil || s.mask() != nil {
		return nil, s.f.fail(c, sqlerr.FeatureNotSupported,
			"rank() takes no argument, no FILTER and no rows that a parameter's values choose")
	}
	order, err := bindSortKeys(s, w.OrderBy)
	if err != nil {
		return nil, err
	}
	o, no := orderRows(s, keys, order), false
	before := kernels.Build("case", o.before(&no), intConst(1), nullInt())
	n, own := o.pairs(s.b.b, nil, nil, ra.OutCol{Name: "before", X: before})
	at, err := foldOrdered(s, o, n, own, ra.Count)
	if err != nil {
		return nil, err
	}
	return kernels.Build("add", at[0], intConst(1)), nil
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
	if by < -unbounded || by > unbounded {
		return nil, s.f.fail(c.Args[1], sqlerr.InvalidParameter, "%s by %d rows", c.Name, by)
	}
	f := frame{true, sign * by, sign * by}
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
