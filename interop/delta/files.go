package delta

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// Files is where a table lies. Names are relative to the table, with slashes. Several goroutines may get files at once.
type Files interface {
	// List lists the files whose names begin with prefix and are greater than after, in the order of their names.
	List(prefix, after string) ([]Info, error)
	// Get reads n bytes from a place of a file, all that follow if n is negative. A missing file is fs.ErrNotExist, a
	// shorter one io.ErrUnexpectedEOF.
	Get(name string, from, n int64) ([]byte, error)
	// Put writes a file, or replaces it. At any time the file is the old or the new one.
	Put(name string, data []byte) error
	// PutIfAbsent writes a file unless there is one: then the error is fs.ErrExist. The file is durable when it returns.
	PutIfAbsent(name string, data []byte) error
	// Delete deletes a file; that it is missing is no error.
	Delete(name string) error
}

// Info describes a file.
type Info struct {
	Name     string
	Size     int64
	Modified time.Time
}

// Local is a table in a folder of this machine.
type Local struct {
	dir string
	// pause, if it is not nil, is called before and after each step that changes the folder.
	pause func()
}

// NewLocal returns the table of a folder, which need not exist.
func NewLocal(dir string) *Local { return &Local{dir: dir} }

// Dir is the folder.
func (l *Local) Dir() string { return l.dir }

// temporary begins the names of files that are not complete. Other programs ignore names that begin with a dot.
const temporary = ".relgrad-"

func (l *Local) step() {
	if l.pause != nil {
		l.pause()
	}
}

func (l *Local) path(name string) string { return filepath.Join(l.dir, filepath.FromSlash(name)) }

// List implements Files.
func (l *Local) List(prefix, after string) (out []Info, err error) {
	top := l.dir
	if i := strings.LastIndexByte(prefix, '/'); i >= 0 {
		top = l.path(prefix[:i])
	}
	err = filepath.WalkDir(top, func(p string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) { // deleted since its folder was read, or the folder itself
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(l.dir, p)
		if name = filepath.ToSlash(name); err != nil || !strings.HasPrefix(name, prefix) || name <= after {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			out = append(out, Info{name, info.Size(), info.ModTime()})
		}
		return err
	})
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out, failed(err, "could not list \"%s\"", top)
}

// Get implements Files.
func (l *Local) Get(name string, from, n int64) ([]byte, error) { return l.get(name, from, n, nil) }

// get reads into b, if that has room.
func (l *Local) get(name string, from, n int64, b []byte) ([]byte, error) {
	f, err := os.Open(l.path(name))
	if err != nil {
		return nil, failed(err, "could not open \"%s\"", l.path(name))
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, failed(err, "could not read \"%s\"", l.path(name))
	}
	if n < 0 {
		n = max(info.Size()-from, 0)
	}
	if from < 0 || from+n > info.Size() {
		return nil, sqlerr.New(sqlerr.DataCorrupted, "file \"%s\" has %d bytes, no %d from byte %d", l.path(name),
			info.Size(), n, from).Wrap(io.ErrUnexpectedEOF)
	}
	if int64(cap(b)) < n {
		b = make([]byte, n)
	}
	b = b[:n]
	_, err = f.ReadAt(b, from)
	return b, failed(err, "could not read \"%s\"", l.path(name))
}

// Put implements Files.
func (l *Local) Put(name string, data []byte) error { return l.write(name, data, os.Rename) }

// PutIfAbsent implements Files.
func (l *Local) PutIfAbsent(name string, data []byte) error { return l.write(name, data, os.Link) }

// write writes a temporary file and gives it its name.
func (l *Local) write(name string, data []byte, place func(from, to string) error) error {
	to := l.path(name)
	dir := filepath.Dir(to)
	if err := l.makeDir(dir); err != nil {
		return failed(err, "could not create the folder \"%s\"", dir)
	}
	from := filepath.Join(dir, temporary+unique()+".tmp")
	defer os.Remove(from)
	l.step()
	f, err := os.OpenFile(from, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err == nil {
		_, err = f.Write(data)
		err = errors.Join(err, f.Sync(), f.Close())
	}
	if err == nil {
		l.step()
		err = place(from, to)
	}
	if err == nil {
		l.step()
		err = syncDir(dir)
	}
	l.step()
	return failed(err, "could not write \"%s\"", to)
}

// makeDir creates a folder and those around it, each durable before the next.
func (l *Local) makeDir(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if parent := filepath.Dir(dir); parent != dir {
		if err := l.makeDir(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(filepath.Dir(dir))
}

func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// Delete implements Files.
func (l *Local) Delete(name string) error {
	l.step()
	err := os.Remove(l.path(name))
	l.step()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return failed(err, "could not delete \"%s\"", l.path(name))
}

// unique returns a random UUID.
func unique() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	b[6], b[8] = b[6]&15|64, b[8]&63|128
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// failed is the error of an operation on files; nil where err is nil.
func failed(err error, format string, args ...any) error {
	var e *sqlerr.Error
	if err == nil || errors.As(err, &e) {
		return err
	}
	code := sqlerr.IO
	if errors.Is(err, fs.ErrNotExist) {
		code = sqlerr.UndefinedFile
	}
	return sqlerr.New(code, format+": %v", append(args, err)...).Wrap(err)
}

// opened is a file of the table, for reading at places.
type opened struct {
	files Files
	name  string
	size  int64
}

// ReadAt implements io.ReaderAt.
func (o *opened) ReadAt(b []byte, at int64) (int, error) {
	n := min(int64(len(b)), o.size-at)
	if n <= 0 {
		return 0, io.EOF
	}
	var got []byte
	var err error
	if l, ok := o.files.(*Local); ok { // without a copy
		got, err = l.get(o.name, at, n, b[:n:n])
	} else {
		got, err = o.files.Get(o.name, at, n)
		copy(b, got)
	}
	if err == nil && n < int64(len(b)) {
		err = io.EOF
	}
	return len(got), err
}
