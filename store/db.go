package store

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/store/bind"
	"github.com/relgrad/relgrad/store/definitions"
	"github.com/relgrad/relgrad/store/functions"
	"github.com/relgrad/relgrad/store/lite"
)

// DB is a session on one store. It is used by one goroutine at a time.
type DB struct {
	// OnUse, unless nil, is called before a statement or the engine reads or writes a table's content, with the table's
	// schema and name. It may write the table (WriteColumn).
	OnUse func(schema, name string) error

	*connection
	*settings
	*catalogue
	*transactions
	results results

	longestRecord int        // of COPY, in bytes
	run           *statement // what the running statement's functions refer to
	intr          bind.Intrinsics
	trained       func(run int64) (bool, error) // see SetTrained
}

// Open opens the store in a file, creating it where there is none. A file without write permission is
// opened for reading.
func Open(path string) (*DB, error) {
	readonly := false
	if st, err := os.Stat(path); err == nil {
		if st.IsDir() {
			return nil, sqlerr.New(sqlerr.UndefinedFile, "could not open %s: it is a directory", path)
		}
		if f, err := os.OpenFile(path, os.O_RDWR, 0); err != nil {
			readonly = true
		} else {
			f.Close()
		}
	} else if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return nil, sqlerr.New(sqlerr.UndefinedFile, "could not open %s: no such directory", path)
	}
	return open(path, readonly)
}

// OpenReadOnly opens the store in a file for reading only.
func OpenReadOnly(path string) (*DB, error) {
	if st, err := os.Stat(path); err != nil {
		return nil, sqlerr.New(sqlerr.UndefinedFile, "could not open store %s", path).Wrap(err)
	} else if st.IsDir() {
		return nil, sqlerr.New(sqlerr.UndefinedFile, "could not open %s: it is a directory", path)
	}
	return open(path, true)
}

// OpenTemp opens an empty store that vanishes when it is closed. It lives in memory and spills to a temporary file.
func OpenTemp() (*DB, error) { return open("", false) }

func open(path string, readonly bool) (*DB, error) {
	conn := &connection{path: path, readonly: readonly}
	set := &settings{values: map[string]string{}}
	cat := &catalogue{connection: conn, settings: set, trees: map[*catalog.ViewDef]*viewTree{}}
	db := &DB{longestRecord: longestRecord, connection: conn, settings: set, catalogue: cat,
		transactions: &transactions{catalogue: cat, versions: map[definitions.Key]catalog.Version{}}}
	c, err := lite.Open(path, readonly)
	if err != nil {
		return nil, db.translate(err)
	}
	db.c = c
	if err := setup(db); err != nil {
		c.Close()
		return nil, db.translate(err)
	}
	return db, nil
}

// setup sets the connection up; see notes/embedded.md for the numbers: 64 KB pages, a cache of 64 MB, no mmap.
func setup(db *DB) error {
	db.c.BusyTimeout(int(lockTimeout.Milliseconds()))
	id, err := db.application()
	if err == nil && id != applicationID {
		err = db.foreign() // before settings change the file
	}
	if err != nil {
		return err
	}
	db.cacheKB = 64 << 10
	pragmas := cacheSize(db.cacheKB) + "PRAGMA mmap_size = 0; PRAGMA foreign_keys = ON; PRAGMA trusted_schema = ON;"
	switch {
	case db.path == "":
		pragmas = "PRAGMA page_size = 65536; PRAGMA synchronous = OFF;" + pragmas
	case !db.readonly:
		pragmas = "PRAGMA page_size = 65536; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;" + pragmas
	}
	if err := db.execPatiently(pragmas); err != nil {
		return err
	}
	if err := errors.Join(functions.Register(db.c), registerSession(db)); err != nil {
		return err
	}
	if id != applicationID {
		if err := db.create(); err != nil {
			return err
		}
	}
	if err := db.rows("PRAGMA data_version", func(r row) error { db.dataVersion = r[0].Int(); return nil }); err != nil {
		return err
	}
	return db.load()
}

// Close ends the session; an open transaction is rolled back.
func (db *DB) Close() error {
	if db.c == nil {
		return nil
	}
	err := db.c.Close()
	db.c = nil
	db.results.spare.Free()
	return err
}

// SetTrained sets the function that tells whether a session trains a run now. A run whose status is running but which
// nobody trains shows as interrupted in relgrad.run: its process died before it could record that.
func (db *DB) SetTrained(trained func(run int64) (bool, error)) { db.trained = trained }

// SetIntrinsics installs the engine's functions.
func (db *DB) SetIntrinsics(x bind.Intrinsics) { db.intr = x }

// use announces that a table's content is read or written.
func (db *DB) use(t *catalog.TableDef) error {
	if db.OnUse == nil {
		return nil
	}
	return db.OnUse(t.Schema, t.Name)
}

// rescue, deferred at the package's border, turns a panic into an error whose text is text.
func (db *DB) rescue(text *ast.Text, err *error) {
	if p := recover(); p != nil {
		*err = errors.Join(sqlerr.In(bind.BindError(p), text), db.Recovered())
	}
}

// Recovered restores the session after a panic as after a failed statement: inside BEGIN the transaction is aborted,
// else the statement is rolled back.
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
