package delta

import (
	"bytes"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// Memory is a table in memory, by the names of its files: for tables that need not be kept. One goroutine may use it
// at a time.
type Memory map[string][]byte

// List implements Files.
func (m Memory) List(prefix, after string) (out []Info, err error) {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if strings.HasPrefix(name, prefix) && name > after {
			out = append(out, Info{Name: name, Size: int64(len(m[name]))})
		}
	}
	return out, nil
}

// Get implements Files.
func (m Memory) Get(name string, from, n int64) ([]byte, error) {
	b, ok := m[name]
	if !ok {
		return nil, failed(fs.ErrNotExist, "could not open \"%s\"", name)
	}
	if n < 0 {
		n = max(int64(len(b))-from, 0)
	}
	if from < 0 || from+n > int64(len(b)) {
		return nil, sqlerr.New(sqlerr.DataCorrupted, "file \"%s\" has %d bytes, no %d from byte %d", name, len(b), n, from).
			Wrap(io.ErrUnexpectedEOF)
	}
	return b[from : from+n], nil
}

// Put implements Files.
func (m Memory) Put(name string, data []byte) error {
	m[name] = bytes.Clone(data)
	return nil
}

// PutIfAbsent implements Files.
func (m Memory) PutIfAbsent(name string, data []byte) error {
	if _, ok := m[name]; ok {
		return failed(fs.ErrExist, "could not write \"%s\"", name)
	}
	return m.Put(name, data)
}

// Delete implements Files.
func (m Memory) Delete(name string) error {
	delete(m, name)
	return nil
}
