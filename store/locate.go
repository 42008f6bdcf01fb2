package store

import (
	"errors"
	"regexp"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

var (
	operatorShapes = regexp.MustCompile(`^different shapes (\[[0-9,]*\]) ([-+*/^]) (\[[0-9,]*\])$`)
	kernelShapes   = regexp.MustCompile(`^different shapes (\[[0-9,]*\]) and (\[[0-9,]*\]) in ([a-z_]+)`)
)

// locate gives an error about shapes that a running statement met its place, and names the columns, where the
// statement holds one operator or call that can have raised it. Statements over views are left alone: the
// operator may be theirs.
func locate(db *DB, err error, st ast.Statement) error {
	var e *sqlerr.Error
	if !errors.As(err, &e) || e.Code != sqlerr.ArraySubscript || e.Pos >= 0 || e.Text != nil {
		return err
	}
	var name, l, r string
	if m := operatorShapes.FindStringSubmatch(e.Message); m != nil {
		name, l, r = m[2], m[1], m[3]
	} else if m := kernelShapes.FindStringSubmatch(e.Message); m != nil {
		name, l, r = m[3], m[1], m[2]
	} else {
		return err
	}
	var found []ast.Tree
	var args []ast.Expr
	plain := true
	ast.Walk(st, func(t ast.Tree) bool {
		switch x := t.(type) {
		case *ast.TableRef:
			_, view := db.View(nil, x.Schema, x.Name)
			plain = plain && !view
		case *ast.Binary:
			if x.Op == name {
				found, args = append(found, x), []ast.Expr{x.L, x.R}
			}
		case *ast.FuncCall:
			if x.Name == name && len(x.Args) == 2 {
				found, args = append(found, x), x.Args
			}
		}
		return true
	})
	if !plain || len(found) != 1 {
		return err
	}
	e.Pos = int(found[0].Position())
	a, isCol := args[0].(*ast.ColumnRef)
	b, isToo := args[1].(*ast.ColumnRef)
	if isCol && isToo && e.Detail == "" {
		e.Detail = strings.Join(a.Names, ".") + " has shape " + l + ", " + strings.Join(b.Names, ".") + " has shape " + r +
			"."
	}
	return err
}
