package ra

import (
	"slices"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/kernels"
)

// ColumnID identifies a column within one query.
type ColumnID = kernels.ColumnID

// Op is an operator.
type Op uint8

// Operators, as RA-AD §2.2 names them, and those that SQL adds.
const (
	Scan      Op = iota // τ
	Select              // σ(pred, proj, ⊙): one input
	Join                // ⋈(pred, proj, ⊗): two or more inputs
	Aggregate           // Σ(grp, ⊕)
	Union               // disjoint union; a key column tells the branch
	SemiJoin            // rows of input 0 with a partner in input 1
	AntiJoin            // rows of input 0 without one
	Add                 // sum of gradient relations by key; a missing row is zero
	Gradient            // a nested gradient, before expansion: input 0 the loss, input 1 the scan of the parameter
	Opaque              // a parameter-free sub-query run by the store
	Window              // aggregates over frames of ordered rows: one input, whose rows it keeps
	Recursion           // rows level by level, each from the one before: see Loop
	Self                // a level of a Recursion, in the query of the next one
	numOps
)

// NumOps is the number of operators, for coverage tests.
const NumOps = int(numOps)

// String returns the operator's name.
func (o Op) String() string {
	return [...]string{"Scan", "Select", "Join", "Aggregate", "Union", "SemiJoin", "AntiJoin", "Add",
		"Gradient", "Opaque", "Window", "Recursion", "Self"}[o]
}

// Column is an output column of a node.
type Column struct {
	ID   ColumnID
	Name string // a hint for plans and messages; nothing is looked up by it
	Type kernels.Type
	Dep  bool // the value depends on a parameter
}

// Equi is an equality between columns of one kind, of two inputs of a Join, SemiJoin or AntiJoin. NullSafe equates
// NULLs (IS NOT DISTINCT FROM), which identities and groups need.
type Equi struct {
	L, R     kernels.Col
	NullSafe bool
}

// AggFn is the ⊕ of an aggregate.
type AggFn uint8

// Aggregate functions. All skip NULL; Sum of nothing is NULL, GradSum of nothing is zero.
const (
	Sum AggFn = iota
	GradSum
	Count     // of non-NULL values
	CountRows // count(*)
	Min
	Max
	Rank // of a Window: how many rows of the frame precede the row by value or, of those with its value, in the order
)

// String returns the function's name.
func (f AggFn) String() string {
	return [...]string{"sum", "gradsum", "count", "count_rows", "min", "max", "rank"}[f]
}

// Agg is one aggregate of an Aggregate; Arg is a column of the input (unused by CountRows).
type Agg struct {
	Fn  AggFn
	Arg ColumnID
}

// Asked is what an Opaque asks the store for.
type Asked struct {
	Query any   // the statement tree, for the Source
	Rows  int64 // how many rows it is expected to have; 0: not known
}

// Node is an operator. Which fields count depends on Op.
type Node struct {
	Op     Op
	Inputs []*Node
	Cols   []Column
	Key    []ColumnID // identity: a subset of Cols; empty: at most one row
	Unique []ColumnID // the part of Key that suffices to identify a row: the rest is determined by it
	Fixed  []ColumnID // columns of Key that hold one value in all rows, as far as is known
	Least  []ColumnID // the part of Key that tells the rows apart that there are now; nil: not known, then Unique does

	Table *Table // Scan; TableCols[i] is the table column of Cols[i] (RowID: hidden row id)
	// TableCols are the table's columns read by a Scan.
	TableCols []int

	Equi []Equi          // Join, SemiJoin, AntiJoin
	Pred []*kernels.Expr // Select, Join, SemiJoin, AntiJoin: further conjuncts
	Out  []*kernels.Expr // Select, Join: parallel to Cols

	Group []ColumnID // Aggregate: columns of the input; Cols[:len(Group)] are its output keys
	Aggs  []Agg      // Aggregate: parallel to Cols[len(Group):]; Window: to Cols[len(Over.Pass):]
	Over  *Over      // Window
	Loop  *Loop      // Recursion

	Asked // Opaque
	Label string
	// PerStep marks an Opaque that is run again at every step, and a Scan whose table is read again.
	PerStep bool
	Pos     int // byte offset in the user's text, -1 when derived
}

// Col returns the output column with that id; nil when there is none.
func (n *Node) Col(id ColumnID) *Column {
	if i := n.Index(id); i >= 0 {
		return &n.Cols[i]
	}
	return nil
}

// Index returns the position of a column, -1 when there is none.
func (n *Node) Index(id ColumnID) int {
	if len(n.Cols) == 0 {
		return -1
	}
	// a builder numbers a node's columns in order
	if i := int(id - n.Cols[0].ID); i >= 0 && i < len(n.Cols) && n.Cols[i].ID == id {
		return i
	}
	for i := range n.Cols {
		if n.Cols[i].ID == id {
			return i
		}
	}
	return -1
}

// IsKey reports whether id belongs to the identity.
func (n *Node) IsKey(id ColumnID) bool { return slices.Contains(n.Key, id) }

// fixed reports whether a column is known to hold one value in all rows: those of a table with one row do.
func (n *Node) fixed(id ColumnID) bool {
	return n.Op == Scan && n.Table.Rows == 1 || slices.Contains(n.Fixed, id)
}

// least is a part of the identity that tells rows apart.
func (n *Node) least() []ColumnID {
	switch {
	case n.Least != nil:
		return n.Least
	case n.Op == Scan && n.Table.Rows == 1:
		return nil
	}
	return n.Unique
}

// Var is the expression that reads a column of input slot i.
func (n *Node) Var(slot int, id ColumnID) *kernels.Expr {
	return kernels.Column(kernels.Col{Input: slot, ID: id}, n.Col(id).Type)
}

// Walk visits every node below roots once, inputs first.
func Walk(f func(*Node), roots ...*Node) {
	seen := map[*Node]bool{}
	var visit func(*Node)
	visit = func(n *Node) {
		if seen[n] {
			return
		}
		seen[n] = true
		for _, in := range n.Inputs {
			visit(in)
		}
		f(n)
	}
	for _, r := range roots {
		visit(r)
	}
}

// Exprs calls f for every expression of the node.
func (n *Node) Exprs(f func(*kernels.Expr)) {
	for _, e := range n.Pred {
		f(e)
	}
	for _, e := range n.Out {
		f(e)
	}
}

// Reads calls f for every column that an expression of the node reads, once at least.
func (n *Node) Reads(f func(kernels.Col)) {
	kernels.AnyOf(func(x *kernels.Expr) bool {
		if x.IsCol {
			f(x.Col)
		}
		return false
	}, n.Pred, n.Out)
}

// InputVar is the expression over n's inputs that reads a column of input slot i.
func (n *Node) InputVar(slot int, id ColumnID) *kernels.Expr { return n.Inputs[slot].Var(slot, id) }

// Arranged lists the columns of the input by which an Aggregate groups rows, or a Window divides and orders them.
func (n *Node) Arranged() []ColumnID {
	if n.Op != Window {
		return n.Group
	}
	return slices.Concat(n.Over.Partition, lists.Map(n.Over.Order, func(s Sort) ColumnID { return s.Col }))
}

// Passed is the column of a Window's input that column i is; ok is false for an aggregate.
func (n *Node) Passed(i int) (id ColumnID, ok bool) {
	if i >= len(n.Over.Pass) {
		return 0, false
	}
	return n.Over.Pass[i], true
}

// Sources are the columns of a Window's input of which column i is made: the one that it is or that it aggregates, and
// the one that says which rows count.
func (n *Node) Sources(i int) (ids []ColumnID) {
	if id, ok := n.Passed(i); ok {
		return []ColumnID{id}
	}
	if a := n.Aggs[i-len(n.Over.Pass)]; a.Fn != CountRows {
		ids = append(ids, a.Arg)
	}
	if e := n.Over.Among; e != nil {
		ids = append(ids, e.Col)
	}
	return ids
}

// Along is the Recursion whose levels n goes along: itself, or its third input.
func (n *Node) Along() *Node {
	if len(n.Inputs) > along {
		return n.Inputs[along]
	}
	return n
}

// Sums reports whether a Recursion sums rows by their identity, along another one.
func (n *Node) Sums() bool { return len(n.Inputs) > along }

// States is how many columns of a Recursion are its inputs' and its Self's: the number of the level is behind them.
func (n *Node) States() int {
	if n.Sums() {
		return len(n.Cols)
	}
	return len(n.Cols) - 1
}

// SelfLeaf is the Self below a Recursion's step; nil: there is none, which Validate refuses.
func (n *Node) SelfLeaf() (self *Node) {
	Walk(func(m *Node) {
		if m.Op == Self && m.Cols[0].ID == n.Loop.Self {
			self = m
		}
	}, n.Inputs[1])
	return self
}

// Within lists the nodes of a Recursion's step that a level computes anew: those that read its Self, inputs first, the
// Self among them.
func (n *Node) Within() []*Node { return Reading(n.Inputs[1], n.SelfLeaf()) }
