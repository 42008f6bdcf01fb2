package store

import (
	"errors"
	"slices"
	"time"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/store/bind"
	"github.com/relgrad/relgrad/store/definitions"
)

// transactions are a session's state between BEGIN and COMMIT, and the versions of tables: every change bumps one, and
// so does undoing it.
type transactions struct {
	*catalogue
	explicit bool // between BEGIN and COMMIT
	failed   bool // a statement of the transaction failed
	began    snapshot
	saves    []savepoint
	started  time.Time // see now
	undone   int       // number of rollbacks

	epoch       uint64 // number of changes by other processes, whose tables are unknown
	versions    map[definitions.Key]catalog.Version
	touched     map[definitions.Key]bool // written since BEGIN
	dataVersion int64
}

// snapshot is the in-memory state that a rollback restores.
type snapshot struct {
	cat *definitions.Set
	settings
}

type savepoint struct {
	name string
	snapshot
}

func (tx *transactions) snapshot() snapshot { return snapshot{tx.cat, *tx.settings} }

func (tx *transactions) restore(s snapshot) { tx.cat, *tx.settings = s.cat, s.settings }

// InTransaction reports whether BEGIN has been run without COMMIT or ROLLBACK.
func (tx *transactions) InTransaction() bool { return tx.explicit }

// InOne reports whether all reads now see one state of the store: inside BEGIN, or while a statement runs.
func (tx *transactions) InOne() bool { return tx.explicit || tx.c.InTransaction() }

// Begin starts a transaction.
func (tx *transactions) Begin() error { return tx.beginExplicit("BEGIN") }

// BeginWrite starts a transaction that writes. It waits until no other process writes; then none can until the end.
func (tx *transactions) BeginWrite() error { return tx.beginExplicit("BEGIN IMMEDIATE") }

func (tx *transactions) beginExplicit(how string) error {
	if tx.explicit {
		return sqlerr.New(sqlerr.ActiveTransaction, "there is already a transaction in progress")
	}
	if err := tx.begin(how); err != nil {
		return err
	}
	tx.explicit, tx.failed, tx.began, tx.touched = true, false, tx.snapshot(), map[definitions.Key]bool{}
	tx.started = time.Now()
	return nil
}

// Commit ends the transaction. If a statement of it failed it is rolled back, and Commit returns false.
func (tx *transactions) Commit() (bool, error) {
	if !tx.explicit {
		return false, sqlerr.New(sqlerr.NoTransaction, "there is no transaction in progress")
	}
	if tx.failed {
		return false, tx.Rollback()
	}
	if err := tx.c.Exec("COMMIT"); err != nil {
		err = tx.translate(err)
		tx.Rollback()
		return false, err
	}
	tx.explicit, tx.saves, tx.local = false, nil, nil
	return true, nil
}

// Rollback undoes the transaction.
func (tx *transactions) Rollback() error {
	if !tx.explicit {
		return sqlerr.New(sqlerr.NoTransaction, "there is no transaction in progress")
	}
	var err error
	if tx.c.InTransaction() { // SQLite rolls back by itself when the disk is full or fails
		err = tx.translate(tx.c.Exec("ROLLBACK"))
	}
	tx.restore(tx.began)
	tx.forget()
	tx.explicit, tx.failed, tx.saves, tx.local = false, false, nil, nil
	return err
}

// forget bumps the versions of all tables written in the transaction, since undoing changes their contents again.
func (tx *transactions) forget() {
	for k := range tx.touched {
		v := tx.versions[k]
		tx.versions[k] = catalog.Version{Keys: v.Keys + 1, Values: v.Values + 1}
	}
	tx.undone++
}

// Abort marks an open transaction as failed, after an error of the engine.
func (tx *transactions) Abort() { tx.failed = tx.failed || tx.explicit }

// Savepoint marks a point that RollbackTo returns to.
func (tx *transactions) Savepoint(name string) error {
	if !tx.explicit {
		return sqlerr.New(sqlerr.NoTransaction, "SAVEPOINT can only be used in transaction blocks")
	}
	if tx.failed {
		return errFailed()
	}
	if err := tx.c.Exec("SAVEPOINT " + definitions.Ident("s "+name)); err != nil {
		return tx.translate(err)
	}
	tx.saves = append(tx.saves, savepoint{name, tx.snapshot()})
	return nil
}

func (tx *transactions) findSave(name string) (int, error) {
	for i := len(tx.saves) - 1; i >= 0; i-- {
		if tx.saves[i].name == name {
			return i, nil
		}
	}
	return 0, sqlerr.New("3B001", "savepoint \"%s\" does not exist", name)
}

// Release removes a savepoint and keeps what was done since.
func (tx *transactions) Release(name string) error {
	i, err := tx.findSave(name)
	if err != nil {
		return err
	}
	if tx.failed {
		return errFailed()
	}
	if err := tx.c.Exec("RELEASE " + definitions.Ident("s "+name)); err != nil {
		return tx.translate(err)
	}
	tx.saves = tx.saves[:i]
	return nil
}

// RollbackTo undoes what was done since the savepoint, which stays. A failed transaction works again.
func (tx *transactions) RollbackTo(name string) error {
	i, err := tx.findSave(name)
	if err != nil {
		return err
	}
	if err := tx.c.Exec("ROLLBACK TO " + definitions.Ident("s "+name)); err != nil {
		return tx.translate(err)
	}
	tx.restore(tx.saves[i].snapshot)
	tx.forget()
	tx.saves, tx.failed = tx.saves[:i+1], false
	return nil
}

func errFailed() error {
	return sqlerr.New(sqlerr.FailedTransaction,
		"current transaction is aborted, commands ignored until end of transaction block")
}

// ExternalVersion counts the commits of other processes that this session has noticed. If it is the same after a
// transaction has begun as before, nothing has changed.
func (tx *transactions) ExternalVersion() uint64 { return tx.epoch }

// refresh notices commits of other processes.
func (tx *transactions) refresh() error {
	if tx.explicit || tx.path == "" {
		return nil
	}
	v := int64(0)
	if err := tx.rows("PRAGMA data_version", func(r row) error { v = r[0].Int(); return nil }); err != nil {
		return tx.translate(err)
	}
	if v != tx.dataVersion {
		tx.epoch++
		if err := tx.load(); err != nil {
			return tx.translate(err)
		}
	}
	tx.dataVersion = v
	return nil
}

// begin starts a transaction and reads the catalogue if other processes have changed it.
func (tx *transactions) begin(how string) error {
	if err := tx.c.Exec(how); err != nil {
		return tx.translate(err)
	}
	if err := tx.refresh(); err != nil {
		return errors.Join(err, tx.translate(tx.c.Exec("ROLLBACK")))
	}
	return nil
}

// atomically runs f so that an error leaves the store unchanged. write takes the write lock first.
func (tx *transactions) atomically(write bool, f func() error) (err error) {
	begin, commit, undo := "BEGIN", "COMMIT", "ROLLBACK"
	if write {
		begin = "BEGIN IMMEDIATE"
	}
	if tx.explicit || tx.c.InTransaction() { // second: the engine works for a statement that is running
		begin, commit, undo = "SAVEPOINT relgrad_statement", "RELEASE relgrad_statement",
			"ROLLBACK TO relgrad_statement; RELEASE relgrad_statement"
		err = tx.translate(tx.c.Exec(begin))
	} else {
		tx.touched, tx.started = map[definitions.Key]bool{}, time.Now()
		err = tx.begin(begin)
	}
	if err != nil {
		return err
	}
	before := tx.snapshot()
	defer func() {
		if p := recover(); p != nil {
			err = bind.BindError(p)
		}
		if err == nil {
			err = tx.c.Exec(commit)
		}
		if err == nil {
			return
		}
		err = tx.translate(err)
		tx.restore(before)
		tx.forget()
		if tx.c.InTransaction() {
			if e := tx.c.Exec(undo); e != nil {
				err = errors.Join(err, tx.translate(e))
			}
		}
	}()
	return f()
}

// Objects lists the objects that the session sees, including commits of other sessions.
func (tx *transactions) Objects() (*catalog.Objects, error) {
	if err := tx.refresh(); err != nil {
		return nil, err
	}
	o := &catalog.Objects{Schemas: slices.Sorted(slices.Values(tx.cat.Schemas))}
	for _, t := range tx.cat.Tables {
		if !t.Result {
			o.Tables = append(o.Tables, t)
		}
	}
	for _, v := range tx.cat.Views {
		o.Views = append(o.Views, v)
	}
	for k, f := range tx.cat.Funcs {
		o.Functions = append(o.Functions, catalog.Function{Schema: k.Schema, CreateFunction: f})
	}
	slices.SortFunc(o.Tables,
		func(a, b *catalog.TableDef) int { return definitions.Before(a.Schema, a.Name, b.Schema, b.Name) })
	slices.SortFunc(o.Views,
		func(a, b *catalog.ViewDef) int { return definitions.Before(a.Schema, a.Name, b.Schema, b.Name) })
	slices.SortFunc(o.Functions,
		func(a, b catalog.Function) int { return definitions.Before(a.Schema, a.Name, b.Schema, b.Name) })
	return o, nil
}

// Failed reports whether a statement of the open transaction failed, so that it can only be ended.
func (tx *transactions) Failed() bool { return tx.failed }

// inOne runs f in a transaction of its own. An error undoes what the engine has done for it.
func (tx *transactions) inOne(f func() error) (err error) {
	if err := tx.c.Exec("BEGIN"); err != nil {
		return tx.translate(err)
	}
	before := tx.snapshot()
	tx.touched = map[definitions.Key]bool{}
	defer func() {
		if p := recover(); p != nil {
			err = bind.BindError(p)
		}
		if err == nil {
			err = tx.translate(tx.c.Exec("COMMIT"))
		}
		if err == nil {
			return
		}
		tx.restore(before)
		tx.forget()
		if tx.c.InTransaction() {
			if e := tx.c.Exec("ROLLBACK"); e != nil {
				err = errors.Join(err, tx.translate(e))
			}
		}
	}()
	return f()
}

// now is the time at which the transaction, or the statement outside one, began.
func (tx *transactions) now() time.Time {
	if tx.started.IsZero() {
		tx.started = time.Now()
	}
	return tx.started
}

// bump records a change of a table.
func (tx *transactions) bump(k definitions.Key, keys bool) {
	v := tx.versions[k]
	v.Values++
	if keys {
		v.Keys++
	}
	tx.versions[k] = v
	if tx.touched != nil {
		tx.touched[k] = true
	}
}
