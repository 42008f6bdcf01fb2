package store

import (
	"errors"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// rescue, deferred at the package's border, turns a panic into an error whose text is text.
func (db *DB) rescue(text *ast.Text, err *error) {
	if p := recover(); p != nil {
		*err = errors.Join(sqlerr.In(bindError(p), text), db.Recovered())
	}
}

// Recovered makes the session one whose statement failed, after a panic that has left no time for it: inside BEGIN the
// transaction is aborted, else what the statement began is rolled back.
func (db *DB) Recovered() error {
	db.run = nil
	switch {
	case db.c == nil:
		return nil
	case db.explicit:
		db.failed = true
		return nil
	case !db.c.InTransaction():
		return nil
	}
	err := db.translate(db.c.Exec("ROLLBACK"))
	db.forget()
	return errors.Join(err, db.translate(db.load()))
}
