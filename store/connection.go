package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/store/lite"
)

// connection is SQLite's connection to a store's file.
type connection struct {
	c        *lite.Conn
	path     string // "" for a temporary store
	readonly bool
	cacheKB  int64 // the size of SQLite's cache
	scanning bool  // the cache is small while a table is read
}

const catalogSchema = `
CREATE TABLE IF NOT EXISTS relgrad_catalog (kind TEXT NOT NULL, schema TEXT NOT NULL, name TEXT NOT NULL, ` +
	`def TEXT NOT NULL, PRIMARY KEY (kind, schema, name)) STRICT, WITHOUT ROWID;
PRAGMA application_id = 0x72677264;
PRAGMA user_version = 1;`

const applicationID = 0x72677264

// execPatiently retries where SQLite does not wait: while another process switches a new file to WAL.
func (conn *connection) execPatiently(sql string) error {
	for end := time.Now().Add(lockTimeout); ; time.Sleep(5 * time.Millisecond) {
		err := conn.c.Exec(sql)
		var failed *lite.Error
		if !errors.As(err, &failed) || failed.Primary() != lite.CodeBusy || time.Now().After(end) {
			return err
		}
	}
}

// application returns the file's application id, 0 where it has none.
func (conn *connection) application() (id int64, err error) {
	err = conn.rows("PRAGMA application_id", func(r row) error { id = r[0].Int(); return nil })
	return id, err
}

// create makes the catalogue of a new file, in a transaction.
func (conn *connection) create() error {
	begin := "BEGIN IMMEDIATE"
	if conn.readonly {
		begin = "BEGIN"
	}
	if err := conn.c.Exec(begin); err != nil {
		return err
	}
	if err := conn.makeCatalog(); err != nil {
		_ = conn.c.Exec("ROLLBACK")
		return err
	}
	return conn.c.Exec("COMMIT")
}

// makeCatalog makes the catalogue in an empty file, unless another process has done so meanwhile: writing it again
// would break that process's transactions.
func (conn *connection) makeCatalog() error {
	if id, err := conn.application(); err != nil || id == applicationID {
		return err
	}
	if err := conn.foreign(); err != nil {
		return err
	}
	return conn.c.Exec(catalogSchema)
}

// foreign is the error of a file that is not a store and cannot become one, since it has tables or cannot be written;
// nil if another process has just made it a store.
func (conn *connection) foreign() error {
	tables := int64(0)
	if err := conn.rows("SELECT count(*) FROM sqlite_schema",
		func(r row) error { tables = r[0].Int(); return nil }); err != nil || tables == 0 && !conn.readonly {
		return err
	}
	if id, err := conn.application(); err != nil || id == applicationID {
		return err
	}
	return sqlerr.New(sqlerr.WrongObjectType, "%s is an SQLite file, but not a relgrad store", conn.path)
}

// Path returns the file's name, "" for a temporary store.
func (conn *connection) Path() string { return conn.path }

type row []lite.Cell

func (r row) text(i int) string { return r[i].String() }

func (conn *connection) rows(sql string, f func(row) error, args ...any) error {
	return conn.c.Query(sql, args, func(c []lite.Cell) error { return f(c) })
}

func (conn *connection) exec(sql string, args ...any) error {
	return conn.c.Query(sql, args, func([]lite.Cell) error { return nil })
}

// watch interrupts the connection when ctx ends; stop ends the watching.
func (conn *connection) watch(ctx context.Context) (stop func()) {
	conn.restoreCache()
	if ctx.Done() == nil {
		return func() {}
	}
	c, done := conn.c, make(chan struct{})
	if ctx.Err() != nil { // now: a later interrupt could hit another statement's cursor
		c.Interrupt()
		return c.Resume
	}
	end := context.AfterFunc(ctx, func() {
		defer close(done)
		c.Interrupt()
	})
	return func() {
		if !end() { // the interrupt must not hit what comes next
			<-done
			c.Resume()
		}
	}
}

// ReadOnly reports whether the store was opened for reading only.
func (conn *connection) ReadOnly() bool { return conn.readonly }

// LimitCache bounds SQLite's cache to a sixteenth of a memory budget in bytes, between 2 MB and 64 MB; without a budget
// (0) it is 64 MB.
func (conn *connection) LimitCache(budget int64) error {
	kB := int64(64 << 10)
	if budget > 0 {
		kB = max(2<<10, min(kB, budget>>14))
	}
	if kB == conn.cacheKB {
		return nil
	}
	conn.cacheKB = kB
	return conn.c.Exec(cacheSize(kB))
}

// scanKB is SQLite's cache while a table larger than the cache is read into memory, since each page is read once.
const scanKB = 2 << 10

// scanCache shrinks the cache for such a read, until restoreCache.
func (conn *connection) scanCache() error {
	bytes := int64(0)
	if err := conn.rows("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()", func(c row) error {
		bytes = c[0].Int()
		return nil
	}); err != nil || bytes>>10 <= conn.cacheKB {
		return err
	}
	conn.scanning = true
	if err := conn.c.Exec(cacheSize(scanKB)); err != nil {
		return err
	}
	conn.c.Shrink()
	return nil
}

// restoreCache undoes scanCache. If a cancelled read has left a cursor open nothing can run until it is closed; then
// the next statement restores the cache.
func (conn *connection) restoreCache() {
	if conn.scanning && conn.c.Exec(cacheSize(conn.cacheKB)) == nil {
		conn.scanning = false
	}
}

func cacheSize(kB int64) string {
	return fmt.Sprintf("PRAGMA cache_size = -%d; PRAGMA temp.cache_size = -%d;", kB, kB)
}
