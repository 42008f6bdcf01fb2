// Package rjp holds one relation-Jacobian product per operator (RA-AD §4.1).
//
// # What
//
// Of takes a node and the gradient of its output and returns what each input receives, as relations.
//
// # Invariants
//
// A Grad holds the identity of the node it belongs to; a missing row means zero, no value is NULL. A node's
// input slots receive apart, also when they hold the same node: autodiff sums them (law 4).
// Differences from the paper's text: Σ multiplies by the upstream gradient also when its group is constant;
// the predicates of σ and ⋈ need no second look, because the upstream gradient has only rows that passed.
//
// # Errors
//
// An operator or kernel without a derivative is an error with the user's position.
//
// # Where to add
//
// An operator's rule goes into its own file and into rules; a test checks that none is missing.
package rjp

import (
	"fmt"
	"slices"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// Grad is the gradient relation of a node n.
type Grad struct {
	Node *ra.Node
	Key  []ra.ColumnID               // columns of Node, parallel to n.Key
	Val  map[ra.ColumnID]ra.ColumnID // value column of n → gradient column of Node
	Cols []ra.ColumnID               // the keys of Val in a fixed order
}

// Set records the gradient column of a value column.
func (g *Grad) Set(col, grad ra.ColumnID) {
	if g.Val == nil {
		g.Val = map[ra.ColumnID]ra.ColumnID{}
	}
	g.Val[col] = grad
	g.Cols = append(g.Cols, col)
}

// Only returns the part of the gradient that belongs to some of the value columns.
func (g *Grad) Only(cols []ra.ColumnID) *Grad {
	if len(cols) == len(g.Cols) {
		return g
	}
	out := &Grad{Node: g.Node, Key: g.Key}
	for _, c := range cols {
		out.Set(c, g.Val[c])
	}
	return out
}

// at returns the gradient's column for the key column id of n.
func (g *Grad) at(n *ra.Node, id ra.ColumnID) ra.ColumnID { return g.Key[slices.Index(n.Key, id)] }

// Context is what a rule may use: a builder, and which columns depend differentiably on a parameter.
type Context struct {
	B      *ra.Builder
	Active func(n *ra.Node, id ra.ColumnID) bool
	Loops  // for a Recursion
}

// Loops is what the rule of a Recursion needs of who walks the query.
type Loops struct {
	// Align sums a gradient of n by its identity: first the columns of that, then those of value columns of n, zeros where
	// g has none.
	Align func(n *ra.Node, g *Grad, cols []ra.ColumnID) (*ra.Node, error)
	// Through is what to receives if root receives g; nil: nothing. made are the nodes of root that read to, inputs first.
	Through func(root *ra.Node, g *Grad, made []*ra.Node, to *ra.Node) (*Grad, error)
	// Spread has the other nodes that made read receive what they do if root receives g.
	Spread func(root *ra.Node, g *Grad, made []*ra.Node, to *ra.Node) error
}

// Rule gives, for the gradient g of n, the gradient of each input slot; nil where it receives nothing.
type Rule func(c *Context, n *ra.Node, g *Grad) ([]*Grad, error)

var rules = [ra.NumOps]Rule{
	ra.Scan:      leaf,
	ra.Opaque:    leaf,
	ra.Select:    join,
	ra.Join:      join,
	ra.Aggregate: aggregate,
	ra.Union:     union,
	ra.SemiJoin:  semi,
	ra.AntiJoin:  semi,
	ra.Add:       add,
	ra.Gradient:  unexpanded,
	ra.Window:    window,
	ra.Recursion: recursion,
	ra.Self:      leaf,
}

// Of applies the rule of n's operator.
func Of(c *Context, n *ra.Node, g *Grad) ([]*Grad, error) { return rules[n.Op](c, n, g) }

func leaf(*Context, *ra.Node, *Grad) ([]*Grad, error) { return nil, nil }

func unexpanded(_ *Context, n *ra.Node, _ *Grad) ([]*Grad, error) {
	return nil, fmt.Errorf("rjp: nested gradient of %s was not expanded", n.Table.Name)
}

// active lists the columns of n that have a gradient in g and matter, in column order.
func active(c *Context, n *ra.Node, g *Grad) []int {
	var out []int
	for i, col := range n.Cols {
		if _, ok := g.Val[col.ID]; ok && c.Active(n, col.ID) {
			out = append(out, i)
		}
	}
	return out
}

// keyOut makes the output columns that carry a gradient's key.
func keyOut(g *ra.Node, slot int, ids []ra.ColumnID) []ra.OutCol {
	return lists.Map(ids, func(id ra.ColumnID) ra.OutCol { return ra.OutCol{Name: g.Col(id).Name, X: g.Var(slot, id)} })
}

// matchKey equates the identity of n, in slot s, with the given columns of slot 0.
func matchKey(ids []ra.ColumnID, n *ra.Node, s int) []ra.Equi {
	var out []ra.Equi
	for i, k := range n.Key {
		out = append(out, ra.Equi{L: kernels.Col{ID: ids[i]}, R: kernels.Col{Input: s, ID: k}, NullSafe: true})
	}
	return out
}

// result describes node's first columns as a gradient: keys, then one column per entry of cols.
func result(node *ra.Node, nKey int, cols []ra.ColumnID) *Grad {
	g := &Grad{Node: node}
	for i := range nKey {
		g.Key = append(g.Key, node.Cols[i].ID)
	}
	for i, c := range cols {
		g.Set(c, node.Cols[nKey+i].ID)
	}
	return g
}
