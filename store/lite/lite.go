//go:build cgo

package lite

/*
#cgo CFLAGS: -O2 -std=gnu11
#cgo LDFLAGS: -lm
#cgo darwin LDFLAGS: -Wl,-undefined,dynamic_lookup
#include "api.h"
*/
import "C"

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"unsafe"

	_ "github.com/mattn/go-sqlite3" // compiles SQLite

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// Conn is one connection.
type Conn struct {
	db      *C.sqlite3
	arena   *C.rg_arena
	held    *C.rg_held
	free    []int // freed numbers of held bytes
	numbers int   // how many numbers there are, used or freed
	wait    *C.rg_wait
	stmts   map[string]*Stmt
	funcs   []int64      // registered handles, freed by Close
	err     error        // the error a Go function returned during the current step
	behind  *atomic.Bool // an abandoned call is still running
}

// Error is an error of SQLite.
type Error struct {
	Code int // extended result code
	Msg  string
}

// Error returns SQLite's message.
func (e *Error) Error() string { return e.Msg }

// Primary returns the primary result code.
func (e *Error) Primary() int { return e.Code & 0xff }

// Result codes that store tells apart (sqlite.org/rescode.html).
const (
	CodeError      = 1
	CodeBusy       = 5
	CodeLocked     = 6
	CodeNoMem      = 7
	CodeReadonly   = 8
	CodeInterrupt  = 9
	CodeIOErr      = 10
	CodeCorrupt    = 11
	CodeFull       = 13
	CodeCantOpen   = 14
	CodeTooBig     = 18
	CodeConstraint = 19
	CodeMismatch   = 20
	CodeNotADB     = 26
)

// Open opens or creates a file; ":memory:" and "" (a temporary file) as in SQLite.
func Open(path string, readonly bool) (*Conn, error) {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	// One goroutine at a time uses a Conn, so that SQLite need not lock it at each call:
	// https://sqlite.org/threadsafe.html (multi-thread)
	flags := C.int(C.SQLITE_OPEN_READWRITE | C.SQLITE_OPEN_CREATE | C.SQLITE_OPEN_NOMUTEX)
	if readonly {
		flags = C.SQLITE_OPEN_READONLY | C.SQLITE_OPEN_NOMUTEX
	}
	c := &Conn{behind: new(atomic.Bool), stmts: map[string]*Stmt{}, arena: (*C.rg_arena)(C.calloc(1, C.sizeof_rg_arena)),
		held: (*C.rg_held)(C.calloc(1, C.sizeof_rg_held)), wait: (*C.rg_wait)(C.calloc(1, C.sizeof_rg_wait))}
	rc := C.sqlite3_open_v2(name, &c.db, flags, nil)
	if rc != C.SQLITE_OK {
		err := c.failure(rc)
		C.sqlite3_close_v2(c.db)
		return nil, err
	}
	C.sqlite3_extended_result_codes(c.db, 1)
	C.rg_waits(c.db, c.wait)
	if rc := C.rg_natives(c.db); rc != C.SQLITE_OK {
		return nil, c.failure(rc)
	}
	if rc := C.rg_holds(c.db, c.held); rc != C.SQLITE_OK {
		return nil, c.failure(rc)
	}
	if rc := C.rg_tables(c.db); rc != C.SQLITE_OK {
		return nil, c.failure(rc)
	}
	return c, nil
}

// Close frees everything; the Conn must not be used afterwards.
func (c *Conn) Close() error {
	if c.db == nil {
		return nil
	}
	for _, s := range c.stmts {
		C.sqlite3_finalize(s.p)
	}
	c.stmts = nil
	rc := C.sqlite3_close_v2(c.db)
	c.db = nil
	C.free(unsafe.Pointer(c.arena.p))
	C.free(unsafe.Pointer(c.arena))
	C.free(unsafe.Pointer(c.held.p))
	C.free(unsafe.Pointer(c.held.n))
	C.free(unsafe.Pointer(c.held))
	C.free(unsafe.Pointer(c.wait))
	release(c.funcs)
	if rc != C.SQLITE_OK {
		return &Error{Code: int(rc), Msg: C.GoString(C.sqlite3_errstr(rc))}
	}
	return nil
}

// failure makes the error of a result code; a Go function's own error takes precedence.
func (c *Conn) failure(rc C.int) error {
	if err := c.err; err != nil {
		c.err = nil
		return err
	}
	if c.db == nil {
		return &Error{Code: int(rc), Msg: C.GoString(C.sqlite3_errstr(rc))}
	}
	if rc&0xff == C.SQLITE_BUSY && C.rg_cancelled(unsafe.Pointer(c.wait)) != 0 { // an interrupt ended the wait
		rc = CodeInterrupt
	}
	return &Error{Code: int(rc), Msg: C.GoString(C.sqlite3_errmsg(c.db))}
}

// BusyTimeout sets how long a lock is waited for, in milliseconds.
func (c *Conn) BusyTimeout(ms int) { c.wait.ms = C.int(ms) }

// Hold gives bytes outside of Go's memory a number, by which statements read them: rg_held(number). They must stay
// unchanged until Drop, and until no statement runs that has read them.
func (c *Conn) Hold(b []byte) (number int, err error) {
	if n := len(c.free); n > 0 {
		number, c.free = c.free[n-1], c.free[:n-1]
	} else {
		number = c.numbers
		c.numbers++
	}
	if C.rg_hold(c.held, C.int64_t(number), (*C.char)(unsafe.Pointer(unsafe.SliceData(b))),
		C.int64_t(len(b))) != C.SQLITE_OK {
		c.free = append(c.free, number)
		return 0, &Error{Code: CodeNoMem, Msg: "out of memory"}
	}
	return number, nil
}

// Drop ends Hold.
func (c *Conn) Drop(number int) {
	C.rg_hold(c.held, C.int64_t(number), nil, 0)
	c.free = append(c.free, number)
}

// Interrupt makes the running statement fail with CodeInterrupt, and so all others until Resume that take long. Any
// goroutine may call it.
func (c *Conn) Interrupt() {
	C.rg_cancel(c.wait, 1)
	C.sqlite3_interrupt(c.db)
}

// Resume undoes one Interrupt.
func (c *Conn) Resume() { C.rg_cancel(c.wait, -1) }

// InTransaction reports whether a transaction is open.
func (c *Conn) InTransaction() bool { return C.sqlite3_get_autocommit(c.db) == 0 }

// Changes returns the number of rows the last INSERT, UPDATE or DELETE changed.
func (c *Conn) Changes() int64 { return int64(C.sqlite3_changes64(c.db)) }

// Exec runs a text of any number of statements without parameters and results.
func (c *Conn) Exec(sql string) error {
	z := C.CString(sql)
	defer C.free(unsafe.Pointer(z))
	if rc := C.sqlite3_exec(c.db, z, nil, nil, nil); rc != C.SQLITE_OK {
		return c.failure(rc)
	}
	return nil
}

// Shrink gives unused memory of the cache back to the system.
func (c *Conn) Shrink() {
	C.sqlite3_db_release_memory(c.db)
	C.rg_trim()
}

// Stmt is a prepared statement.
type Stmt struct {
	c            *Conn
	p            *C.sqlite3_stmt
	sql          string
	cols, params int
	in, out      []Cell
	used         int64 // bytes of the arena in use for parameters
	busy, cached bool
}

const maxCached = 256

// Prepare compiles a statement. It reuses a statement of the same text that is not in use.
func (c *Conn) Prepare(sql string) (*Stmt, error) {
	if s := c.stmts[sql]; s != nil && !s.busy {
		s.busy = true
		return s, nil
	}
	z := C.CString(sql)
	defer C.free(unsafe.Pointer(z))
	var p *C.sqlite3_stmt
	if rc := C.sqlite3_prepare_v3(c.db, z, -1, C.SQLITE_PREPARE_PERSISTENT, &p, nil); rc != C.SQLITE_OK {
		return nil, c.failure(rc)
	}
	if p == nil {
		return nil, &Error{Code: CodeError, Msg: "empty statement"}
	}
	s := &Stmt{c: c, p: p, sql: sql, busy: true, cols: int(C.sqlite3_column_count(p)),
		params: int(C.sqlite3_bind_parameter_count(p))}
	s.in, s.out = make([]Cell, s.params), make([]Cell, s.cols)
	if c.stmts[sql] == nil && len(sql) < 1<<16 {
		c.evict()
		c.stmts[sql], s.cached = s, true
	}
	return s, nil
}

func (c *Conn) evict() {
	if len(c.stmts) < maxCached {
		return
	}
	for k, s := range c.stmts {
		if !s.busy {
			C.sqlite3_finalize(s.p)
			delete(c.stmts, k)
		}
	}
}

// Cols returns the number of result columns.
func (s *Stmt) Cols() int { return s.cols }

// Name returns the name of result column i.
func (s *Stmt) Name(i int) string { return C.GoString(C.sqlite3_column_name(s.p, C.int(i))) }

// ReadOnly reports whether the statement leaves the file as it is.
func (s *Stmt) ReadOnly() bool { return C.sqlite3_stmt_readonly(s.p) != 0 }

// Close ends the use of the statement; the cache keeps it.
func (s *Stmt) Close() {
	if s.p == nil {
		return
	}
	C.sqlite3_reset(s.p)
	if s.cached {
		C.sqlite3_clear_bindings(s.p)
		s.busy = false
		return
	}
	C.sqlite3_finalize(s.p)
	s.p = nil
}

// Set puts parameter i (from 0): nil, int64, float64, bool, string or []byte. It takes effect at Bind or Run.
func (s *Stmt) Set(i int, v any) error {
	switch v := v.(type) {
	case nil:
		s.SetNull(i)
	case int64:
		s.SetInt(i, v)
	case float64:
		s.SetFloat(i, v)
	case bool:
		s.SetInt(i, b2i(v))
	case string:
		s.SetBytes(i, Text, unsafe.Slice(unsafe.StringData(v), len(v)))
	case []byte:
		s.SetBytes(i, Blob, v)
	default:
		return fmt.Errorf("lite: cannot bind %T", v)
	}
	return nil
}

func b2i(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// SetNull puts NULL.
func (s *Stmt) SetNull(i int) { s.in[i].kind = C.int32_t(Null) }

// SetInt puts an integer.
func (s *Stmt) SetInt(i int, x int64) { s.in[i].kind, s.in[i].i = C.int32_t(Integer), C.int64_t(x) }

// SetFloat puts a float.
func (s *Stmt) SetFloat(i int, x float64) { s.in[i].kind, s.in[i].d = C.int32_t(Float), C.double(x) }

// SetBytes puts a TEXT or BLOB; the bytes are copied.
func (s *Stmt) SetBytes(i int, kind int32, b []byte) { copy(s.Room(i, kind, len(b)), b) }

// Room makes a parameter a TEXT or BLOB of n bytes and returns its memory, valid until bytes are set again. After a Run
// or Bind, the first parameter with bytes begins a new row.
func (s *Stmt) Room(i int, kind int32, n int) []byte {
	a := s.c.arena
	if C.rg_grow(a, C.int64_t(s.used+int64(n))) != C.SQLITE_OK {
		// package store catches it at its border
		panic(sqlerr.New(sqlerr.OutOfMemory, "out of memory").WithDetail("A value of %d bytes found no room.", n))
	}
	s.in[i].kind, s.in[i].i, s.in[i].n = C.int32_t(kind), C.int64_t(s.used), C.int64_t(n)
	b := unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(a.p), s.used)), n)
	s.used += int64(n)
	return b
}

// Run executes a statement without results once, with the parameters set.
func (s *Stmt) Run() error {
	rc := C.rg_run(s.p, s.c.wait, C.int(s.params), s.cells(), s.c.arena)
	s.used = 0
	if rc != C.SQLITE_OK {
		return s.c.failure(rc)
	}
	return nil
}

func (s *Stmt) cells() *C.rg_cell {
	if len(s.in) == 0 {
		return nil
	}
	return (*C.rg_cell)(&s.in[0])
}

// Bind binds the parameters of a statement that is going to be stepped. Their bytes are copied, so that
// other statements may run in between.
func (s *Stmt) Bind() error {
	s.used = 0
	for i := range s.in {
		c := &s.in[i]
		var rc C.int
		p := unsafe.Add(unsafe.Pointer(s.c.arena.p), int64(c.i))
		switch int32(c.kind) {
		case Text:
			rc = C.sqlite3_bind_text64(s.p, C.int(i+1), (*C.char)(p), C.sqlite3_uint64(c.n), transient, C.SQLITE_UTF8)
		case Blob:
			rc = C.sqlite3_bind_blob64(s.p, C.int(i+1), p, C.sqlite3_uint64(c.n), transient)
		case Integer:
			rc = C.sqlite3_bind_int64(s.p, C.int(i+1), C.sqlite3_int64(c.i))
		case Float:
			rc = C.sqlite3_bind_double(s.p, C.int(i+1), c.d)
		default:
			rc = C.sqlite3_bind_null(s.p, C.int(i+1))
		}
		if rc != C.SQLITE_OK {
			return s.c.failure(rc)
		}
	}
	return nil
}

// Step advances to the next row; false at the end.
func (s *Stmt) Step() (bool, error) {
	rc := C.rg_step(s.p, s.c.wait, C.int(s.cols), C.uintptr_t(uintptr(unsafe.Pointer(unsafe.SliceData(s.out)))))
	runtime.KeepAlive(s)
	switch rc {
	case C.SQLITE_ROW:
		return true, nil
	case C.SQLITE_DONE:
		return false, nil
	default:
		return false, s.c.failure(rc)
	}
}

// Row returns the current row's cells.
func (s *Stmt) Row() []Cell { return s.out }

// Query runs sql with parameters and calls row for each row. Parameters that sql does not mention are ignored.
func (c *Conn) Query(sql string, args []any, row func([]Cell) error) error {
	s, err := c.Prepare(sql)
	if err != nil {
		return err
	}
	defer s.Close()
	for i, a := range args[:min(len(args), s.params)] {
		if err := s.Set(i, a); err != nil {
			return err
		}
	}
	if err := s.Bind(); err != nil {
		return err
	}
	for {
		more, err := s.Step()
		if err != nil || !more {
			return err
		}
		if err := row(s.out); err != nil {
			return err
		}
	}
}

// scanRows is how many rows Scan fetches at once.
const scanRows = 64

// Scan is Query without parameters. It fetches rows of numbers ahead, so row must not change what sql reads.
func (c *Conn) Scan(sql string, row func([]Cell) error) error {
	s, err := c.Prepare(sql)
	if err != nil {
		return err
	}
	defer s.Close()
	out := make([]Cell, scanRows*max(s.cols, 1))
	var got C.int // cgo allocates it
	for {
		rc := C.rg_steps(s.p, s.c.wait, C.int(s.cols), scanRows, C.uintptr_t(uintptr(unsafe.Pointer(&out[0]))), &got)
		runtime.KeepAlive(out)
		for i := range int(got) {
			if err := row(out[i*s.cols : (i+1)*s.cols]); err != nil {
				return err
			}
		}
		switch rc {
		case C.SQLITE_ROW:
		case C.SQLITE_DONE:
			return nil
		default:
			return s.c.failure(rc)
		}
	}
}
