package plpgsql

import "github.com/relgrad/relgrad/sqlfront/ast"

// The tree of a PL/pgSQL body. pg_query's own PL/pgSQL tree is JSON, has line numbers only, and needs the variables
// declared. This one is read from the body itself (plpgsql.go): every node has its byte position, and every SQL text in
// it is a tree of package ast.

// PLNode is embedded by every PL/pgSQL node: position and 1-based line in the body's text.
type PLNode struct {
	At   ast.Pos
	Line int
}

// Position returns the byte offset of the node in the body's text.
func (n PLNode) Position() ast.Pos { return n.At }

// LineNo returns the 1-based line in the body; line 1 is the one with the opening quote.
func (n PLNode) LineNo() int { return n.Line }

// PLStmt is a PL/pgSQL statement.
type PLStmt interface {
	Position() ast.Pos
	LineNo() int
}

// Block is [<<label>>] [DECLARE …] BEGIN … [EXCEPTION …] END.
type Block struct {
	PLNode
	Label      string
	Decls      []Decl
	Body       []PLStmt
	Exceptions []Handler // nil: no EXCEPTION part
}

// Decl declares a variable. Exactly one of Type, Record, RowOf, TypeOf and Alias is set.
type Decl struct {
	PLNode
	Name              string
	Type              ast.TypeName
	Record            bool
	RowOf             string   // t%ROWTYPE
	TypeOf            []string // t.c%TYPE or v%TYPE
	Alias             string   // ALIAS FOR name or $n
	Constant, NotNull bool
	Default           ast.Expr // nil: NULL
}

// Handler is WHEN cond [OR cond …] THEN statements.
type Handler struct {
	PLNode
	Conds []Condition
	Body  []PLStmt
}

// Condition is a condition's name (lower case) or an SQLSTATE; one of the two is "".
type Condition struct {
	ast.Node
	Name, State string
}

// PLTarget is an assignable place: a variable, a record's field, an element or slice.
type PLTarget struct {
	ast.Node
	Names   []string
	Indices []ast.Index
}

// PLAssign is target := expr.
type PLAssign struct {
	PLNode
	Target PLTarget
	X      ast.Expr
}

// PLIf is IF … ELSIF … ELSE … END IF.
type PLIf struct {
	PLNode
	Arms []PLArm
	Else []PLStmt
}

// PLArm is a condition with the statements it guards. In a CASE with an argument Match holds the
// values of WHEN a, b instead of Cond.
type PLArm struct {
	PLNode
	Cond  ast.Expr
	Match []ast.Expr
	Body  []PLStmt
}

// PLCase is CASE [arg] WHEN … THEN … [ELSE …] END CASE. Without ELSE, no match is an error.
type PLCase struct {
	PLNode
	Arg     ast.Expr
	Arms    []PLArm
	Else    []PLStmt
	HasElse bool
}

// PLForInt is FOR v IN [REVERSE] from..to [BY step] LOOP.
type PLForInt struct {
	PLNode
	Label, Var string
	Reverse    bool
	From, To   ast.Expr
	By         ast.Expr // nil: 1
	Body       []PLStmt
}

// PLForQuery is FOR targets IN query LOOP, or IN EXECUTE expr [USING …] when Dynamic is not nil.
type PLForQuery struct {
	PLNode
	Label   string
	Targets []PLTarget
	Query   ast.Statement
	Dynamic *PLExecute
	Body    []PLStmt
}

// PLForEach is FOREACH targets [SLICE n] IN ARRAY expr LOOP.
type PLForEach struct {
	PLNode
	Label   string
	Targets []PLTarget
	Slice   int
	Array   ast.Expr
	Body    []PLStmt
}

// PLWhile is WHILE cond LOOP; Cond nil is a plain LOOP.
type PLWhile struct {
	PLNode
	Label string
	Cond  ast.Expr
	Body  []PLStmt
}

// PLExit is EXIT or CONTINUE [label] [WHEN cond].
type PLExit struct {
	PLNode
	Continue bool
	Label    string
	When     ast.Expr
}

// PLReturn is RETURN [expr], RETURN NEXT [expr] or RETURN QUERY query.
type PLReturn struct {
	PLNode
	X       ast.Expr
	Next    bool
	Query   *ast.Select
	Dynamic *PLExecute // RETURN QUERY EXECUTE
}

// PLRaise is RAISE. Without Format, Cond, State and Using it raises the current exception again.
type PLRaise struct {
	PLNode
	Level       string // "debug", "log", "info", "notice", "warning", "exception"
	HasFormat   bool
	Format      string
	Params      []ast.Expr
	Cond, State string
	Using       []PLOption
}

// PLOption is one item of RAISE … USING; Name is lower case ("message", "detail", "hint", "errcode", …).
type PLOption struct {
	ast.Node
	Name string
	X    ast.Expr
}

// PLSQL is a SQL statement, with an optional INTO [STRICT] list.
type PLSQL struct {
	PLNode
	Stmt   ast.Statement
	SQL    string // its text, without INTO
	Into   []PLTarget
	Strict bool
}

// PLPerform is PERFORM …: a query whose result is dropped.
type PLPerform struct {
	PLNode
	Query *ast.Select
}

// PLExecute is EXECUTE expr [INTO [STRICT] …] [USING …].
type PLExecute struct {
	PLNode
	X      ast.Expr
	Into   []PLTarget
	Strict bool
	Using  []ast.Expr
}

// PLTransaction is COMMIT or ROLLBACK.
type PLTransaction struct {
	PLNode
	Rollback bool
}

// PLNull is NULL.
type PLNull struct{ PLNode }

// PLGetDiagnostics is GET [CURRENT|STACKED] DIAGNOSTICS target = item, ….
type PLGetDiagnostics struct {
	PLNode
	Stacked bool
	Items   []PLDiagnostic
}

// PLDiagnostic is one item; Item is lower case ("row_count", "returned_sqlstate", "message_text", …).
type PLDiagnostic struct {
	Target PLTarget
	Item   string
}

// PLAssert is ASSERT cond [, message].
type PLAssert struct {
	PLNode
	Cond, Message ast.Expr
}

// PLBodies lists the lists of statements inside a statement, except for a block's.
func PLBodies(s PLStmt) [][]PLStmt {
	var out [][]PLStmt
	switch x := s.(type) {
	case *PLIf:
		for _, a := range x.Arms {
			out = append(out, a.Body)
		}
		out = append(out, x.Else)
	case *PLCase:
		for _, a := range x.Arms {
			out = append(out, a.Body)
		}
		out = append(out, x.Else)
	case *PLForInt:
		out = append(out, x.Body)
	case *PLForQuery:
		out = append(out, x.Body)
	case *PLForEach:
		out = append(out, x.Body)
	case *PLWhile:
		out = append(out, x.Body)
	}
	return out
}
