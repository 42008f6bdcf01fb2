package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/relgrad/relgrad"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/interop"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

var importCommand = command{name: "import", args: "--store FILE [options] FILE TABLE", run: importFile,
	summary: "Load a file (npy, npz, safetensors, arrow, parquet, csv) into a table, which is created where it is absent."}

var exportCommand = command{name: "export", args: "--store FILE [options] TABLE… FILE", run: exportFile,
	summary: "Write tables to a file (npy, npz, safetensors, arrow, parquet, csv)."}

// fileFlags are the flags that both commands have.
type fileFlags struct {
	target
	relgrad.FileOptions
}

func (f *fileFlags) flags(fs *flag.FlagSet) {
	fs.StringVar(&f.store, "store", "", "the store in `FILE`")
	formats := append([]string{"csv"}, ast.FileFormats...)
	fs.Func("format", "the file's `FORMAT` (default: by its extension): "+strings.Join(formats, ", "),
		oneOf(&f.Format, formats))
	fs.BoolVar(&f.Whole, "whole", false,
		"each array of the file is one chunk of a single row, instead of rows along its first dimension")
}

// check adds to the options what the file's name tells, and checks them.
func (f *fileFlags) check(c *command, fs *flag.FlagSet, file string) error {
	if f.store == "" {
		return c.wrong(fs, "--store FILE is needed: the store that holds the table")
	}
	if f.Format == "" {
		if f.Format = interop.FormatOf(file); strings.EqualFold(filepath.Ext(file), ".csv") {
			f.Format = "csv"
		}
	}
	if f.Format == "" {
		return sqlerr.New(sqlerr.InvalidParameter, "\"%s\" does not tell its format", file).
			WithHint("Name it with --format: csv, %s.", strings.Join(ast.FileFormats, ", "))
	}
	return nil
}

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
	key := fs.String("key", "", "the primary key of a new table: `COLUMNS` of the file, separated by commas")
	rest, err := parse(c, fs, args)
	if err != nil {
		return err
	}
	switch {
	case len(rest) != 2:
		return c.wrong(fs, "a FILE and a TABLE are needed, not %d arguments", len(rest))
	case *rows && f.Whole:
		return c.wrong(fs, "--rows and --whole exclude each other")
	}
	if err := f.check(c, fs, rest[0]); err != nil {
		return err
	}
	if *key != "" {
		f.Key = strings.Split(*key, ",")
	}
	file, err := os.Open(rest[0])
	if err != nil {
		return sqlerr.New(sqlerr.UndefinedFile, "could not open file \"%s\" for reading", rest[0]).Wrap(err)
	}
	defer file.Close()
	return f.withStore(func(db *relgrad.DB) error {
		n, err := db.Import(ctx, file, rest[0], rest[1], f.FileOptions)
		if err == nil {
			fmt.Printf("COPY %d\n", n)
		}
		return err
	})
}

func exportFile(ctx context.Context, c *command, args []string) (err error) {
	fs := c.flags()
	var f fileFlags
	f.flags(fs)
	rest, err := parse(c, fs, args)
	if err != nil {
		return err
	}
	if len(rest) < 2 {
		return c.wrong(fs, "a TABLE and a FILE are needed, not %d arguments", len(rest))
	}
	name := rest[len(rest)-1]
	if err := f.check(c, fs, name); err != nil {
		return err
	}
	// an existing file stays until the new one is complete
	out, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return sqlerr.New(sqlerr.UndefinedFile, "could not open file \"%s\" for writing", name).Wrap(err)
	}
	defer os.Remove(out.Name())
	defer out.Close()
	return f.withStore(func(db *relgrad.DB) error {
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
