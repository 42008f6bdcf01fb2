package tensor

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// spilled are the live buffers that lie in files, with the bytes of such buffers that may be resident at once.
var spilled struct {
	sync.Mutex
	window  map[*Buffer]int64
	watched bool // watch runs
}

var (
	spilledBytes atomic.Int64 // of all live buffers

	otherFiles  atomic.Int64 // resident bytes of other files, such as the program's own
	spillWindow atomic.Int64 // the least window of the live buffers; 0: there are none
	trims       atomic.Int64
	rowReads    atomic.Int64
)

// NewSpill maps at least n zeroed bytes of a temporary file in dir, which has no name and is gone with the buffer or
// the process. The file's space is taken at once, so that a full disk is an error here. What is touched is resident
// until Trim releases it: window is how many bytes may be, of all spilled buffers together.
func NewSpill(dir string, n int, window int64) (*Buffer, error) {
	const page = 4096
	n = (max(n, 1) + page - 1) / page * page
	mem, file, err := mapFile(dir, n)
	if err != nil {
		return nil, fmt.Errorf("tensor: cannot spill %d bytes to %s: %w", n, dir, err)
	}
	liveBuffers.Add(1)
	liveBytes.Add(int64(n))
	spilledBytes.Add(int64(n))
	b := &Buffer{mem: mem, spilled: true, file: file}
	spilled.Lock()
	defer spilled.Unlock()
	if len(spilled.window) == 0 {
		spilled.window = map[*Buffer]int64{}
		otherFiles.Store(residentFiles())
	}
	if !spilled.watched {
		spilled.watched = true
		go watch()
	}
	spilled.window[b] = max(window, 1)
	leastWindow()
	return b, nil
}

// SpilledBytes is the size of all live buffers in files.
func SpilledBytes() int64 { return spilledBytes.Load() }

// watch trims while there are spilled buffers: who runs over blocks of rows trims after each, but some loops are long.
func watch() {
	for tick := time.NewTicker(2 * time.Millisecond); ; {
		<-tick.C
		Trim()
		spilled.Lock()
		spilled.watched = len(spilled.window) > 0
		on := spilled.watched
		spilled.Unlock()
		if !on {
			tick.Stop()
			return
		}
	}
}

// leastWindow brings spillWindow up to date.
func leastWindow() {
	least := int64(math.MaxInt64)
	for _, w := range spilled.window {
		least = min(least, w)
	}
	if len(spilled.window) == 0 {
		least = 0
	}
	spillWindow.Store(least)
}

// forget takes a buffer that is freed out of the list.
func forget(b *Buffer) {
	spilled.Lock()
	defer spilled.Unlock()
	delete(spilled.window, b)
	leastWindow()
}

// ReadRows copies rows of size bytes each to out: row r is row at[r] of those that begin at byte off, or zeros where
// at[r] is negative. It reads the file of a spilled buffer, so that none of its pages becomes resident. Every at[r]
// must be a row of the buffer.
func (b *Buffer) ReadRows(out []byte, off int, at []int32, size int) error {
	rowReads.Add(1)
	for r := 0; r < len(at); {
		to := r + 1
		for at[r] >= 0 && to < len(at) && at[to] == at[to-1]+1 { // rows that follow each other are one read
			to++
		}
		dst := out[r*size : to*size]
		if at[r] < 0 {
			clear(dst)
		} else if err := readFile(b.file, dst, int64(off+int(at[r])*size)); err != nil {
			return fmt.Errorf("tensor: cannot read %d bytes of a temporary file: %w", len(dst), err)
		}
		r = to
	}
	return nil
}

// Spilled reports whether the buffer lies in a file.
func (b *Buffer) Spilled() bool { return b != nil && b.spilled }

// Trim releases the resident pages of all spilled buffers where they are more than the window. Nothing is lost, and
// others may read and write meanwhile: a page that is touched again comes back from the file. It costs about a
// microsecond where there is nothing to do.
func Trim() {
	window := spillWindow.Load()
	if window == 0 || residentFiles()-otherFiles.Load() <= window {
		return
	}
	spilled.Lock()
	defer spilled.Unlock()
	if residentFiles()-otherFiles.Load() <= window { // another worker was faster
		return
	}
	for b := range spilled.window {
		releaseMemory(b.mem)
	}
	trims.Add(1)
	otherFiles.Store(residentFiles())
}

// Trims counts how often Trim released pages, for tests and measurements.
func Trims() int64 { return trims.Load() }

// RowReads counts the calls of ReadRows, for tests and measurements.
func RowReads() int64 { return rowReads.Load() }
