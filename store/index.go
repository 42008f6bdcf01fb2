package store

import (
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

func createIndex(b *binder, s *ast.CreateIndex) (*catalog.Result, error) {
	t := tableOf(b, s.At, s.Table.Schema, s.Table.Name)
	refuseInTransaction(b, s.At, s.Outside, "CREATE INDEX CONCURRENTLY")
	x := catalog.Index{Name: s.Name, Unique: s.Unique}
	rel := plainRelation(b, t, t.Name, "")
	sc := &scope{rels: []*relation{rel}, cols: rel.cols, level: &level{inAgg: true, clause: "index expressions"}}
	b.literal = true
	var keys []string
	volatile := b.volatile
	immutable := func(e ast.Expr, what string) {
		if b.volatile > volatile {
			b.fail(e.Position(), "42P17", "functions in index %s must be marked IMMUTABLE", what)
		}
	}
	for _, k := range s.Keys {
		noSubQuery(b, k.X, "index expression")
		v := b.expr(sc, k.X)
		immutable(k.X, "expression")
		if v.typ.Array {
			b.fail(s.At, sqlerr.DatatypeMismatch, "cannot index an array (%s)", v.typ)
		}
		indexable(b, s.At, v.typ)
		text := v.collate()
		if k.Desc {
			text += " DESC"
		}
		keys = append(keys, text)
		if r, ok := k.X.(*ast.ColumnRef); ok {
			x.Cols = append(x.Cols, r.Names[len(r.Names)-1])
		}
	}
	if len(x.Cols) < len(keys) {
		x.Cols = nil
	}
	x.Keys = strings.Join(keys, ", ")
	if s.Where != nil {
		noSubQuery(b, s.Where, "index predicate")
		x.Where = bindCondition(b, sc, s.Where, "index predicates").sql
		immutable(s.Where, "predicate")
	}
	b.literal = false
	if x.Name == "" {
		x.Name = freshName(b, t, orName(strings.Join(x.Cols, "_"), "expr"), "idx")
	} else if b.db.cat.relationThere(objectKey{t.Schema, x.Name}) {
		if s.IfNotExists {
			return skipped(b, "CREATE INDEX", s.Name)
		}
		b.fail(s.At, sqlerr.DuplicateTable, "relation \"%s\" already exists", x.Name)
	}
	n := t.Clone()
	n.Indexes = append(n.Indexes, x)
	if err := b.db.exec(indexSQL(n, x)); err != nil {
		return nil, notUnique(err, n, x.Name)
	}
	b.db.bump(keyOf(t), true)
	return &catalog.Result{Tag: "CREATE INDEX"}, b.db.putTable(keyOf(t), n)
}

// indexName is the name of an index that SQLite knows by another one.
func (c *definitions) indexName(phys string) string {
	for _, t := range c.tables {
		for _, x := range t.Indexes {
			if physical(t.Schema, x.Name)+"^i" == phys {
				return x.Name
			}
		}
	}
	return strings.TrimSuffix(phys, "^i")
}

func indexSQL(t *catalog.TableDef, x catalog.Index) string {
	unique := ""
	if x.Unique {
		unique = "UNIQUE "
	}
	name := dbOf(t) + "." + sqltext.Ident(physical(t.Schema, x.Name)+"^i")
	sql := "CREATE " + unique + "INDEX " + name + " ON " + sqltext.Ident(physOf(t)) + " (" + x.Keys + ")"
	if x.Where != "" {
		sql += " WHERE " + x.Where
	}
	return sql
}
