//go:build cgo

package lite

/*
#include "api.h"
*/
import "C"

import (
	"sync"
	"unsafe"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// Result receives a function's value; NULL until it is set.
type Result struct {
	cell  *C.rg_cell
	arena *C.rg_arena
}

// Int returns an integer.
func (r Result) Int(x int64) { r.cell.kind, r.cell.i = C.int32_t(Integer), C.int64_t(x) }

// Bool returns 0 or 1.
func (r Result) Bool(b bool) { r.Int(b2i(b)) }

// Float returns a float; the caller has refused NaN.
func (r Result) Float(x float64) { r.cell.kind, r.cell.d = C.int32_t(Float), C.double(x) }

// Text returns a string.
func (r Result) Text(s string) { copy(r.Room(Text, len(s)), s) }

// Blob returns bytes.
func (r Result) Blob(b []byte) { copy(r.Room(Blob, len(b)), b) }

// Room returns a TEXT or BLOB of n bytes to fill in place.
func (r Result) Room(kind int32, n int) []byte {
	if C.rg_grow(r.arena, C.int64_t(n+1)) != C.SQLITE_OK {
		panic(sqlerr.New(sqlerr.OutOfMemory, "out of memory").WithDetail("A value of %d bytes found no room.", n))
	}
	r.cell.kind, r.cell.n = C.int32_t(kind), C.int64_t(n)
	return unsafe.Slice((*byte)(unsafe.Pointer(r.arena.p)), n)
}

func (r Result) fail(msg string) {
	r.Text(msg)
	r.cell.kind = 0
}

// Scalar is a function of SQL values.
type Scalar func(args []Cell, res Result) error

// State is one group of an aggregate. Value may be called several times (windows). Inverse removes the oldest row, or
// returns an error if the aggregate cannot.
type State interface {
	Step(args []Cell) error
	Inverse(args []Cell) error
	Value(res Result) error
}

type function struct {
	c       *Conn
	name    string
	scalar  Scalar
	renew   func() Scalar // makes another function; of one that may run apart
	long    Long          // whether a call runs apart
	state   func() State
	compare func(a, b []byte) int
}

// handles maps the numbers that C holds to Go values.
var handles = struct {
	sync.RWMutex
	next  int64
	funcs map[int64]*function
	state map[int64]State
}{funcs: map[int64]*function{}, state: map[int64]State{}}

func release(ids []int64) {
	handles.Lock()
	defer handles.Unlock()
	for _, id := range ids {
		delete(handles.funcs, id)
	}
}

func (c *Conn) register(f *function, nargs int, pure bool, kind int) error {
	handles.Lock()
	handles.next++
	id := handles.next
	handles.funcs[id] = f
	handles.Unlock()
	c.funcs = append(c.funcs, id)
	f.c = c
	name := C.CString(f.name)
	defer C.free(unsafe.Pointer(name))
	if rc := C.rg_create(c.db, name, C.int(nargs), C.int(b2i(pure)), C.int(kind), C.int64_t(id)); rc != C.SQLITE_OK {
		return c.failure(rc)
	}
	return nil
}

// Func registers a scalar function; nargs -1 takes any number. A pure one depends on its arguments alone.
func (c *Conn) Func(name string, nargs int, pure bool, f Scalar) error {
	return c.register(&function{name: name, scalar: f}, nargs, pure, 0)
}

// Long reports whether a call with these arguments may take long.
type Long func(args []Cell) bool

// LongFrom is so for that many bytes of arguments, and more.
func LongFrom(bytes int) Long { return func(args []Cell) bool { return bytesOf(args) >= bytes } }

// Long registers a scalar function that may take long. A long call runs apart, so that an interrupt ends its statement
// at once. It may use only its arguments and what renew has made for it; after a call has been abandoned, renew makes
// another one.
func (c *Conn) Long(name string, nargs int, pure bool, long Long, renew func() Scalar) error {
	return c.register(&function{name: name, scalar: renew(), renew: renew, long: long}, nargs, pure, 0)
}

// Aggregate registers an aggregate, also usable as a window function.
func (c *Conn) Aggregate(name string, nargs int, state func() State) error {
	return c.register(&function{name: name, state: state}, nargs, true, 1)
}

// Collation registers an order of texts. It cannot fail: after a panic in it the statement fails at its next step.
func (c *Conn) Collation(name string, compare func(a, b []byte) int) error {
	return c.register(&function{name: name, compare: compare}, 0, true, 2)
}

func lookup(id C.int64_t) *function {
	handles.RLock()
	defer handles.RUnlock()
	return handles.funcs[int64(id)]
}

func cellsOf(n C.int, p *C.rg_cell) []Cell {
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*Cell)(p), int(n))
}

// guard runs f and turns its error or panic into the function's error.
func guard(fn *function, r Result, f func() error) {
	if err := rescued(f); err != nil {
		fn.c.err = err
		r.fail(err.Error())
	}
}

//export rgScalar
func rgScalar(id C.int64_t, n C.int, args *C.rg_cell, res *C.rg_cell, a *C.rg_arena) {
	fn, r := lookup(id), Result{res, a}
	guard(fn, r, func() error {
		cells := cellsOf(n, args)
		if fn.renew == nil || !fn.long(cells) {
			return fn.scalar(cells, r)
		}
		done, err := fn.c.apart(cells, r, fn.scalar)
		if !done {
			fn.scalar = fn.renew()
			r.fail(interruption)
		}
		return err
	})
}

//export rgStep
func rgStep(id C.int64_t, h *C.int64_t, n C.int, args *C.rg_cell, res *C.rg_cell, a *C.rg_arena) {
	fn, r := lookup(id), Result{res, a}
	guard(fn, r, func() error {
		s, cells := fn.group(h), cellsOf(n, args)
		if bytesOf(cells) < stepBytes {
			return s.Step(cells)
		}
		done, err := fn.c.apart(cells, r, func(cells []Cell, _ Result) error { return s.Step(cells) })
		if !done {
			fn.leave(h)
			r.fail(interruption)
		}
		return err
	})
}

// leave drops the state of a group that an abandoned call still uses.
func (fn *function) leave(h *C.int64_t) {
	handles.Lock()
	defer handles.Unlock()
	handles.state[int64(*h)] = gone{}
}

// group returns the state of a group and makes it at the first row.
func (fn *function) group(h *C.int64_t) State {
	if *h != 0 {
		handles.RLock()
		defer handles.RUnlock()
		return handles.state[int64(*h)]
	}
	s := fn.state()
	handles.Lock()
	defer handles.Unlock()
	handles.next++
	*h = C.int64_t(handles.next)
	handles.state[handles.next] = s
	return s
}

//export rgInverse
func rgInverse(id C.int64_t, h *C.int64_t, n C.int, args *C.rg_cell, res *C.rg_cell, a *C.rg_arena) {
	fn, r := lookup(id), Result{res, a}
	guard(fn, r, func() error {
		handles.RLock()
		s := handles.state[int64(*h)]
		handles.RUnlock()
		return s.Inverse(cellsOf(n, args))
	})
}

//export rgValue
func rgValue(id C.int64_t, h *C.int64_t, last C.int, res *C.rg_cell, a *C.rg_arena) {
	fn, r := lookup(id), Result{res, a}
	guard(fn, r, func() error {
		handles.Lock()
		s := handles.state[int64(*h)]
		if last != 0 {
			delete(handles.state, int64(*h))
		}
		handles.Unlock()
		if s == nil {
			s = fn.state()
		}
		if x, ok := s.(Heavy); !ok || !x.Heavy() {
			return s.Value(r)
		}
		done, err := fn.c.apart(nil, r, func(_ []Cell, r Result) error { return s.Value(r) })
		if !done {
			if last == 0 {
				fn.leave(h)
			}
			r.fail(interruption)
		}
		return err
	})
}

//export rgCollate
func rgCollate(id C.int64_t, n C.int, a unsafe.Pointer, m C.int, b unsafe.Pointer) C.int {
	fn := lookup(id)
	defer func() {
		if p := recover(); p != nil { // an order cannot fail: the statement fails at its next step
			fn.c.err = sqlerr.FromPanic(p)
			C.sqlite3_interrupt(fn.c.db)
		}
	}()
	return C.int(fn.compare(unsafe.Slice((*byte)(a), int(n)), unsafe.Slice((*byte)(b), int(m))))
}
