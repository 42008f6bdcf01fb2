package ra

import (
	"slices"

	"github.com/relgrad/relgrad/kernels"
)

// Links tells which columns of a Select or Join equal which, for many questions about one node: what it takes to answer
// one of them does not depend on how wide the node is. It holds for the inputs, conditions and outputs of the node as
// they are when it is made.
type Links struct {
	n    *Node
	base []int32               // of each input: the place of its first column
	few  map[kernels.Col]int32 // places of the columns met so far, where inputs are much wider than the node; nil: by base
	// by place: one more than the first end of a condition there, in the order of the conditions
	cond []int32
	tail []int32 // by place: one more than the last
	ends []end
	outs []int32 // by place: one more than the first output that is this column
	next []int32 // by output: one more than the next one of the same column
	last []int32 // by place: one more than the last output of it
	seen []int32 // by place: the question that met it last
	asks int32
	keys func(output int) bool // which outputs belong to the identity; nil: nobody has asked
}

// end is one side of a condition, seen from the other.
type end struct {
	to   kernels.Col
	next int32
}

// Links prepares answers about a Select or Join.
func (n *Node) Links() *Links {
	l := newLinks(n)
	for i := range n.Out {
		l.output(i)
	}
	return l
}

// newLinks knows the conditions alone.
func newLinks(n *Node) *Links {
	l := &Links{n: n}
	width := 0
	for _, in := range n.Inputs {
		width += len(in.Cols)
	}
	if used := len(n.Out) + 2*len(n.Equi); width > 64+4*used {
		l.few = make(map[kernels.Col]int32, used)
	} else {
		l.wide(width)
	}
	if len(n.Equi) == 0 {
		return l
	}
	l.ends = make([]end, 0, 2*len(n.Equi))
	for _, q := range n.Equi {
		l.condition(q.R, q.L)
		if q.L != q.R {
			l.condition(q.L, q.R)
		}
	}
	return l
}

// wide gives every column of the inputs a place.
func (l *Links) wide(width int) {
	l.base = make([]int32, len(l.n.Inputs))
	at := 0
	for i, in := range l.n.Inputs {
		l.base[i] = int32(at)
		at += len(in.Cols)
	}
	all := make([]int32, 5*width)
	for _, by := range []*[]int32{&l.cond, &l.tail, &l.outs, &l.last, &l.seen} {
		*by, all = all[:width], all[width:]
	}
}

func (l *Links) condition(from, to kernels.Col) {
	at := l.place(from)
	l.ends = append(l.ends, end{to: to})
	now := int32(len(l.ends))
	if t := l.tail[at]; t > 0 {
		l.ends[t-1].next = now
	} else {
		l.cond[at] = now
	}
	l.tail[at] = now
}

// output notes output i.
func (l *Links) output(i int) {
	l.next = append(l.next, 0)
	if !l.n.Out[i].IsCol {
		return
	}
	at := l.place(l.n.Out[i].Col)
	if t := l.last[at]; t > 0 {
		l.next[t-1] = int32(i) + 1
	} else {
		l.outs[at] = int32(i) + 1
	}
	l.last[at] = int32(i) + 1
}

func (l *Links) place(c kernels.Col) int32 {
	if l.few != nil {
		at, ok := l.few[c]
		if !ok {
			at = int32(len(l.cond))
			l.few[c] = at
			for _, by := range []*[]int32{&l.cond, &l.tail, &l.outs, &l.last, &l.seen} {
				*by = append(*by, 0)
			}
		}
		return at
	}
	return l.base[c.Input] + int32(l.n.Inputs[c.Input].Index(c.ID))
}

// Equated returns c and the input columns that the join conditions make equal to it.
func (l *Links) Equated(c kernels.Col) []kernels.Col {
	out := []kernels.Col{c}
	if len(l.ends) == 0 {
		return out
	}
	l.asks++
	at := l.place(c)
	l.seen[at] = l.asks
	for i := 0; i < len(out); i++ {
		at := l.place(out[i])
		for e := l.cond[at]; e > 0; e = l.ends[e-1].next {
			o := l.ends[e-1].to
			if at := l.place(o); l.seen[at] != l.asks {
				l.seen[at] = l.asks
				out = append(out, o)
			}
		}
	}
	return out
}

// Aliases lists the output columns that always equal output column id, itself included.
func (l *Links) Aliases(id ColumnID) []ColumnID {
	e := l.n.Out[l.n.Index(id)]
	if !e.IsCol {
		return []ColumnID{id}
	}
	var out []ColumnID
	for _, m := range l.Equated(e.Col) {
		at := l.place(m)
		for j := l.outs[at]; j > 0; j = l.next[j-1] {
			out = append(out, l.n.Cols[j-1].ID)
		}
	}
	return out
}

// carrier finds an output column that always equals the input column c, one that isKey where there is one.
func (l *Links) carrier(c kernels.Col, isKey func(output int) bool) (output int, ok bool) {
	output = -1
	for _, m := range l.Equated(c) {
		at := l.place(m)
		for j := l.outs[at]; j > 0; j = l.next[j-1] {
			if isKey(int(j) - 1) {
				return int(j) - 1, true
			}
			if output < 0 {
				output = int(j) - 1
			}
		}
	}
	return output, output >= 0
}

// Carries reports whether some output always equals column id of input slot.
func (l *Links) Carries(slot int, id ColumnID) bool {
	_, ok := l.carrier(kernels.Col{Input: slot, ID: id}, func(int) bool { return true })
	return ok
}

// InputKey returns, for input i, the output columns that equal that input's identity; ok is false where they are not
// passed through (see MaxKey).
func (l *Links) InputKey(i int) (ids []ColumnID, ok bool) {
	if l.keys == nil {
		l.keys = l.n.keyed()
	}
	ids = make([]ColumnID, len(l.n.Inputs[i].Key))
	for j, k := range l.n.Inputs[i].Key {
		at, ok := l.carrier(kernels.Col{Input: i, ID: k}, l.keys)
		if !ok || !l.keys(at) {
			return nil, false
		}
		ids[j] = l.n.Cols[at].ID
	}
	return ids, true
}

// keyed tells which outputs belong to the identity.
func (n *Node) keyed() func(output int) bool {
	key := make([]bool, len(n.Cols))
	for _, k := range n.Key {
		key[n.Index(k)] = true
	}
	return func(i int) bool { return key[i] }
}

// Equated returns c and the input columns that the join conditions make equal to it.
func (n *Node) Equated(c kernels.Col) []kernels.Col {
	if len(n.Equi) == 0 {
		return []kernels.Col{c}
	}
	return newLinks(n).Equated(c)
}

// Aliases lists the output columns that always equal output column id, itself included.
func (n *Node) Aliases(id ColumnID) []ColumnID { return n.Links().Aliases(id) }

// fixed reports whether an input column is known to hold one value in all rows of the join.
func (l *Links) fixed(c kernels.Col) bool {
	return slices.ContainsFunc(l.Equated(c), func(m kernels.Col) bool {
		return l.n.Inputs[m.Input].fixed(m.ID) || slices.ContainsFunc(l.n.Pred, func(p *kernels.Expr) bool {
			return fixes(p, m)
		})
	})
}

// fixes reports whether a condition holds for one value of a column only. Equal texts of some types differ.
func fixes(p *kernels.Expr, c kernels.Col) bool {
	if !p.Def.Is(kernels.Equates) {
		return false
	}
	x, y := p.Args[0], p.Args[1]
	if x.IsConst() {
		x, y = y, x
	}
	return y.IsConst() && x.IsCol && x.Col == c && x.Type.Kind == y.Type.Kind &&
		(x.Type.Kind == kernels.Int || x.Type.Kind == kernels.Text && x.Type.Of == nil)
}

// essential lists, for each input, the columns of its identity that are needed to tell the join's rows apart: none that
// hold one value, and none of an input whose row the conditions determine from rows of others.
func (l *Links) essential() [][]ColumnID {
	n := l.n
	out, kept := make([][]ColumnID, len(n.Inputs)), make([]bool, len(n.Inputs))
	for i, in := range n.Inputs {
		kept[i] = true
		for _, k := range in.least() {
			if !l.fixed(kernels.Col{Input: i, ID: k}) {
				out[i] = append(out[i], k)
			}
		}
	}
	for i := len(n.Inputs) - 1; i >= 0; i-- {
		kept[i] = false
		for _, k := range out[i] {
			kept[i] = kept[i] || !l.told(i, k, kept)
		}
		if !kept[i] {
			out[i] = nil
		}
	}
	return out
}

// told reports whether the conditions equate column k of input i, or one from which it can be computed, to a column of
// another input that is kept.
func (l *Links) told(i int, k ColumnID, kept []bool) bool {
	in := l.n.Inputs[i]
	for j, c := range in.Cols {
		if c.ID != k && !(in.Out != nil && shifted(in.Out[j], in.Out[in.Index(k)])) {
			continue
		}
		if slices.ContainsFunc(l.Equated(kernels.Col{Input: i, ID: c.ID}), func(m kernels.Col) bool {
			return kept[m.Input]
		}) {
			return true
		}
	}
	return false
}

// shifted reports whether e is the integer column x plus or minus a constant.
func shifted(e, x *kernels.Expr) bool {
	if !x.IsCol || !e.Def.Is(kernels.Shifts) || e.Type.Kind != kernels.Int {
		return false
	}
	l, r := e.Args[0], e.Args[1]
	if l.IsConst() {
		l, r = r, l
	}
	return l.Same(x) && r.IsConst() && !r.Const.Null
}

// unique finds a sufficient part of a join's identity: an input whose own identity is equated to columns of
// the other inputs adds nothing.
func (l *Links) unique(isKey func(output int) bool) []ColumnID {
	n := l.n
	kept := make([]bool, len(n.Inputs))
	for i := range kept {
		kept[i] = true
	}
	for i := len(n.Inputs) - 1; i >= 0 && len(n.Inputs) > 1; i-- {
		kept[i] = false
		for _, k := range n.Inputs[i].Unique {
			found := len(n.Equi) > 0 && slices.ContainsFunc(l.Equated(kernels.Col{Input: i, ID: k}), func(m kernels.Col) bool {
				return kept[m.Input]
			})
			kept[i] = kept[i] || !found
		}
	}
	var out []ColumnID
	taken := make([]bool, len(n.Cols))
	for i, input := range n.Inputs {
		if !kept[i] {
			continue
		}
		for _, k := range input.Unique {
			if at, ok := l.carrier(kernels.Col{Input: i, ID: k}, isKey); ok && !taken[at] {
				taken[at] = true
				out = append(out, n.Cols[at].ID)
			}
		}
	}
	return out
}
