package bench

import (
	"archive/zip"
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unsafe"
)

// Column is an array of a data file: rows along its first dimension, as `\copy … WITH (FORMAT npz)` and NumPy read it.
type Column struct {
	Name  string
	Shape []int
	Data  any // []float32, []int32 or []bool, as long as the product of Shape
}

// writeNpz writes arrays to an uncompressed npz file, which gets its name when it is complete.
func writeNpz(file string, columns ...Column) (err error) {
	f, err := os.CreateTemp(filepath.Dir(file), "part")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	z := zip.NewWriter(f)
	for _, c := range columns {
		w, err := z.CreateHeader(&zip.FileHeader{Name: c.Name + ".npy", Method: zip.Store})
		if err != nil {
			return err
		}
		if err := writeNpy(w, c); err != nil {
			return fmt.Errorf("%s, array %s: %w", file, c.Name, err)
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), file)
}

// writeNpy writes an array of version 1.0 (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html).
func writeNpy(w io.Writer, c Column) error {
	code, raw := "", []byte(nil)
	n := 0
	switch x := c.Data.(type) {
	case []float32:
		code, n, raw = "<f4", len(x), bytesOf(x)
	case []int32:
		code, n, raw = "<i4", len(x), bytesOf(x)
	case []bool:
		code, n, raw = "|b1", len(x), bytesOf(x)
	default:
		return fmt.Errorf("elements of %T", c.Data)
	}
	size, dims := 1, make([]string, len(c.Shape))
	for i, d := range c.Shape {
		size *= d
		dims[i] = fmt.Sprintf("%d,", d)
	}
	if size != n {
		return fmt.Errorf("%d elements for shape %v", n, c.Shape)
	}
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", code, strings.Join(dims, " "))
	header += strings.Repeat(" ", 63-(len(header)+10)%64) + "\n" // elements begin at a multiple of 64
	b := bufio.NewWriterSize(w, 1<<20)
	b.WriteString("\x93NUMPY\x01\x00")
	b.Write(binary.LittleEndian.AppendUint16(nil, uint16(len(header))))
	b.WriteString(header)
	b.Write(raw)
	return b.Flush()
}

// bytesOf is the memory of x. Like all of relgrad, it needs a little-endian machine.
func bytesOf[T float32 | int32 | bool](x []T) []byte {
	if len(x) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), len(x)*int(unsafe.Sizeof(x[0])))
}
