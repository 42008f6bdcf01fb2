package store

import (
	"context"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/store/bind"
	"github.com/relgrad/relgrad/store/definitions"
)

// writer binds and runs one statement.
type writer struct {
	*bind.Binder
	db   *DB
	take *taker  // receives the rows of RETURNING; nil: the result does
	plan *string // for EXPLAIN: receives the printed statement, which is not run
}

func newWriter(ctx context.Context, db *DB, text *ast.Text) *writer {
	return &writer{Binder: bind.New(ctx, binding{db}, text), db: db}
}

// binding is a session in the role of bind.Session.
type binding struct{ db *DB }

func (s binding) Definitions() *definitions.Set { return s.db.cat }

func (s binding) SearchPath() []string { return s.db.searchPath() }

func (s binding) Tree(v *catalog.ViewDef) (*ast.Select, *ast.Text, error) { return s.db.viewTree(v) }

func (s binding) Use(t *catalog.TableDef) error { return s.db.use(t) }

func (s binding) Intrinsics() bind.Intrinsics { return s.db.intr }

func (s binding) PutResult(r *catalog.Relation) (*catalog.TableDef, error) { return putResult(s.db, r) }

func (s binding) GiveResult(t *catalog.TableDef) { giveResult(s.db, t) }

func (s binding) Objects() (*catalog.Objects, error) { return s.db.Objects() }

func (s binding) ShowsRuns() bool { return s.db.trained != nil }

// statement is the state that functions need while a statement runs.
type statement struct {
	*bind.Writes
	outer    *statement
	proposed map[string]bool // keys of the rows of INSERT … ON CONFLICT DO UPDATE
}
