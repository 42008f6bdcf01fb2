package lite

/*
#include "api.h"
#include <stdlib.h>
*/
import "C"

import (
	"runtime"
	"unsafe"
)

// Reader reads values of one column where they are stored, without a copy in SQLite
// (https://sqlite.org/c3ref/blob_open.html).
type Reader struct {
	c                 *Conn
	p                 *C.sqlite3_blob
	db, table, column string
}

// Reader makes a Reader of a column of BLOBs, in a table of database db ("main" or "temp").
func (c *Conn) Reader(db, table, column string) *Reader {
	return &Reader{c: c, db: db, table: table, column: column}
}

// Row goes to the row with an id and returns the bytes of its value, which must be a BLOB.
func (b *Reader) Row(id int64) (int, error) {
	if b.p != nil {
		if rc := C.sqlite3_blob_reopen(b.p, C.sqlite3_int64(id)); rc != C.SQLITE_OK {
			return 0, b.c.failure(rc)
		}
		return int(C.sqlite3_blob_bytes(b.p)), nil
	}
	db, table, column := C.CString(b.db), C.CString(b.table), C.CString(b.column)
	defer C.free(unsafe.Pointer(db))
	defer C.free(unsafe.Pointer(table))
	defer C.free(unsafe.Pointer(column))
	if rc := C.sqlite3_blob_open(b.c.db, db, table, column, C.sqlite3_int64(id), 0, &b.p); rc != C.SQLITE_OK {
		return 0, b.c.failure(rc)
	}
	return int(C.sqlite3_blob_bytes(b.p)), nil
}

// Read fills p with the value's bytes from off on.
func (b *Reader) Read(p []byte, off int) error {
	if len(p) == 0 {
		return nil
	}
	rc := C.sqlite3_blob_read(b.p, unsafe.Pointer(&p[0]), C.int(len(p)), C.int(off))
	runtime.KeepAlive(p)
	if rc != C.SQLITE_OK {
		return b.c.failure(rc)
	}
	return nil
}

// Close ends reading; b may be nil.
func (b *Reader) Close() {
	if b != nil && b.p != nil {
		C.sqlite3_blob_close(b.p)
		b.p = nil
	}
}
