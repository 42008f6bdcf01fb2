package bind

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/parse"
)

// What a text of the user means depends on his session: whether a backslash in quotes escapes, what = NULL means, which
// operator a sign stands for. The texts of views were parsed when they were made. A text that the server would read
// differently from this package is refused.

// judge refuses a query text that the user's session reads differently.
func judge(ctx context.Context, cat Catalog, text *ast.Text, sel *ast.Select) error {
	if at := backslash(text.SQL); at >= 0 && setting(cat, "standard_conforming_strings") == "off" {
		return sqlerr.In(sqlerr.At(at, sqlerr.FeatureNotSupported,
			"a backslash in a quoted text is not supported in a loss while standard_conforming_strings is off").
			WithHint("Write E'\\\\', or SET standard_conforming_strings = on."), text)
	}
	return judgeTree(ctx, cat, text, sel)
}

// setting is the value of a setting where the database has one.
func setting(cat Catalog, name string) string {
	v, _ := cat.Setting(name)
	return v
}

// backslash finds a backslash in a plain quoted text; -1: none.
func backslash(sql string) int {
	if !strings.Contains(sql, `\`) {
		return -1
	}
	for at := 0; ; {
		t := parse.Lex(sql, at)
		if t.Kind == parse.TokEOF || t.Kind == parse.TokUnfinished {
			return -1
		}
		if t.Kind == parse.TokString && strings.HasPrefix(t.Word, "'") && strings.Contains(t.Word, `\`) {
			return t.At
		}
		at = t.End
	}
}

// judgeTree checks for each operator whether it may be one of the user, and what = NULL means.
func judgeTree(ctx context.Context, cat Catalog, text *ast.Text, root ast.Tree) error {
	asked, isNullTest, wrong := []string{}, ast.Tree(nil), error(nil)
	ask := func(at ast.Tree, ops ...string) {
		for _, op := range ops {
			if op == "" || wrong != nil || slices.Contains(asked, op) {
				continue
			}
			asked = append(asked, op)
			if _, wrong = cat.Function(ctx, text.Path, "", op); wrong != nil {
				wrong = standing(wrong, at, text)
			}
		}
	}
	ast.Walk(root, func(t ast.Tree) bool {
		ask(t, namesOf(t)...)
		if x, ok := t.(*ast.Binary); ok && x.Op == "=" && (isNull(x.L) || isNull(x.R)) {
			isNullTest = x
		}
		return true
	})
	if wrong != nil {
		return wrong
	}
	if isNullTest != nil && setting(cat, "transform_null_equals") == "on" {
		return sqlerr.In(sqlerr.At(int(isNullTest.Position()), sqlerr.FeatureNotSupported,
			"= NULL is not supported in a loss while transform_null_equals is on").WithHint("Write IS NULL."), text)
	}
	return nil
}

// namesOf are the operators and functions that a node refers to by unqualified names.
func namesOf(t ast.Tree) []string {
	switch x := t.(type) {
	case *ast.Binary:
		if x.Schema == "" && x.Op != "and" && x.Op != "or" {
			return []string{x.Op}
		}
	case *ast.FuncCall: // others are looked up where they are bound
		if x.Schema == "" && (isAggregate(x) || x.Over != nil) {
			return []string{x.Name}
		}
	case *ast.Unary:
		if x.Schema == "" && x.Op != "not" {
			return []string{x.Op}
		}
	case *ast.In:
		return []string{"=", "<>"}
	case *ast.SubLink:
		return []string{x.Op}
	case *ast.AnyArray:
		return []string{x.Op}
	case *ast.Between:
		return []string{"<=", ">="}
	case *ast.IsDistinct, *ast.NullIf:
		return []string{"="}
	case *ast.Case:
		if x.Arg != nil {
			return []string{"="}
		}
	case *ast.JoinFrom:
		if x.Natural || len(x.Using) > 0 {
			return []string{"="}
		}
	}
	return nil
}

// standing gives an error the position of a tree in its text.
func standing(err error, at ast.Tree, text *ast.Text) error {
	if e, ok := err.(*sqlerr.Error); ok && e.Pos < 0 {
		out := *e
		out.Pos = int(at.Position())
		return sqlerr.In(&out, text)
	}
	return err
}

func isNullChunk(e ast.Expr) bool {
	c, ok := e.(*ast.Cast)
	return isNull(e) || ok && c.Type.Dims > 0 && isNullChunk(c.X)
}

func isNull(e ast.Expr) bool {
	l, ok := e.(*ast.Literal)
	return ok && l.Kind == ast.LitNull
}

// roundsTexts reports whether the server prints numbers with fewer digits than they have.
func roundsTexts(s *scope) bool {
	digits, err := strconv.Atoi(setting(s.b.cat, "extra_float_digits"))
	return err == nil && digits < 1
}

// refusePadded is the error of LIKE on a character(n).
func refusePadded(s *scope, b *ast.Binary) error {
	return s.f.fail(b, sqlerr.FeatureNotSupported,
		"LIKE of a character(n) is not supported in a loss: it sees the blanks that = does not").
		WithHint("x::text LIKE … sees none. It may stand in a sub-query that reads no parameter.")
}
