package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/relgrad/relgrad"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/interop"
	"github.com/relgrad/relgrad/interop/csvfile"
	"github.com/relgrad/relgrad/interop/delta/places"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

var importCommand = command{name: "import", args: "--store FILE|--db DSN [options] FILE…|DIR|URL[@VERSION] TABLE",
	run: importFile, summary: "Load a file (npy, npz, safetensors, arrow, parquet, csv), or a folder or bucket (delta), " +
		"into a table, which is created where it is absent. Several csv files, or a pattern of their names, fill one " +
		"table; they may be compressed (gz, zst). A .tsv file is csv with tabs."}

var exportCommand = command{name: "export", args: "--store FILE|--db DSN [options] TABLE… FILE|DIR|URL",
	run: exportFile, summary: "Write tables to a file (npy, npz, safetensors, arrow, parquet, csv), which is compressed " +
		"where its name ends in .csv.gz or .csv.zst, or one table to a folder or bucket (delta)."}

// fileFlags are the flags that both commands have.
type fileFlags struct {
	target
	relgrad.FileOptions
}

func (f *fileFlags) flags(fs *flag.FlagSet) {
	f.storeFlags(fs)
	formats := append([]string{"csv"}, ast.AllFormats()...)
	fs.Func("format", "the file's `FORMAT` (default: by its extension): "+strings.Join(formats, ", "),
		oneOf(&f.Format, formats))
	fs.Func("delimiter", "the `CHAR` that separates a csv file's fields, or tab (default: a tab in a .tsv file, "+
		"else a comma)", func(s string) error {
		switch f.Delimiter = s; s {
		case "":
			return errors.New("a character, or tab, is needed")
		case "tab", `\t`:
			f.Delimiter = "\t"
		}
		return nil
	})
	fs.StringVar(&f.Tensor, "tensor", "", "the tensor `NAME` of a table of Delta Lake, instead of the table's rows")
	fs.BoolVar(&f.Whole, "whole", false,
		"each array of the file is one chunk of a single row, instead of rows along its first dimension")
}

// check adds to the options what the file's name tells, and checks them.
func (f *fileFlags) check(ctx context.Context, c *command, fs *flag.FlagSet, file string) error {
	if f.store == "" && f.db == nil {
		return c.wrong(fs, "--store FILE or --db DSN is needed: the store or server that holds the table")
	}
	if err := f.target.check(c, fs); err != nil {
		return err
	}
	if err := f.formatOf(ctx, file); err != nil {
		return err
	}
	if !f.isFolder() && (f.Tensor != "" || f.Slice != "" || f.Layout != "" || f.Shape != nil) {
		return c.wrong(fs, "--tensor and what belongs to it are for the format delta")
	}
	if f.Tensor == "" && (f.Slice != "" || f.Layout != "" || f.Shape != nil) {
		return c.wrong(fs, "--slice, --layout and --shape need --tensor NAME")
	}
	return nil
}

// formatOf finds the format where it is not given. At a URL there can be nothing but a table of Delta Lake.
func (f *fileFlags) formatOf(ctx context.Context, file string) error {
	url := places.IsURL(file)
	if f.Format == "" && !url {
		if f.Format = interop.FormatOf(file); csvfile.Is(file) {
			f.Format = "csv"
		}
	}
	if f.Format == "" {
		if is, err := relgrad.IsDelta(ctx, file); err != nil {
			return err
		} else if is {
			f.Format = "delta"
		}
	}
	switch {
	case url && f.Format == "":
		return sqlerr.New(sqlerr.UndefinedTable, "there is no table of Delta Lake at \"%s\"", file).
			WithHint("An export with --format delta makes one.")
	case url && !f.isFolder():
		return sqlerr.New(sqlerr.FeatureNotSupported, "\"%s\" is a URL, where the format %s cannot be read or written", file,
			f.Format).WithHint("Tables of Delta Lake can be at URLs, files of other formats on this machine only.")
	case f.Format == "":
		return sqlerr.New(sqlerr.InvalidParameter, "\"%s\" does not tell its format", file).
			WithHint("Name it with --format: csv, %s.", strings.Join(ast.AllFormats(), ", "))
	}
	return nil
}

func (f *fileFlags) isFolder() bool { return slices.Contains(ast.FolderFormats, f.Format) }

// withStore opens the store for f and closes it afterwards.
func (f *fileFlags) withStore(do func(*relgrad.DB) error) (err error) {
	db, err := f.open()
	if err != nil {
		return err
	}
	defer func() {
		if e := db.Close(); err == nil {
			err = e
		}
	}()
	return do(db)
}

func importFile(ctx context.Context, c *command, args []string) error {
	fs := c.flags()
	var f fileFlags
	f.flags(fs)
	rows := fs.Bool("rows", false, "each slice along the first dimension is a row (the default; not with --whole)")
	fs.StringVar(&f.Index, "index", "",
		"the `COLUMN` that takes a row's position, from 0 (default for a new table without a key: id)")
	fs.StringVar(&f.Slice, "slice", "", "read the part `SLICE` of the tensor, as NumPy writes it: '0:100, :, 3'")
	key := fs.String("key", "", "the primary key of a new table: `COLUMNS` of the file, separated by commas "+
		"(default of a csv file: the first columns that tell its rows apart)")
	fs.StringVar(&f.Types, "types", "",
		"`TYPES` of a csv file's columns, 'a integer, b real' (default of the others: what holds all values)")
	fs.StringVar(&f.Null, "null", "", "a field of a csv file that is `TEXT` is NULL, as an empty one is")
	rest, err := parse(c, fs, args)
	if err != nil {
		return err
	}
	switch {
	case len(rest) < 2:
		return c.wrong(fs, "a FILE and a TABLE are needed, not %d arguments", len(rest))
	case *rows && f.Whole:
		return c.wrong(fs, "--rows and --whole exclude each other")
	}
	files, err := matching(rest[:len(rest)-1])
	if err != nil {
		return err
	}
	rest = []string{files[0], rest[len(rest)-1]}
	if f.isFolder() || f.Format == "" {
		name, version, _, err := atVersion(ctx, rest[0])
		if err != nil {
			return err
		}
		rest[0], f.Version = name, version
	}
	if err := f.check(ctx, c, fs, rest[0]); err != nil {
		return err
	}
	if *key != "" {
		f.Key = strings.Split(*key, ",")
	}
	var created []string
	f.Created = func(sql string) { created = append(created, sql) }
	load := func(db *relgrad.DB) (int64, error) { return db.ImportFolder(ctx, rest[0], rest[1], f.FileOptions) }
	switch {
	case f.Format == "csv":
		load = func(db *relgrad.DB) (int64, error) { return db.ImportCSV(ctx, files, rest[1], f.FileOptions) }
	case len(files) > 1:
		return sqlerr.New(sqlerr.FeatureNotSupported, "%d files cannot be one table in the format %s", len(files), f.Format).
			WithHint("Several csv files can. Import these one after the other.")
	case !f.isFolder():
		file, err := os.Open(rest[0])
		if err != nil {
			return sqlerr.New(sqlerr.UndefinedFile, "could not open file \"%s\" for reading", rest[0]).Wrap(err)
		}
		defer file.Close()
		load = func(db *relgrad.DB) (int64, error) { return db.Import(ctx, file, rest[0], rest[1], f.FileOptions) }
	}
	if f.db != nil {
		return f.sendToServer(ctx, rest[1], load, &created)
	}
	return f.withStore(func(db *relgrad.DB) error {
		n, err := load(db)
		if err == nil {
			loaded(created, n)
		}
		return err
	})
}

// loaded prints what an import has done.
func loaded(created []string, n int64) {
	for _, sql := range created {
		if !strings.HasPrefix(sql, "--") {
			sql += ";"
		}
		fmt.Println(sql)
	}
	fmt.Printf("COPY %d\n", n)
}

// matching lists the files that names and patterns mean, in the order of the names.
func matching(args []string) (files []string, err error) {
	for _, a := range args {
		if places.IsURL(a) {
			files = append(files, a)
			continue
		}
		found, err := csvfile.Matching(a)
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	for i, f := range files {
		if slices.Contains(files[:i], f) {
			return nil, sqlerr.New(sqlerr.InvalidParameter, "file \"%s\" is named twice", f)
		}
	}
	return files, nil
}

func exportFile(ctx context.Context, c *command, args []string) (err error) {
	fs := c.flags()
	var f fileFlags
	f.flags(fs)
	layoutFlags(fs, &f)
	rest, err := parse(c, fs, args)
	if err != nil {
		return err
	}
	if len(rest) < 2 {
		return c.wrong(fs, "a TABLE and a FILE are needed, not %d arguments", len(rest))
	}
	name := rest[len(rest)-1]
	if err := f.check(ctx, c, fs, name); err != nil {
		return err
	}
	if f.isFolder() {
		return f.exportFolder(ctx, c, fs, rest[:len(rest)-1], name)
	}
	// an existing file stays until the new one is complete
	out, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return sqlerr.New(sqlerr.UndefinedFile, "could not open file \"%s\" for writing", name).Wrap(err)
	}
	defer os.Remove(out.Name())
	defer out.Close()
	return f.withTables(ctx, rest[:len(rest)-1], func(db *relgrad.DB) error {
		n, err := db.Export(ctx, out, name, f.FileOptions, rest[:len(rest)-1]...)
		if err != nil {
			return err
		}
		if err := out.Chmod(0o644); err != nil {
			return err
		}
		if err := out.Close(); err != nil {
			return err
		}
		if err := os.Rename(out.Name(), name); err != nil {
			return err
		}
		fmt.Printf("COPY %d\n", n)
		return nil
	})
}
