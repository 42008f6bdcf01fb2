package engine

import (
	"context"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/print"
)

// putGrad fills the temporary table of a gradient and creates it if it does not exist. A relation of that name not made
// by backward() is an error.
func putGrad(ctx context.Context, db catalog.Rows, t *ra.Table, r *catalog.Relation) error {
	var key []string
	for _, k := range t.Key {
		key = append(key, t.Cols[k].Name)
	}
	ok, err := db.Fill(ctx, gradName(t), r, key)
	if err == nil && !ok {
		return errGradName(t)
	}
	return err
}

func errGradName(t *ra.Table) error {
	return sqlerr.New(sqlerr.DuplicateTable, "backward would fill %q, but a relation of that name exists", gradName(t)).
		WithHint("Rename or drop it.")
}

// gradName is the name of a gradient's table. A name that is too long is not cut (distinctGrads refuses it): the rest
// might be the name of another gradient's table, which would be overwritten.
func gradName(t *ra.Table) string { return t.Name + "_grad" }

// longestName is how many bytes of a name a server keeps.
const longestName = 63

// distinctGrads refuses parameters of the same name in two schemas, whose gradients would share a table, and names so
// long that the ending is cut off, which would leave the parameter's own name.
func (c *Compiled) distinctGrads() error {
	for i, t := range c.Tables {
		if n := len(gradName(t)); n > longestName {
			return About(sqlerr.New("42622", "backward would fill %q, a name of %d bytes, which is longer than %d", gradName(t),
				n, longestName).
				WithHint("Rename the table, or SELECT * FROM gradient('loss', NULL::%s).", print.QualifiedName("", t.Name)),
				"params", i)
		}
		for k, u := range c.Tables[:i] {
			if gradName(t) == gradName(u) && (t.Name != u.Name || t.Schema != u.Schema) {
				return About(sqlerr.New(sqlerr.DuplicateTable, "backward would fill %q with the gradients of both %s and %s",
					gradName(t), c.Params[k], c.Params[i]).
					WithHint("Call backward for each of them, or gradient('loss', NULL::%s); or rename a table.",
						print.QualifiedName(t.Schema, t.Name)), "params", i)
			}
		}
	}
	return nil
}

// ResultOf makes a statement's result of a relation, for printing.
func ResultOf(r *catalog.Relation) *catalog.Result {
	out := &catalog.Result{HasRows: true}
	n := 0
	for i, name := range r.Names {
		out.Cols = append(out.Cols, catalog.ResultCol{Name: name, Type: r.Types[i]})
		n = r.Cols[i].Len()
	}
	for row := range n {
		values := lists.Map(r.Cols, func(v *column.Column) any { return catalog.Value(v, row) })
		out.Rows = append(out.Rows, values)
	}
	return out
}
