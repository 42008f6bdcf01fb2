package store

import (
	"slices"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/parse"
	"github.com/relgrad/relgrad/sqlfront/print"
	"github.com/relgrad/relgrad/store/bind"
	"github.com/relgrad/relgrad/store/columns"
	"github.com/relgrad/relgrad/store/definitions"
)

// addConstraints adds the constraints of a statement. As in Postgres, a UNIQUE over the columns of another key adds
// nothing, but names that key if it has no name.
func addConstraints(b *writer, t *catalog.TableDef, list []ast.TableConstraint) {
	primary := func(k ast.TableConstraint) int { return columns.Bit(k.Kind != "primary") }
	slices.SortStableFunc(list, func(x, y ast.TableConstraint) int { return primary(x) - primary(y) })
	isKey := func(k *ast.TableConstraint) bool { return k.Kind == "unique" || k.Kind == "primary" }
	var kept []*ast.TableConstraint
	for i := range list {
		k := &list[i]
		same := slices.IndexFunc(kept, func(o *ast.TableConstraint) bool {
			return k.Kind == "unique" && isKey(o) && slices.Equal(o.Cols, k.Cols)
		})
		if same < 0 {
			kept = append(kept, k)
		} else if kept[same].Name == "" {
			kept[same].Name = k.Name
		}
	}
	for _, k := range kept {
		addConstraint(b, t, k)
	}
}

func addConstraint(b *writer, t *catalog.TableDef, k *ast.TableConstraint) {
	for _, n := range k.Cols {
		columnOf(b, k.At, t, n)
	}
	switch k.Kind {
	case "check":
		t.Checks = append(t.Checks, checkConstraint(b, t, k))
	case "primary":
		if t.PK != nil {
			b.Fail(k.At, "42P16", "multiple primary keys for table \"%s\" are not allowed", t.Name)
		}
		t.PK = &catalog.Unique{Name: constraintName(b, t, k, "", "pkey"), Cols: k.Cols}
		for _, n := range k.Cols {
			c := &t.Cols[t.Column(n)]
			c.NotNull = true
			noChunk(b, k.At, t, n, "PRIMARY KEY")
		}
	case "unique":
		for _, n := range k.Cols {
			noChunk(b, k.At, t, n, "UNIQUE")
		}
		t.Uniques = append(t.Uniques, catalog.Unique{Name: constraintName(b, t, k, strings.Join(k.Cols, "_"), "key"),
			Cols: k.Cols})
	case "foreign":
		t.Foreign = append(t.Foreign, foreignKey(b, t, k))
	}
}

func foreignKey(b *writer, t *catalog.TableDef, k *ast.TableConstraint) catalog.Foreign {
	name := constraintName(b, t, k, strings.Join(k.Cols, "_"), "fkey")
	ref := referenced(b, k.At, t, k.RefTable)
	if ref.Temp != t.Temp {
		b.Fail(k.At, "42P16", "constraints on permanent tables may reference only permanent tables")
	}
	cols := k.RefCols
	if cols == nil && ref.PK != nil {
		cols = ref.PK.Cols
	}
	if !definitions.HasUnique(ref, cols) || len(cols) != len(k.Cols) {
		b.Fail(k.At, "42830", "there is no unique constraint matching given keys for referenced table \"%s\"", ref.Name)
	}
	for i, col := range k.Cols {
		from, to := t.Cols[t.Column(col)], ref.Cols[ref.Column(cols[i])]
		if !from.Type.Is(to.Type) && !(from.Type.IsInt() && to.Type.IsInt()) { // never equal in SQLite
			b.FailHint(k.At, sqlerr.DatatypeMismatch, "Give both columns one type.",
				"foreign key constraint \"%s\" cannot be implemented: key columns \"%s\" and \"%s\" are of types %s and %s", name,
				col, cols[i], from.Type, to.Type)
		}
	}
	return catalog.Foreign{Constraint: name, Cols: k.Cols, Schema: ref.Schema, Name: ref.Name, RefCols: cols}
}

// constraintName is the given name of a constraint, or one made of its table, columns and label.
func constraintName(b *writer, t *catalog.TableDef, k *ast.TableConstraint, cols, label string) string {
	if k.Name == "" {
		return freshName(b, t, cols, label)
	}
	index := k.Kind == "primary" || k.Kind == "unique"
	if index && (b.db.cat.Exists(definitions.Key{Schema: t.Schema, Name: k.Name}) ||
		slices.Contains(definitions.IndexNames(t), k.Name)) {
		b.Fail(k.At, sqlerr.DuplicateTable, "relation \"%s\" already exists", k.Name)
	}
	if slices.Contains(definitions.ConstraintNames(t), k.Name) {
		b.Fail(k.At, "42710", "constraint \"%s\" for relation \"%s\" already exists", k.Name, t.Name)
	}
	return k.Name
}

// freshName makes a name of an index or constraint: table_columns_label, with a number where the schema has that name
// (ChooseRelationName, ChooseConstraintName in PostgreSQL).
func freshName(b *writer, t *catalog.TableDef, cols, label string) string {
	used := map[string]bool{}
	note := func(t *catalog.TableDef) {
		for _, n := range append(definitions.IndexNames(t), definitions.ConstraintNames(t)...) {
			used[n] = true
		}
	}
	note(t)
	for k, o := range b.db.cat.Tables {
		if k.Schema == t.Schema {
			used[k.Name] = true
			note(o)
		}
	}
	for k := range b.db.cat.Views {
		used[k.Name] = used[k.Name] || k.Schema == t.Schema
	}
	out := definitions.ObjectName(t.Name, cols, label)
	for i := 1; used[out]; i++ {
		out = definitions.ObjectName(t.Name, cols, label+strconv.Itoa(i))
	}
	return out
}

func checkConstraint(b *writer, t *catalog.TableDef, k *ast.TableConstraint) catalog.Check {
	c := catalog.Check{SQL: checkSQL(b, t, k.Check), Source: print.Print(&ast.Select{Targets: []ast.Target{{X: k.Check}}})}
	ast.Walk(k.Check, func(n ast.Tree) bool {
		if r, ok := n.(*ast.ColumnRef); ok {
			if name := r.Names[len(r.Names)-1]; !slices.Contains(c.Cols, name) {
				c.Cols = append(c.Cols, name)
			}
		}
		if _, ok := n.(*ast.SubLink); ok {
			b.Fail(n.Position(), sqlerr.FeatureNotSupported, "cannot use subquery in check constraint")
		}
		return true
	})
	of := ""
	if len(c.Cols) == 1 {
		of = c.Cols[0]
	}
	c.Name = constraintName(b, t, k, of, "check")
	return c
}

// checkSQL prints the condition of a CHECK for SQLite.
func checkSQL(b *writer, t *catalog.TableDef, condition ast.Expr) string {
	b.Literal = true
	defer func() { b.Literal = false }()
	rel := plainRelation(b, t, t.Name, "")
	return bind.BindCondition(b.Binder, &bind.Scope{Relations: []*bind.Relation{rel}, Columns: rel.Columns,
		Level: &bind.Level{}}, condition, "CHECK constraints").SQL
}

// bindAgain binds a CHECK again after columns have changed their types or names; change rewrites its condition. It
// returns false where the CHECK's source is not known.
func bindAgain(b *writer, at ast.Pos, t *catalog.TableDef, c *catalog.Check, change func(ast.Expr) ast.Expr) bool {
	if c.Source == "" {
		return false
	}
	sel, err := parse.ParseSelect(&ast.Text{SQL: c.Source})
	b.Check(at, err)
	x := change(ast.Relocate(sel.Targets[0].X, at))
	c.SQL, c.Source = checkSQL(b, t, x), print.Print(&ast.Select{Targets: []ast.Target{{X: x}}})
	return true
}

func noChunk(b *writer, at ast.Pos, t *catalog.TableDef, col, what string) {
	if c := t.Cols[t.Column(col)]; c.Type.IsChunk() {
		b.Fail(at, sqlerr.DatatypeMismatch, "column \"%s\" of type %s cannot be part of a %s", col, c.Type, what)
	} else {
		indexable(b, at, c.Type)
	}
}

// indexable refuses a type whose values have no order.
func indexable(b *writer, at ast.Pos, t catalog.Type) {
	if t.Name == "json" {
		b.FailHint(at, sqlerr.UndefinedObject, "Use jsonb.",
			"data type %s has no default operator class for access method \"btree\"", t)
	}
}

// referenced finds the table to which a foreign key of t refers. t itself may not be stored yet.
func referenced(b *writer, at ast.Pos, t *catalog.TableDef, n ast.ObjectName) *catalog.TableDef {
	if n.Name == t.Name && (n.Schema == t.Schema || n.Schema == "" && t.Temp) {
		return t
	}
	if n.Name == t.Name && n.Schema == "" {
		for _, s := range b.Path {
			if s == t.Schema {
				return t
			}
			if b.db.cat.Tables[definitions.Key{Schema: s, Name: n.Name}] != nil {
				break
			}
		}
	}
	return targetTable(b, at, n.Schema, n.Name)
}
