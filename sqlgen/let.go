package sqlgen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/kernels"
)

// Expressions share sub-trees, above all in second derivatives, and a text that repeats them can be
// exponentially longer. So in a large expression what occurs several times gets a name:
//
//	(SELECT x1 * x1 FROM (SELECT relgrad_exp(c3) AS x1))
//
// A name is bound only where its value is needed in any case, or cannot fail. The branches of CASE, and whatever else
// is evaluated on a condition (a region), bind their own names.

// maxPlain is the number of nodes, as a tree, up to which an expression is printed without names.
const maxPlain = 300

// sharing gives equal expressions equal numbers.
type sharing struct {
	ids    map[*kernels.Expr]int
	keys   map[string]int
	sizes  []int // as trees, at most maxSize
	safe   []bool
	names  map[int]string // the names bound here
	serial int
}

const maxSize = 1 << 30

func newSharing() *sharing {
	return &sharing{ids: map[*kernels.Expr]int{}, keys: map[string]int{}, names: map[int]string{}}
}

// id numbers an expression.
func (s *sharing) id(e *kernels.Expr) int {
	if id, ok := s.ids[e]; ok {
		return id
	}
	var key strings.Builder
	size, safe := 1, !mayFail(e)
	switch {
	case e.IsCol:
		fmt.Fprintf(&key, "col %d:%d", e.Col.Input, e.Col.ID)
	case e.Def == nil:
		fmt.Fprintf(&key, "const %v %v", e.Type, e.Const)
	default:
		fmt.Fprintf(&key, "%s %v %q", e.Def.Name, e.Type, e.Attr.Encode())
		for _, a := range e.Args {
			i := s.id(a)
			fmt.Fprintf(&key, " %d", i)
			size, safe = min(size+s.sizes[i], maxSize), safe && s.safe[i]
		}
	}
	id, ok := s.keys[key.String()]
	if !ok {
		id = len(s.sizes)
		s.keys[key.String()] = id
		s.sizes, s.safe = append(s.sizes, size), append(s.safe, safe)
	}
	s.ids[e] = id
	return id
}

// lazy reports whether a printed call evaluates argument i only on a condition.
func lazy(e *kernels.Expr, i int) bool {
	switch e.Def.Name {
	case "case", "coalesce", "and", "or":
		return i > 0
	case "select":
		return e.Type.Shape == nil && (i > 0 || e.Type.Nullable)
	case "greater", "eq_mask":
		return e.Type.Shape == nil && e.Type.Nullable
	}
	return false
}

// region counts how often each expression would occur in a region's text.
type region struct {
	s      *sharing
	least  int // expressions larger than this get names
	exprs  map[int]*kernels.Expr
	uses   map[int]int
	always map[int]bool // needed whenever the region is evaluated
	order  []int        // operands first
}

func (r *region) visit(e *kernels.Expr, always bool) {
	id := r.s.id(e)
	if e.Def == nil || r.s.names[id] != "" {
		return
	}
	r.uses[id]++
	seen := r.exprs[id] != nil
	if seen && (r.always[id] || !always) {
		return
	}
	r.exprs[id], r.always[id] = e, always
	if seen { // it may be needed always only now; counting its parts twice does no harm
		r.uses[id]--
	}
	for i, a := range e.Args {
		r.visit(a, always && !lazy(e, i))
	}
	if !seen {
		r.order = append(r.order, id)
	}
}

// region prints an expression that is evaluated as a whole or not at all, and binds names in it.
func (w *writer) region(e *kernels.Expr) text {
	s := w.share
	if s == nil || w.err != nil || s.sizes[s.id(e)] <= maxPlain/10 {
		return w.expr(e)
	}
	r := &region{s: s, least: 2, exprs: map[int]*kernels.Expr{}, uses: map[int]int{}, always: map[int]bool{}}
	r.visit(e, true)
	levels := r.levels(s.id(e))
	if len(levels) == 0 {
		return w.expr(e)
	}
	var from []string
	var bound []int
	for _, level := range levels {
		var items, names []string
		for _, id := range level {
			s.serial++
			names = append(names, fmt.Sprintf("x%d", s.serial))
			items = append(items, w.expr(r.exprs[id]).sql+" AS "+names[len(names)-1])
		}
		for i, id := range level { // visible from the next level on
			s.names[id] = names[i]
			bound = append(bound, id)
		}
		from = append(from, " FROM "+w.p.d.Derived(strings.Join(items, ", ")))
	}
	sql := w.expr(e).sql
	for _, id := range bound {
		delete(s.names, id)
	}
	for _, f := range slices.Backward(from) {
		sql = "(SELECT " + sql + f + ")"
	}
	return atom(sql)
}

// levels lists the expressions that get names. Those of one level use only names of earlier levels.
func (r *region) levels(root int) [][]int {
	level := map[int]int{} // the highest level among the names inside
	var out [][]int
	for _, id := range r.order {
		e, top := r.exprs[id], -1
		for _, a := range e.Args {
			if l, ok := level[r.s.id(a)]; ok {
				top = max(top, l)
			}
		}
		if id != root && r.uses[id] > 1 && r.s.sizes[id] > r.least && (r.always[id] || r.s.safe[id]) {
			top++
			if top == len(out) {
				out = append(out, nil)
			}
			out[top] = append(out[top], id)
		}
		level[id] = top
	}
	return out
}
