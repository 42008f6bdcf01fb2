package bind

import (
	"cmp"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

type opaqueResult struct {
	rel *relation
	err error
}

// opaqueQuery makes an Opaque node of a query that reads no parameter. ok is false where it reads one, or cannot run
// alone because it refers to outer WITH items or columns.
func opaqueQuery(b *binder, f *place, sel *ast.Select, scalar bool) (opaqueResult, bool) {
	if !parameterFree(b, f, sel, map[string]bool{}) {
		return opaqueResult{}, false
	}
	if err := cmp.Or(refuseVolatile(b, f, sel, map[string]bool{}), refuseBatch(b, f, sel)); err != nil {
		return opaqueResult{err: err}, true
	}
	q := &OpaqueQuery{Select: withCTEs(f, sel), Text: f.text, Scalar: scalar}
	perStep, err := refuseReach(b, f, q.Select, sel)
	if err != nil {
		return opaqueResult{err: err}, true
	}
	cols, err := b.cat.Describe(b.ctx, q)
	if err != nil {
		return opaqueResult{err: f.at(err, sel)}, true
	}
	n := b.b.Opaque(q, "", cols)
	if scalar {
		n.Key, n.Unique = nil, nil
	}
	r := &relation{node: n}
	for i, c := range cols {
		r.names, r.cols = append(r.names, c.Name), append(r.cols, n.Cols[i].ID)
		r.classes = append(r.classes, classOf[q.Types[i]])
	}
	if perStep || readsStep(b, f, sel, map[string]bool{}) {
		n.PerStep, b.draws = true, true
	}
	return opaqueResult{rel: r}, true
}

// withCTEs adds to a sub-query the WITH items visible at its place, so that it can run alone.
func withCTEs(f *place, sel *ast.Select) *ast.Select {
	if !ast.Any(sel, func(r *ast.TableRef) bool {
		return r.Schema == "" && slices.ContainsFunc(f.ctes, func(c *cte) bool { return c.name == r.Name })
	}) {
		return sel
	}
	out := sel
	for end := len(f.ctes); end > 0; {
		var run []ast.CTE // in one WITH clause: an item that hides another must be nested deeper
		loop := f.ctes[end-1].loop
		for end > 0 && f.ctes[end-1].loop == loop && !slices.ContainsFunc(run, func(c ast.CTE) bool {
			return c.Name == f.ctes[end-1].name
		}) {
			end--
			w := f.ctes[end]
			run = append(run, ast.CTE{Node: w.sel.Node, Name: w.name, Cols: w.cols, Query: w.sel})
		}
		slices.Reverse(run)
		c := *out
		if len(out.With) > 0 || out.Own != nil {
			c = ast.Select{Node: out.Node, End: -1,
				Targets: []ast.Target{{Node: out.Node, X: &ast.ColumnRef{Node: out.Node, Star: true}}},
				From:    []ast.FromItem{&ast.SubSelect{Node: out.Node, Query: out, Alias: ast.Alias{Name: "q"}}}}
		}
		c.With, c.Recursive, out = run, loop, &c
	}
	return out
}

// parameterFree reports whether a query reads no parameter table and no gradient, also through views.
func parameterFree(b *binder, f *place, sel *ast.Select, seen map[string]bool) bool {
	free := true
	ast.Walk(sel, func(t ast.Tree) bool {
		switch x := t.(type) {
		case *ast.FuncCall:
			free = free && !slices.Contains(derivatives, x.Name)
		case *ast.TableRef:
			free = free && refFree(b, f, x, seen)
		}
		return free
	})
	return free
}

func refFree(b *binder, f *place, x *ast.TableRef, seen map[string]bool) bool {
	for _, p := range b.opt.Params {
		if x.Name == p.Table {
			return false
		}
	}
	if c, before := f.cte(x); c != nil {
		return c.self == nil && parameterFree(b, before, c.sel, seen)
	}
	k := f.seenKey(x)
	if seen[k] {
		return true
	}
	seen[k] = true
	v, err := b.cat.View(b.ctx, f.text.Path, x.Schema, x.Name)
	if err != nil || v == nil {
		return err == nil
	}
	return parameterFree(b, &place{text: v.Text}, v.Query, seen)
}

// cte finds the WITH item to which x refers, and the place of its query, where only earlier items are visible.
func (f *place) cte(x *ast.TableRef) (*cte, *place) {
	for i := len(f.ctes) - 1; i >= 0 && x.Schema == ""; i-- {
		if f.ctes[i].name == x.Name {
			return f.ctes[i], &place{text: f.text, view: f.view, draws: f.draws, ctes: f.ctes[:i:i]}
		}
	}
	return nil, nil
}

// seenKey identifies the object to which x refers here.
func (f *place) seenKey(x *ast.TableRef) string {
	return strings.Join(f.text.Path, ",") + "/" + x.Schema + "." + x.Name
}

// refuseVolatile refuses a query with a volatile call, also in views and WITH items: it would be evaluated once for the
// whole run.
func refuseVolatile(b *binder, f *place, sel *ast.Select, seen map[string]bool) (err error) {
	ast.Walk(sel, func(t ast.Tree) bool {
		switch x := t.(type) {
		case *ast.FuncCall:
			if slices.Contains(volatile, x.Name) {
				err = f.fail(x, sqlerr.FeatureNotSupported,
					"%s() is volatile: a loss must be a function of its tables, seed and step", x.Name).
					WithHint("Draw with random_uniform(ARRAY[1], current_seed(), ARRAY[current_step(), key…]); it is " +
						"drawn anew at each step.")
			}
		case *ast.TableRef:
			if c, before := f.cte(x); c != nil {
				err = refuseVolatile(b, before, c.sel, seen)
			} else if k := f.seenKey(x); c == nil && !seen[k] {
				seen[k] = true
				if v, e := b.cat.View(b.ctx, f.text.Path, x.Schema, x.Name); e == nil && v != nil {
					err = sqlerr.In(refuseVolatile(b, &place{text: v.Text}, v.Query, seen), v.Text)
				}
			}
		}
		return err == nil
	})
	return err
}

// ofTheStep are the functions that give what a step has of the run.
var ofTheStep = []string{"current_step", "current_epoch", "current_seed"}

// readsStep reports whether a query calls one of them, also through views and WITH items.
func readsStep(b *binder, f *place, sel *ast.Select, seen map[string]bool) bool {
	found := false
	ast.Walk(sel, func(t ast.Tree) bool {
		switch x := t.(type) {
		case *ast.FuncCall:
			found = found || slices.Contains(ofTheStep, x.Name)
		case *ast.TableRef:
			if c, before := f.cte(x); c != nil {
				found = found || readsStep(b, before, c.sel, seen)
			} else if k := f.seenKey(x); !seen[k] {
				seen[k] = true
				if v, err := b.cat.View(b.ctx, f.text.Path, x.Schema, x.Name); err == nil && v != nil {
					found = found || readsStep(b, &place{text: v.Text}, v.Query, seen)
				}
			}
		}
		return !found
	})
	return found
}

// Opaques lists the Opaque nodes below roots that the store must run.
func Opaques(roots ...*ra.Node) []*ra.Node {
	var out []*ra.Node
	ra.Walk(func(n *ra.Node) {
		if n.Op == ra.Opaque && n.Query.(*OpaqueQuery).Rows == nil {
			out = append(out, n)
		}
	}, roots...)
	return out
}
