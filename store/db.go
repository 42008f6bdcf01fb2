package store

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/store/lite"
	"github.com/relgrad/relgrad/tensor"
)

// DB is a session on one store. It is used by one goroutine at a time.
type DB struct {
	// OnUse, where it is set, is called before a statement or the engine looks at or writes a table's content, with the
	// table's schema and name. It may write the table (WriteColumn).
	OnUse func(schema, name string) error

	c        *lite.Conn
	path     string // "" for a temporary store
	readonly bool
	cat      *definitions
	settings map[string]string // SET; copied on change
	local    map[string]string // SET LOCAL, gone at the end of the transaction

	explicit bool // between BEGIN and COMMIT
	failed   bool // a statement of the transaction failed
	began    snapshot
	saves    []savepoint

	run     *statement // what the running statement's functions refer to
	intr    Intrinsics
	trained func(run int64) (bool, error) // see SetTrained

	epoch       uint64 // counts changes whose table is unknown: those of other processes
	versions    map[objectKey]catalog.Version
	touched     map[objectKey]bool // written since BEGIN
	dataVersion int64
	started     time.Time                      // see now
	held        map[*catalog.TableDef]*held    // what results have beside their tables
	pool        map[string][]*catalog.TableDef // free tables for results of table functions, by column types
	temps       int                            // tables made for the pool
	trees       map[*catalog.ViewDef]*viewTree
	cacheKB     int64          // the size of SQLite's cache
	spare       *tensor.Buffer // of held
	scanning    bool           // it is smaller, for a table that is read past it
}

// snapshot is the in-memory state that a rollback restores.
type snapshot struct {
	cat             *definitions
	settings, local map[string]string
}

type savepoint struct {
	name string
	snapshot
}

// Open opens the store in a file, creating it where there is none. A file without write permission is
// opened for reading.
func Open(path string) (*DB, error) {
	readonly := false
	if st, err := os.Stat(path); err == nil {
		if st.IsDir() {
			return nil, sqlerr.New(sqlerr.UndefinedFile, "could not open %s: it is a directory", path)
		}
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			readonly = true
		} else {
			f.Close()
		}
	} else if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return nil, sqlerr.New(sqlerr.UndefinedFile, "could not open %s: no such directory", path)
	}
	return open(path, readonly)
}

// OpenTemp opens an empty store that vanishes when it is closed. It lives in memory and spills to a
// temporary file.
func OpenTemp() (*DB, error) { return open("", false) }

func open(path string, readonly bool) (*DB, error) {
	db := &DB{path: path, readonly: readonly, settings: map[string]string{}, versions: map[objectKey]catalog.Version{}, trees: map[*catalog.ViewDef]*viewTree{}}
	c, err := lite.Open(path, readonly)
	if err != nil {
		return nil, db.translate(err)
	}
	db.c = c
	if err := db.setup(); err != nil {
		c.Close()
		return nil, db.translate(err)
	}
	return db, nil
}

// setup sets the connection up; see notes/embedded.md for the numbers: 64 KB pages, a cache of 64 MB, no mmap.
func (db *DB) setup() error {
	db.c.BusyTimeout(int(lockTimeout.Milliseconds()))
	id, err := db.application()
	if err == nil && id != applicationID {
		err = db.foreign() // before anything is set, which would change the file
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
	if err := errors.Join(register(db.c), db.registerSession()); err != nil {
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

// execPatiently waits for other processes where SQLite does not: while one of them turns a new file's log on.
func (db *DB) execPatiently(sql string) error {
	for end := time.Now().Add(lockTimeout); ; time.Sleep(5 * time.Millisecond) {
		err := db.c.Exec(sql)
		var failed *lite.Error
		if !errors.As(err, &failed) || failed.Primary() != lite.CodeBusy || time.Now().After(end) {
			return err
		}
	}
}

// application returns the file's application id, 0 where it has none.
func (db *DB) application() (id int64, err error) {
	err = db.rows("PRAGMA application_id", func(r row) error { id = r[0].Int(); return nil })
	return id, err
}

// create makes the catalogue of a new file in a transaction of its own.
func (db *DB) create() error {
	begin := "BEGIN IMMEDIATE"
	if db.readonly {
		begin = "BEGIN"
	}
	if err := db.c.Exec(begin); err != nil {
		return err
	}
	if err := db.makeCatalog(); err != nil {
		_ = db.c.Exec("ROLLBACK")
		return err
	}
	return db.c.Exec("COMMIT")
}

// makeCatalog makes the catalogue in a file without tables. Another process may have made it since this one looked:
// then nothing is written, as that would end the other's transactions.
func (db *DB) makeCatalog() error {
	id, err := db.application()
	if err != nil || id == applicationID {
		return err
	}
	if err := db.foreign(); err != nil {
		return err
	}
	return db.c.Exec(catalogSchema)
}

// foreign is an error where a file without our id cannot become a store: it has tables, or cannot be written. Another
// process may just have made it one.
func (db *DB) foreign() error {
	tables := int64(0)
	if err := db.rows("SELECT count(*) FROM sqlite_schema", func(r row) error { tables = r[0].Int(); return nil }); err != nil || tables == 0 && !db.readonly {
		return err
	}
	if id, err := db.application(); err != nil || id == applicationID {
		return err
	}
	return sqlerr.New(sqlerr.WrongObjectType, "%s is an SQLite file, but not a relgrad store", db.path)
}

// Close ends the session; an open transaction is rolled back.
func (db *DB) Close() error {
	if db.c == nil {
		return nil
	}
	err := db.c.Close()
	db.c = nil
	db.spare.Free()
	return err
}

// Path returns the file's name, "" for a temporary store.
func (db *DB) Path() string { return db.path }

// SetTrained tells how to ask whether a session trains a run now. The status of a run in relgrad.run that says running,
// and that nobody trains, is then read as interrupted: its process could not note it.
func (db *DB) SetTrained(trained func(run int64) (bool, error)) { db.trained = trained }

// SetIntrinsics installs the engine's functions.
func (db *DB) SetIntrinsics(x Intrinsics) { db.intr = x }

type row []lite.Cell

func (r row) text(i int) string { return r[i].String() }

func (db *DB) rows(sql string, f func(row) error, args ...any) error {
	return db.c.Query(sql, args, func(c []lite.Cell) error { return f(c) })
}

func (db *DB) exec(sql string, args ...any) error {
	return db.c.Query(sql, args, func([]lite.Cell) error { return nil })
}

// watch interrupts the connection when ctx ends, or has ended; the result stops watching.
func (db *DB) watch(ctx context.Context) (stop func()) {
	db.restoreCache()
	if ctx.Done() == nil {
		return func() {}
	}
	conn, done := db.c, make(chan struct{})
	if ctx.Err() != nil { // now, for a later interrupt would reach the cursor that this call is beside
		conn.Interrupt()
		return conn.Resume
	}
	end := context.AfterFunc(ctx, func() {
		defer close(done)
		conn.Interrupt()
	})
	return func() {
		if !end() { // what comes next is not cancelled
			<-done
			conn.Resume()
		}
	}
}

func (db *DB) snapshot() snapshot { return snapshot{db.cat, db.settings, db.local} }

func (db *DB) restore(s snapshot) { db.cat, db.settings, db.local = s.cat, s.settings, s.local }

// InTransaction reports whether BEGIN has been run without COMMIT or ROLLBACK.
func (db *DB) InTransaction() bool { return db.explicit }

// InOne reports whether what is read now is of one state of the store: inside BEGIN, and for a statement that has
// begun.
func (db *DB) InOne() bool { return db.explicit || db.c.InTransaction() }

// Begin starts a transaction.
func (db *DB) Begin() error { return db.beginExplicit("BEGIN") }

// BeginWrite starts a transaction that writes: it waits until no other process has one, and none can change the store
// before it ends.
func (db *DB) BeginWrite() error { return db.beginExplicit("BEGIN IMMEDIATE") }

func (db *DB) beginExplicit(how string) error {
	if db.explicit {
		return sqlerr.New(sqlerr.ActiveTransaction, "there is already a transaction in progress")
	}
	if err := db.begin(how); err != nil {
		return err
	}
	db.explicit, db.failed, db.began, db.touched = true, false, db.snapshot(), map[objectKey]bool{}
	db.started = time.Now()
	return nil
}

// Commit ends the transaction; one in which a statement failed is rolled back, and false is returned.
func (db *DB) Commit() (bool, error) {
	if !db.explicit {
		return false, sqlerr.New(sqlerr.NoTransaction, "there is no transaction in progress")
	}
	if db.failed {
		return false, db.Rollback()
	}
	if err := db.c.Exec("COMMIT"); err != nil {
		err = db.translate(err)
		db.Rollback()
		return false, err
	}
	db.explicit, db.saves, db.local = false, nil, nil
	return true, nil
}

// Rollback undoes the transaction.
func (db *DB) Rollback() error {
	if !db.explicit {
		return sqlerr.New(sqlerr.NoTransaction, "there is no transaction in progress")
	}
	var err error
	if db.c.InTransaction() { // SQLite may have rolled back by itself (disk full, input/output error)
		err = db.translate(db.c.Exec("ROLLBACK"))
	}
	db.restore(db.began)
	db.forget()
	db.explicit, db.failed, db.saves, db.local = false, false, nil, nil
	return err
}

// forget bumps the versions of all tables written in the transaction: their content is another one again.
func (db *DB) forget() {
	for k := range db.touched {
		v := db.versions[k]
		db.versions[k] = catalog.Version{Keys: v.Keys + 1, Values: v.Values + 1}
	}
	db.pool = nil // their tables may be gone
}

// Abort makes an open transaction one in which a statement failed, as an error of the engine does.
func (db *DB) Abort() { db.failed = db.failed || db.explicit }

// ReadOnly reports whether the store was opened for reading only.
func (db *DB) ReadOnly() bool { return db.readonly }

// use tells that a table's content is looked at.
func (db *DB) use(t *catalog.TableDef) error {
	if db.OnUse == nil {
		return nil
	}
	return db.OnUse(t.Schema, t.Name)
}

// Savepoint marks a point that RollbackTo returns to.
func (db *DB) Savepoint(name string) error {
	if !db.explicit {
		return sqlerr.New(sqlerr.NoTransaction, "SAVEPOINT can only be used in transaction blocks")
	}
	if db.failed {
		return errFailed()
	}
	if err := db.c.Exec("SAVEPOINT " + ident("s "+name)); err != nil {
		return db.translate(err)
	}
	db.saves = append(db.saves, savepoint{name, db.snapshot()})
	return nil
}

func (db *DB) findSave(name string) (int, error) {
	for i := len(db.saves) - 1; i >= 0; i-- {
		if db.saves[i].name == name {
			return i, nil
		}
	}
	return 0, sqlerr.New("3B001", "savepoint \"%s\" does not exist", name)
}

// Release forgets a savepoint and keeps what was done since.
func (db *DB) Release(name string) error {
	i, err := db.findSave(name)
	if err != nil {
		return err
	}
	if db.failed {
		return errFailed()
	}
	if err := db.c.Exec("RELEASE " + ident("s "+name)); err != nil {
		return db.translate(err)
	}
	db.saves = db.saves[:i]
	return nil
}

// RollbackTo undoes what was done since the savepoint, which stays; a failed transaction works again.
func (db *DB) RollbackTo(name string) error {
	i, err := db.findSave(name)
	if err != nil {
		return err
	}
	if err := db.c.Exec("ROLLBACK TO " + ident("s "+name)); err != nil {
		return db.translate(err)
	}
	db.restore(db.saves[i].snapshot)
	db.forget()
	db.saves, db.failed = db.saves[:i+1], false
	return nil
}

func errFailed() error {
	return sqlerr.New(sqlerr.FailedTransaction, "current transaction is aborted, commands ignored until end of transaction block")
}

// Foreign counts how often this session has noticed that other processes have committed: where it stays the same
// until a transaction has begun, nothing has changed.
func (db *DB) Foreign() uint64 { return db.epoch }

// refresh notices commits of other processes.
func (db *DB) refresh() error {
	if db.explicit || db.path == "" {
		return nil
	}
	v := int64(0)
	if err := db.rows("PRAGMA data_version", func(r row) error { v = r[0].Int(); return nil }); err != nil {
		return db.translate(err)
	}
	if v != db.dataVersion {
		db.epoch++
		if err := db.load(); err != nil {
			return db.translate(err)
		}
	}
	db.dataVersion = v
	return nil
}

// begin starts a transaction and learns of what other processes have changed until then: the catalogue is that of
// the transaction.
func (db *DB) begin(how string) error {
	if err := db.c.Exec(how); err != nil {
		return db.translate(err)
	}
	if err := db.refresh(); err != nil {
		return errors.Join(err, db.translate(db.c.Exec("ROLLBACK")))
	}
	return nil
}

// atomically runs f so that an error leaves the store as it was. write takes the write lock first.
func (db *DB) atomically(write bool, f func() error) (err error) {
	begin, commit, undo := "BEGIN", "COMMIT", "ROLLBACK"
	if write {
		begin = "BEGIN IMMEDIATE"
	}
	if db.explicit || db.c.InTransaction() { // the second: the engine works for a statement that has begun
		begin, commit, undo = "SAVEPOINT relgrad_statement", "RELEASE relgrad_statement", "ROLLBACK TO relgrad_statement; RELEASE relgrad_statement"
		err = db.translate(db.c.Exec(begin))
	} else {
		db.touched, db.started = map[objectKey]bool{}, time.Now()
		err = db.begin(begin)
	}
	if err != nil {
		return err
	}
	before := db.snapshot()
	defer func() {
		if p := recover(); p != nil {
			err = bindError(p)
		}
		if err == nil {
			err = db.c.Exec(commit)
		}
		if err == nil {
			return
		}
		err = db.translate(err)
		db.restore(before)
		db.forget()
		if db.c.InTransaction() {
			if e := db.c.Exec(undo); e != nil {
				err = errors.Join(err, db.translate(e))
			}
		}
	}()
	return f()
}

// searchPath returns the search path without pg_temp.
func (db *DB) searchPath() []string {
	v, ok := db.setting("search_path")
	if !ok {
		return []string{"public"}
	}
	var out []string
	for _, s := range strings.Split(v, ",") {
		if s = strings.Trim(strings.TrimSpace(s), `"`); s != "" && s != "pg_temp" && s != "$user" && s != "pg_catalog" {
			out = append(out, s)
		}
	}
	return out
}

// setting reads a configuration parameter.
func (db *DB) setting(name string) (string, bool) {
	name = strings.ToLower(name)
	if v, ok := db.local[name]; ok {
		return v, true
	}
	v, ok := db.settings[name]
	return v, ok
}

// defaults are the values of parameters that programs ask for without setting them.
var defaults = map[string]string{
	"search_path": `"$user", public`, "server_version": "16.0 (relgrad embedded store)", "server_version_num": "160000", "server_encoding": "UTF8",
	"client_encoding": "UTF8", "standard_conforming_strings": "on", "timezone": "UTC", "datestyle": "ISO, MDY", "statement_timeout": "0", "lock_timeout": "5s",
	"client_min_messages": "notice", "extra_float_digits": "1", "transaction_isolation": "serializable", "work_mem": "64MB", "is_superuser": "on",
}

// Setting returns a configuration parameter with its default; false for an unknown one.
func (db *DB) Setting(name string) (string, bool) {
	if v, ok := db.setting(name); ok {
		return v, true
	}
	v, ok := defaults[strings.ToLower(name)]
	return v, ok
}

// Set sets a configuration parameter; local ones end with the transaction.
func (db *DB) Set(name, value string, local bool) {
	m := &db.settings
	if local {
		m = &db.local
	}
	c := maps.Clone(*m)
	if c == nil {
		c = map[string]string{}
	}
	c[strings.ToLower(name)] = value
	*m = c
}

func (db *DB) reset(name string) {
	c := maps.Clone(db.settings)
	if name == "all" {
		clear(c)
	}
	delete(c, strings.ToLower(name))
	db.settings = c
}

// SetSearchPath sets the schemas in which unqualified names are looked up.
func (db *DB) SetSearchPath(schemas ...string) {
	db.Set("search_path", strings.Join(schemas, ", "), false)
}

// Function returns a function or procedure created by the user.
func (db *DB) Function(schema, name string) *ast.CreateFunction {
	return db.FunctionOn(db.searchPath(), schema, name)
}

// FunctionOn is Function with an unqualified name looked up in the schemas of path.
func (db *DB) FunctionOn(path []string, schema, name string) *ast.CreateFunction {
	f, _ := db.cat.function(path, schema, name)
	return f
}

// Functions lists the names of the user's functions and procedures.
func (db *DB) Functions() []string {
	var out []string
	for k := range db.cat.funcs {
		out = append(out, k.name)
	}
	slices.Sort(out)
	return out
}
