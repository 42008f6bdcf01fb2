package relgrad

import (
	"context"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront"
	"github.com/relgrad/relgrad/store"
)

// putGrad fills the temporary table of a gradient, making it where it is not there yet. A relation of that
// name that backward() did not make is an error.
func (db *DB) putGrad(ctx context.Context, name string, r *store.Relation, key []string) error {
	def := db.Definition("", name)
	_, isView := db.DB.View(nil, "", name)
	if isView || def != nil && !(def.Temp && db.grads[name]) {
		return sqlerr.New(sqlerr.DuplicateTable, "backward would fill %q, but a relation of that name exists", name).
			WithHint("Rename or drop it.")
	}
	if def != nil && !sameColumns(def, r) {
		if _, err := db.DB.Exec(ctx, &sqlfront.Drop{Kind: "table", Names: []string{name}}, &sqlfront.Text{}); err != nil {
			return err
		}
		def = nil
	}
	if def == nil {
		create := &sqlfront.CreateTable{Name: name, Temp: true}
		for i, n := range r.Names {
			t, err := sqlfront.ParseExpr(&sqlfront.Text{SQL: "NULL::" + r.Types[i]})
			if err != nil {
				return err
			}
			create.Cols = append(create.Cols, sqlfront.ColumnDef{Name: n, Type: t.(*sqlfront.Cast).Type})
		}
		if len(key) > 0 {
			create.Constraints = []sqlfront.TableConstraint{{Kind: "primary", Cols: key}}
		}
		if _, err := db.DB.Exec(ctx, create, &sqlfront.Text{}); err != nil {
			return err
		}
		db.grads[name] = true
	}
	return db.Refill(ctx, name, r)
}

func sameColumns(def *store.TableDef, r *store.Relation) bool {
	if len(def.Cols) != len(r.Names) {
		return false
	}
	for i, c := range def.Cols {
		if c.Name != r.Names[i] {
			return false
		}
	}
	return true
}

// ResultOf turns a relation into a statement's result, for printing.
func ResultOf(r *store.Relation) *store.Result {
	out := &store.Result{HasRows: true}
	n := 0
	for i, name := range r.Names {
		out.Cols = append(out.Cols, store.ResultCol{Name: name, Type: r.Types[i]})
		n = r.Cols[i].N
	}
	for row := range n {
		values := make([]any, len(r.Cols))
		for i, v := range r.Cols {
			values[i] = store.GoValue(v, row)
		}
		out.Rows = append(out.Rows, values)
	}
	return out
}
