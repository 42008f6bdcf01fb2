package relgrad

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/engine"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/interop"
	"github.com/relgrad/relgrad/interop/csvfile"
	"github.com/relgrad/relgrad/interop/delta"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// fileFunc runs file_table('file') in FROM, which FROM 'file' stands for. A relative name begins at dir.
func fileFunc(ctx context.Context, call *ast.FuncCall, needs ast.Needs, dir string) (*catalog.Relation, error) {
	args, err := engine.ReadArgs(call, []string{"file"}, 0)
	if err != nil {
		return nil, err
	}
	name := args.Text("file")
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	r, err := fileRelation(ctx, path, needs)
	return r, engine.At(inFolder(err, name), args.Position("file"))
}

// fileRelation reads what a statement needs of a file.
func fileRelation(ctx context.Context, path string, needs ast.Needs) (*catalog.Relation, error) {
	in, err := openTable(ctx, path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	cols := needed(in.Columns(), needs)
	if err := interop.Readable(path, cols); err != nil {
		return nil, err
	}
	if needs.Typed {
		return collect(ctx, cols, noRows{})
	}
	rows, err := in.Rows(cols)
	if err != nil {
		return nil, err
	}
	return collect(ctx, cols, rows)
}

// openTable opens a file by the format that its name tells. A pattern names csv files, or one of another format.
func openTable(ctx context.Context, path string) (interop.Reader, error) {
	files, err := csvfile.Matching(path)
	if err != nil {
		return nil, err
	}
	path = files[0]
	format := interop.FormatOf(path)
	switch other := slices.IndexFunc(files, func(f string) bool { return !csvfile.Is(f) }); {
	case other < 0:
		return csvfile.Open(ctx, files, csvfile.Options{})
	case len(files) > 1:
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "%d files cannot be one table, for \"%s\" is no csv file",
			len(files), files[other]).
			WithHint("Several csv files can. Write (SELECT … UNION ALL SELECT …) of these.")
	}
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		e := sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is a folder", path)
		if ok, _ := delta.Exists(delta.NewLocal(path)); ok {
			e = e.WithHint("It holds a table of Delta Lake: FROM delta_table('%s').", path)
		}
		return nil, e
	}
	if format == "" {
		return nil, sqlerr.New(sqlerr.InvalidParameter, "\"%s\" does not tell its format", path).
			WithHint("Names of files in FROM end in .csv, .tsv, .csv.gz, .csv.zst, .parquet, .arrow, .npy, .npz or " +
				".safetensors.")
	}
	f, err := os.Open(path)
	if err != nil {
		var p *os.PathError
		if errors.As(err, &p) {
			err = p.Err
		}
		return nil, sqlerr.New(sqlerr.UndefinedFile, "could not open file \"%s\" for reading: %v", path, err)
	}
	in, err := openFile(f, format, path, interop.Options{})
	if err != nil {
		f.Close()
		return nil, err
	}
	return closing{in, f}, nil
}

// closing closes a reader's file too.
type closing struct {
	interop.Reader
	file *os.File
}

// Close implements interop.Reader.
func (c closing) Close() error { return errors.Join(c.Reader.Close(), c.file.Close()) }
