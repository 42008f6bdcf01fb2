package relgrad

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/interop"
	"github.com/relgrad/relgrad/interop/delta"
	"github.com/relgrad/relgrad/interop/delta/layouts"
	"github.com/relgrad/relgrad/interop/delta/places"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// ImportFolder is Import from a folder that holds a table, such as one of Delta Lake.
func (db *DB) ImportFolder(ctx context.Context, dir, table string, o FileOptions) (n int64, err error) {
	defer func() { err = sqlerr.From(unplaced(err)) }()
	defer db.rescue(db.InTransaction(), &err)
	c, text, err := copyOf(table, dir, o)
	if err != nil {
		return 0, err
	}
	return db.importFrom(ctx, c, text, dir, o, nil)
}

// ExportFolder is Export to a folder. An existing table gets a new version, which has the rows in place of those
// before; said tells so, or how a tensor was stored. An error leaves the table as it was.
func (db *DB) ExportFolder(ctx context.Context, dir, table string, o FileOptions) (n int64, said string, err error) {
	defer func() { err = sqlerr.From(unplaced(err)) }()
	defer db.rescue(db.InTransaction(), &err)
	if o.Index != "" || o.Key != nil {
		return 0, "", sqlerr.New(sqlerr.FeatureNotSupported, "index and key have no meaning for an export")
	}
	c, text, err := copyOf(table, dir, o)
	if err != nil {
		return 0, "", err
	}
	return db.writeFolder(ctx, c, text)
}

// copyFolder runs COPY with a folder.
func (db *DB) copyFolder(ctx context.Context, c *ast.Copy, text *ast.Text) (*catalog.Result, error) {
	if !c.From {
		n, said, err := db.writeFolder(ctx, c, text)
		if err != nil {
			return nil, err
		}
		return &catalog.Result{Tag: fmt.Sprintf("COPY %d", n), Count: n, Notice: said}, nil
	}
	in, err := db.openFolder(ctx, c)
	if err != nil {
		return nil, sqlerr.In(err, text)
	}
	defer in.Close()
	n, err := db.load(ctx, c, text, in, c.Source)
	if err != nil {
		return nil, err
	}
	return &catalog.Result{Tag: fmt.Sprintf("COPY %d", n), Count: n}, nil
}

// openFolder opens the table, or the tensor in it, that a COPY reads.
func (db *DB) openFolder(ctx context.Context, c *ast.Copy) (interop.Reader, error) {
	s, _, err := openDelta(ctx, db.Dir, c.Source, c.Options.Folder.Version)
	if err != nil {
		return nil, err
	}
	if c.Options.Folder.Tensor == "" {
		return delta.NewReader(s), nil
	}
	part, err := layouts.ParseSlice(c.Options.Folder.Slice)
	if err != nil {
		return nil, err
	}
	in, err := layouts.Relation(s, c.Options.Folder.Tensor, part)
	return in, inFolder(err, c.Source)
}

// OpenDelta opens a version of a table of Delta Lake in a folder, whose relative name begins at dir ("" is the
// process's), or at a URL; "" is the newest version. The context ends all that is read of it.
func OpenDelta(ctx context.Context, dir, name, version string) (*delta.Snapshot, error) {
	s, _, err := openDelta(ctx, dir, name, version)
	return s, err
}

// openDelta is OpenDelta. of reports whether an error is about the version.
func openDelta(ctx context.Context, dir, name, version string) (s *delta.Snapshot, of bool, err error) {
	at, err := versionOf(version)
	if err != nil {
		return nil, true, err
	}
	files, err := placeOf(ctx, dir, name)
	if err != nil {
		return nil, false, err
	}
	s, err = delta.Open(files, at)
	return s, version != "" && sqlerr.Code(err) == sqlerr.UndefinedObject, inFolder(err, name)
}

// IsDelta reports whether a folder or a URL holds a table of Delta Lake. A folder that is not there holds none.
func IsDelta(ctx context.Context, name string) (bool, error) {
	files, err := places.Open(ctx, name)
	if err != nil {
		return false, err
	}
	if l, ok := files.(*delta.Local); ok {
		st, err := os.Stat(filepath.Join(l.Dir(), "_delta_log"))
		return err == nil && st.IsDir(), nil
	}
	return delta.Exists(files)
}

// placeOf opens the place of a table that should be there.
func placeOf(ctx context.Context, dir, name string) (delta.Files, error) {
	files, err := places.Open(ctx, places.Resolve(dir, name))
	l, local := files.(*delta.Local)
	if err != nil || !local {
		return files, err
	}
	if st, err := os.Stat(l.Dir()); err != nil {
		var p *fs.PathError
		if errors.As(err, &p) {
			err = p.Err
		}
		return nil, sqlerr.New(sqlerr.UndefinedFile, "could not open folder \"%s\": %v", name, err)
	} else if !st.IsDir() {
		return nil, sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a folder, which a table of Delta Lake is", name)
	}
	return files, nil
}

// versionOf reads the number of a version; "" is the newest.
func versionOf(text string) (delta.At, error) {
	if text == "" {
		return delta.Latest(), nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return delta.At{}, sqlerr.New(sqlerr.InvalidParameter, "\"%s\" is no version of a table", text).
			WithHint("Versions are numbers from 0.")
	}
	return delta.Version(n), nil
}

// inFolder names the folder in an error about it.
func inFolder(err error, dir string) error {
	var e *sqlerr.Error
	if !errors.As(err, &e) || strings.Contains(e.Message, "\""+dir+"\"") {
		return err
	}
	c := *e
	c.Message = "\"" + dir + "\": " + e.Message
	return &c
}

// writeFolder writes a relation to a folder and says what it has done beyond that.
func (db *DB) writeFolder(ctx context.Context, c *ast.Copy, text *ast.Text) (n int64, said string, err error) {
	var sink interop.Sink
	o := c.Options.Folder
	files, err := places.Open(ctx, places.Resolve(db.Dir, c.Source))
	if err != nil {
		return 0, "", sqlerr.In(err, text)
	}
	if o.Tensor != "" {
		sink = layouts.NewSink(files, o.Tensor, o.Shape, layouts.Options{Layout: o.Layout, Replace: true})
	} else {
		sink = delta.NewSink(files, delta.Replace, delta.WriteOptions{})
	}
	name := c.Name
	if n, err = db.writeTo(ctx, sink, name, c, text); err != nil {
		sink.Abort()
		return 0, "", sqlerr.In(inFolder(err, c.Source), text)
	}
	if err := sink.Close(); err != nil {
		return 0, "", sqlerr.In(inFolder(err, c.Source), text)
	}
	switch s := sink.(type) {
	case *layouts.Sink:
		said = fmt.Sprintf("version %d of \"%s\" has tensor \"%s\" in the layout %s, %d elements in %d bytes: %s",
			s.Report.Version, c.Source, o.Tensor, s.Report.Layout, s.Report.Elements, s.Report.Bytes, s.Report.Why)
	case *delta.Sink:
		if before := s.Before(); before != nil {
			said = fmt.Sprintf("version %d of \"%s\" replaces the rows of version %d", s.After.Version, c.Source,
				before.Version)
		}
	}
	return n, said, nil
}

// openImport opens the file of an import, or the folder where f is nil.
func (db *DB) openImport(ctx context.Context, c *ast.Copy, f *os.File, name string) (interop.Reader, error) {
	if c.Options.IsFolder() {
		return db.openFolder(ctx, c)
	}
	return openFile(f, c.Options.Format, name, interop.Options{Whole: c.Options.Whole, Table: c.Name})
}
