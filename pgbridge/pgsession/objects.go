package pgsession

import (
	"context"
	"encoding/json"
	"time"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// patience is how long a query for completion may take.
const patience = 3 * time.Second

// named is an object with its columns' names.
type named struct {
	Schema, Name string
	Cols         []string
	Procedure    bool
}

// Objects implements psql.Server. It lists all but the system's own objects, and nothing in a failed transaction. Views
// and tables have their columns' names only, without types.
func (s *Session) Objects() (*catalog.Objects, error) {
	if s.Failed() {
		return nil, sqlerr.New(sqlerr.FailedTransaction, "the transaction has failed")
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	const own = `n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_toast' AND n.nspname !~ ` +
		`'^pg_temp_'`
	relations := func(kinds string) string {
		return `(SELECT coalesce(json_agg(json_build_object('Schema', CASE WHEN c.relpersistence = 't' THEN 'pg_temp'
		  ELSE n.nspname END, 'Name', c.relname, 'Cols',
 ARRAY(SELECT a.attname FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
   ORDER BY a.attnum))), '[]')
 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN (` + kinds + `)
 AND (` + own + ` OR n.oid = pg_catalog.pg_my_temp_schema()))`
	}
	res, err := s.query(ctx, `SELECT `+relations(`'r', 'p', 'f'`)+`, `+relations(`'v', 'm'`)+`,
 (SELECT coalesce(json_agg(DISTINCT jsonb_build_object('Schema', n.nspname, 'Name', p.proname, 'Procedure',
   p.prokind = 'p')), '[]') FROM pg_catalog.pg_proc p
 JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace WHERE `+own+` AND p.proname !~ '^gen_'),
 (SELECT json_agg(n.nspname ORDER BY 1) FROM pg_catalog.pg_namespace n WHERE n.nspname !~ '^pg_(toast|temp)')`)
	if err != nil {
		return nil, err
	}
	var tables, views, functions []named
	o := &catalog.Objects{}
	for i, into := range []any{&tables, &views, &functions, &o.Schemas} {
		if err := json.Unmarshal([]byte(text(res.Rows[0][i])), into); err != nil {
			return nil, sqlerr.New(sqlerr.Internal, "the names in the server's catalogue cannot be read: %v", err).Wrap(err)
		}
	}
	for _, t := range tables {
		def := &catalog.TableDef{Schema: t.Schema, Name: t.Name}
		for _, c := range t.Cols {
			def.Cols = append(def.Cols, catalog.Column{Name: c})
		}
		o.Tables = append(o.Tables, def)
	}
	for _, v := range views {
		def := &catalog.ViewDef{Schema: v.Schema, Name: v.Name}
		for _, c := range v.Cols {
			def.Cols = append(def.Cols, catalog.ViewColumn{Name: c})
		}
		o.Views = append(o.Views, def)
	}
	for _, f := range functions {
		o.Functions = append(o.Functions,
			catalog.Function{Schema: f.Schema, CreateFunction: &ast.CreateFunction{Name: f.Name, Procedure: f.Procedure}})
	}
	return o, nil
}

// SearchPath implements psql.Server.
func (s *Session) SearchPath() []string {
	if s.Failed() || s.Lost() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var path []string
	if res, err := s.query(ctx, "SELECT pg_catalog.array_to_json(pg_catalog.current_schemas(false))"); err == nil {
		_ = json.Unmarshal([]byte(text(res.Rows[0][0])), &path) // on an error no name is completed
	}
	return path
}
