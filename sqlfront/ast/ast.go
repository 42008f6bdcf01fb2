package ast

import "github.com/relgrad/relgrad/internal/sqlerr"

// The statement trees of relgrad. They are PostgreSQL's grammar, reduced to what relgrad gives a meaning to. Package
// parse makes them from pg_query's protobuf trees; store/bind prints them for SQLite, and sqlfront/bind turns a SELECT
// into an ra query.

// Pos is a 0-based byte offset into the text that was parsed; -1 when unknown.
type Pos int

// Text is a piece of SQL with its origin, for error carets.
type Text = sqlerr.Text

// Expr is a scalar or chunk expression.
type Expr interface{ Position() Pos }

// Node is embedded by every tree node that has a position.
type Node struct{ At Pos }

// Position returns the byte offset of the node in its text.
func (n Node) Position() Pos { return n.At }

// ColumnRef is a, t.a, s.t.a, or t.* (Star; Names then holds the qualifier).
type ColumnRef struct {
	Node
	Names []string
	Star  bool
}

// LiteralKind tells the literal's lexical class.
type LiteralKind uint8

// Literal kinds. LitInt fits int8; LitNumeric is any other number; both keep their spelling in Value.
const (
	LitNull LiteralKind = iota
	LitInt
	LitNumeric
	LitString
	LitBool // Value is "true" or "false"
)

// Literal is a constant.
type Literal struct {
	Node
	Kind  LiteralKind
	Value string
}

// Bound is a value that relgrad itself puts in: a PL/pgSQL variable, or the result of gradient() or backward(). Type is
// a Postgres type name ("integer", "double precision", "real[]", "text", "boolean", …). Value is nil (NULL), int64,
// float64, bool, string or *tensor.Tensor.
type Bound struct {
	Node
	Type  string
	Value any
}

// Unary is -x, +x, NOT x (Op "not"), or an operator that stands for a Function. Schema is "relgrad" where it is written
// OPERATOR(relgrad.-) x, as Postgres prints views; OPERATOR(pg_catalog.-) x is -x.
type Unary struct {
	Node
	Op     string
	X      Expr
	Schema string
}

// Function is the call of Postgres's function that @ x, |/ x or ||/ x stands for; the roots are of double precision.
// nil: another operator.
func (u *Unary) Function() *FuncCall {
	name := map[string]string{"@": "abs", "|/": "sqrt", "||/": "cbrt"}[u.Op]
	if name == "" {
		return nil
	}
	x := u.X
	if name != "abs" {
		x = &Cast{Node: u.Node, X: x, Type: TypeName{Name: "double precision"}}
	}
	return &FuncCall{Node: u.Node, Schema: "pg_catalog", Name: name, Args: []Expr{x}, ArgNames: []string{""}}
}

// Binary is an infix operator: + - * / % ^ || = <> < <= > >= and or, and the
// pattern operators ~~ (LIKE), !~~, ~~* (ILIKE), !~~*, ~ , !~. Lower case. Schema: see Unary.
type Binary struct {
	Node
	Op     string
	L, R   Expr
	Schema string
}

// FuncCall is f(args). Whether it is an aggregate is decided later by its name.
type FuncCall struct {
	Node
	Schema   string
	Name     string // lower case unless quoted
	Args     []Expr
	ArgNames []string // parallel to Args; "" for positional ("name => value")
	Star     bool     // count(*)
	Distinct bool
	OrderBy  []SortKey
	// WithinGroup: OrderBy stands behind the call, in WITHIN GROUP (…).
	WithinGroup bool
	Filter      Expr
	Over        *Window
}

// Window is the OVER clause (or a WINDOW definition, Name set).
type Window struct {
	Node
	Name        string // OVER w, or the definition's name
	Extends     string // OVER (w …), or AS (w …): the window to which this one adds
	PartitionBy []Expr
	OrderBy     []SortKey
	Frame       string // normalised text, short forms kept, of the frame clause, "" for the default
}

// SortKey is one item of ORDER BY.
type SortKey struct {
	X          Expr
	Desc       bool
	NullsFirst *bool // nil: the default (last for ASC, first for DESC)
}

// Case is CASE [Arg] WHEN … THEN … ELSE … END.
type Case struct {
	Node
	Arg   Expr // nil for the searched form
	Whens []When
	Else  Expr // nil: NULL
}

// When is one arm of Case.
type When struct{ Cond, Result Expr }

// Coalesce is COALESCE(args…).
type Coalesce struct {
	Node
	Args []Expr
}

// MinMax is GREATEST(args…) or LEAST(args…).
type MinMax struct {
	Node
	Greatest bool
	Args     []Expr
}

// NullIf is NULLIF(l, r).
type NullIf struct {
	Node
	L, R Expr
}

// Cast is x::type or CAST(x AS type). If x is an argument of a function, Argument is the function's signature, and only
// implicit conversions are allowed.
type Cast struct {
	Node
	X        Expr
	Type     TypeName
	Argument string
}

// TypeName is a type as written, normalised: Name is Postgres's own spelling ("integer", "bigint", "smallint", "real",
// "double precision", "numeric", "text", "boolean", "date", "timestamp", …); Dims the number of "[]"; Mods the
// modifiers (numeric(10,2): [10 2]). A table's row type keeps its table name.
type TypeName struct {
	Node
	Schema, Name string
	Dims         int
	Mods         []int
}

// SubLinkKind tells a sub-select in an expression apart.
type SubLinkKind uint8

// Kinds of sub-select in an expression.
const (
	SubScalar SubLinkKind = iota // (SELECT …)
	SubExists                    // EXISTS (SELECT …)
	SubAny                       // x op ANY (SELECT …); IN is op "="
	SubAll                       // x op ALL (SELECT …)
	SubArray                     // ARRAY(SELECT …)
)

// SubLink is a sub-select used as an expression.
type SubLink struct {
	Node
	Kind  SubLinkKind
	Test  Expr   // SubAny, SubAll
	Op    string // SubAny, SubAll
	Query *Select
}

// In is x [NOT] IN (list).
type In struct {
	Node
	X    Expr
	List []Expr
	Not  bool
}

// AnyArray is x op ANY (array) or x op ALL (array).
type AnyArray struct {
	Node
	X     Expr
	Op    string
	Array Expr
	All   bool
}

// Between is x [NOT] BETWEEN lo AND hi.
type Between struct {
	Node
	X, Lo, Hi Expr
	Not       bool
}

// IsNull is x IS [NOT] NULL.
type IsNull struct {
	Node
	X   Expr
	Not bool
}

// IsBool is x IS [NOT] TRUE, FALSE or UNKNOWN.
type IsBool struct {
	Node
	X    Expr
	What string // "true", "false", "unknown"
	Not  bool
}

// IsDistinct is l IS [NOT] DISTINCT FROM r.
type IsDistinct struct {
	Node
	L, R Expr
	Not  bool
}

// ArrayLit is ARRAY[a, b, …].
type ArrayLit struct {
	Node
	Elems []Expr
}

// Collate is x COLLATE name.
type Collate struct {
	Node
	X            Expr
	Schema, Name string // "" no schema
}

// RowExpr is (a, b, …) or ROW(…).
type RowExpr struct {
	Node
	Fields []Expr
}

// Subscript is x[i], x[lo:hi], x[i][j]…
type Subscript struct {
	Node
	X       Expr
	Indices []Index
}

// Index is one subscript; for a slice either bound may be nil.
type Index struct {
	Slice  bool
	I      Expr // the subscript when !Slice
	Lo, Hi Expr
}

// Select is a whole SELECT, VALUES or set operation, with its WITH clause.
type Select struct {
	Node
	With          []CTE
	Recursive     bool
	SetOp         string // "", "union", "intersect", "except"
	All           bool
	L, R          *Select  // operands when SetOp != ""
	Values        [][]Expr // VALUES lists
	Distinct      bool
	DistinctOn    []Expr
	Targets       []Target
	From          []FromItem
	Where         Expr
	GroupBy       []Expr
	Having        Expr
	Windows       []Window
	OrderBy       []SortKey
	Limit, Offset Expr
	End           Pos // one past the select's last byte where known, else -1
	Own           *OwnSQL
}

// OwnSQL is the text of a sub-query that these trees cannot hold but a server can run. The rest of its Select is empty.
type OwnSQL struct {
	SQL    string
	Why    *sqlerr.Error // the construct that the trees cannot hold
	Tables []*TableRef   // that it reads, including its own WITH items
	Calls  []*FuncCall   // that it makes, without arguments
}

// Target is one output column. Name is "" where none was given.
type Target struct {
	Node
	X    Expr
	Name string
}

// CTE is one WITH item.
type CTE struct {
	Node
	Name         string
	Cols         []string
	Query        Statement // *Select, or a writing statement
	Materialized string    // "", "yes", "no"
}

// FromItem is an item of FROM.
type FromItem interface{ Position() Pos }

// Alias is AS name(cols…).
type Alias struct {
	Name string // "" when absent
	Cols []string
}

// TableRef names a table, view or CTE.
type TableRef struct {
	Node
	Schema, Name string
	Only         bool // ONLY: without the rows of tables that inherit from it
	Alias        Alias
}

// SubSelect is (SELECT …) AS a, or (VALUES …) AS a.
type SubSelect struct {
	Node
	Query   *Select
	Lateral bool
	Alias   Alias
}

// FuncFrom is f(args) [WITH ORDINALITY] AS a(cols).
type FuncFrom struct {
	Node
	Func                *FuncCall
	Ordinality, Lateral bool
	Alias               Alias
	Needs               *Needs // of the query in which it stood before; nil: those of its query
}

// JoinKind is the kind of a join.
type JoinKind uint8

// Join kinds.
const (
	JoinInner JoinKind = iota // also CROSS JOIN: On and Using empty
	JoinLeft
	JoinRight
	JoinFull
)

// JoinFrom is L JOIN R.
type JoinFrom struct {
	Node
	Kind    JoinKind
	L, R    FromItem
	On      Expr
	Using   []string
	Natural bool
}

// Param is $n, a parameter of EXECUTE … USING or of a LANGUAGE sql function; N counts from 1.
type Param struct {
	Node
	N int
}

// Default is DEFAULT in a VALUES row of an INSERT.
type Default struct{ Node }
