package tensor

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"unsafe"
)

// TestSpill: a buffer in a file keeps what is written, whatever is released, and leaves no file.
func TestSpill(t *testing.T) {
	dir := t.TempDir()
	count, bytes := LiveBuffers()
	const n, window = 4 << 20, 1 << 20 // numbers, bytes
	b, err := NewSpill(dir, 8*n, window)
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip("spilling exists on Linux only")
	}
	if err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("the file has a name: %v %v", left, err)
	}
	f, before := View[float64](b, 0, n), Trims()
	for i := range f {
		if f[i] += float64(i); i%(1<<15) == 0 {
			Trim()
		}
	}
	if Trims() == before {
		t.Errorf("%d bytes were written with a window of %d, and no page was released", 8*n, window)
	}
	for i, x := range f {
		if x != float64(i) {
			t.Fatalf("element %d is %v", i, x)
		}
	}
	rows := make([]float64, 4*2)
	if err := b.ReadRows(unsafe.Slice((*byte)(unsafe.Pointer(&rows[0])), 8*len(rows)), 8,
		[]int32{n/2 - 2, -1, 3, 4}, 16); err != nil {
		t.Fatal(err)
	}
	if want := []float64{n - 3, n - 2, 0, 0, 7, 8, 9, 10}; !slices.Equal(rows, want) {
		t.Errorf("rows that are read are %v, not %v", rows, want)
	}
	if !b.Spilled() {
		t.Error("the buffer does not say that it lies in a file")
	}
	b.Free()
	if c, left := LiveBuffers(); c != count || left != bytes || spillWindow.Load() != 0 {
		t.Errorf("%d buffers, %d bytes are left, the window is %d", c-count, left-bytes, spillWindow.Load())
	}
	if _, err := NewSpill(filepath.Join(dir, "absent"), 1, window); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that does not exist: %v", err)
	}
}
