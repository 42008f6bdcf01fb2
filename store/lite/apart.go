//go:build cgo

package lite

/*
#include "api.h"
#include <stdlib.h>
*/
import "C"

import (
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// A call that may take long runs apart: on another goroutine and on copies of its arguments. An interrupt ends the
// statement at once. The abandoned call goes on; its result is dropped and its memory freed when it ends. The next such
// call waits for that, so that at most one is abandoned.

// look is how often a call that runs apart checks for an interrupt.
const look = 5 * time.Millisecond

// piece is how many bytes are copied between two checks.
const piece = 16 << 20

// stepBytes are the bytes of an aggregate's arguments from which one step runs apart.
const stepBytes = 8 << 20

// interruption is the message of an interrupted call. It begins with its SQLSTATE, so that nothing has to be
// remembered, which another statement might find.
const interruption = sqlerr.QueryCanceled + " canceling statement due to user request"

// Heavy is a State whose Value may take long.
type Heavy interface{ Heavy() bool }

// gone is the state of a group that an abandoned call still uses.
type gone struct{}

func (gone) Step([]Cell) error    { return errGone }
func (gone) Inverse([]Cell) error { return errGone }
func (gone) Value(Result) error   { return errGone }

var errGone = sqlerr.Canceled(nil)

// interrupted reports whether there has been an Interrupt without its Resume.
func (c *Conn) interrupted() bool {
	return atomic.LoadInt32((*int32)(unsafe.Pointer(&c.wait.interrupts))) != 0
}

func bytesOf(args []Cell) (n int) {
	for i := range args {
		n += len(args[i].Bytes())
	}
	return n
}

// copied copies arguments into Go's memory. It returns nil after an interrupt.
func (c *Conn) copied(args []Cell) []Cell {
	own := make([]Cell, len(args))
	copy(own, args)
	for i := range own {
		from := args[i].Bytes()
		if len(from) == 0 {
			continue
		}
		to := make([]byte, len(from))
		for at := 0; at < len(from); at += piece {
			if c.interrupted() {
				return nil
			}
			copy(to[at:], from[at:min(at+piece, len(from))])
		}
		own[i].p = unsafe.Pointer(unsafe.SliceData(to))
	}
	return own
}

// apart runs f. done is false if an interrupt came first.
func (c *Conn) apart(args []Cell, r Result, f func([]Cell, Result) error) (done bool, err error) {
	for c.behind.Load() {
		if c.interrupted() {
			return false, nil
		}
		time.Sleep(time.Millisecond)
	}
	own := c.copied(args)
	if own == nil || c.interrupted() {
		return false, nil
	}
	res := Result{new(C.rg_cell), (*C.rg_arena)(C.calloc(1, C.sizeof_rg_arena))}
	res.cell.kind = C.int32_t(Null)
	var second atomic.Bool // set by the first of the two: the end of the call, or the interrupt
	end, behind := make(chan error, 1), c.behind
	go func() {
		err := rescued(func() error { return f(own, res) })
		if second.Swap(true) {
			res.free()
			behind.Store(false)
			return
		}
		end <- err
	}()
	for timer := time.NewTimer(look); ; timer.Reset(look) {
		select {
		case err := <-end:
			timer.Stop()
			*r.cell = *res.cell
			*r.arena, *res.arena = *res.arena, *r.arena
			res.free()
			return true, err
		case <-timer.C:
			if !c.interrupted() {
				continue
			}
			behind.Store(true)
			if !second.Swap(true) {
				return false, nil
			}
			behind.Store(false)
		}
	}
}

func (r Result) free() {
	C.free(unsafe.Pointer(r.arena.p))
	C.free(unsafe.Pointer(r.arena))
}

func rescued(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = sqlerr.FromPanic(p)
		}
	}()
	return f()
}
