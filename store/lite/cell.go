//go:build cgo

package lite

/*
#include "api.h"
static sqlite3_destructor_type rg_transient(void) { return SQLITE_TRANSIENT; }
*/
import "C"

import (
	"bytes"
	"math"
	"slices"
	"unsafe"
)

// Kinds of a Cell: SQLite's fundamental types.
const (
	Integer int32 = 1
	Float   int32 = 2
	Text    int32 = 3
	Blob    int32 = 4
	Null    int32 = 5
)

var transient = C.rg_transient()

// Cell is one SQL value.
type Cell C.rg_cell

// Kind returns the type of the value.
func (c *Cell) Kind() int32 { return int32(c.kind) }

// IsNull reports whether the value is NULL.
func (c *Cell) IsNull() bool { return int32(c.kind) == Null }

// Int returns an INTEGER, or a FLOAT truncated.
func (c *Cell) Int() int64 {
	if int32(c.kind) == Float {
		return int64(c.d)
	}
	return int64(c.i)
}

// Float returns a number as float64; NaN for anything else.
func (c *Cell) Float() float64 {
	switch int32(c.kind) {
	case Float:
		return float64(c.d)
	case Integer:
		return float64(c.i)
	}
	return math.NaN()
}

// Copies returns copies of values, which stay when the call that got them has ended.
func Copies(cells []Cell) []Cell {
	out := slices.Clone(cells)
	for i := range out {
		if b := out[i].Bytes(); len(b) > 0 {
			out[i].p = unsafe.Pointer(unsafe.SliceData(bytes.Clone(b)))
		}
	}
	return out
}

// Bytes returns the bytes of TEXT or BLOB, without a copy.
func (c *Cell) Bytes() []byte {
	if k := int32(c.kind); c.p == nil || k != Text && k != Blob {
		return nil
	}
	return unsafe.Slice((*byte)(c.p), int(c.n))
}

// String returns a copy of the bytes.
func (c *Cell) String() string { return string(c.Bytes()) }
