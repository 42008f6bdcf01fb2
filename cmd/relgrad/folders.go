package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad"
	"github.com/relgrad/relgrad/interop/delta/layouts"
	"github.com/relgrad/relgrad/interop/delta/places"
	sqlparse "github.com/relgrad/relgrad/sqlfront/parse"
)

// layoutFlags adds the flags of an export that say how a tensor is stored.
func layoutFlags(fs *flag.FlagSet, f *fileFlags) {
	fs.Func("layout", "store the tensor in `LAYOUT` (default: the one that takes the least space): "+
		strings.Join(layouts.Names(), ", "), oneOf(&f.Layout, layouts.Names()))
	fs.Func("shape", "the tensor's `SHAPE`, such as 183,24, where the table lists its elements (default: up to the last)",
		func(s string) error {
			var ok bool
			if f.Shape, ok = sqlparse.Shape(s); !ok {
				return errors.New("numbers separated by commas are needed")
			}
			return nil
		})
}

// atVersion splits NAME@VERSION. A file, or a table, whose name has that form is meant itself.
func atVersion(ctx context.Context, arg string) (name, version string, ok bool, err error) {
	i := strings.LastIndexByte(arg, '@')
	if i < 1 {
		return arg, "", false, nil
	}
	if _, err := strconv.ParseUint(arg[i+1:], 10, 63); err != nil {
		return arg, "", false, nil
	}
	there := false
	if places.IsURL(arg) {
		there, err = relgrad.IsDelta(ctx, arg)
	} else {
		_, missing := os.Stat(arg)
		there = missing == nil
	}
	if there || err != nil {
		return arg, "", false, err
	}
	return arg[:i], arg[i+1:], true, nil
}

// withTables calls do with the store, or with a temporary one that has copies of the server's tables.
func (f *fileFlags) withTables(ctx context.Context, tables []string, do func(*relgrad.DB) error) (err error) {
	if f.db == nil {
		return f.withStore(do)
	}
	t, err := relgrad.NewTransfer(ctx, *f.db)
	if err != nil {
		return err
	}
	defer t.Close()
	if err := t.Fetch(ctx, tables...); err != nil {
		return err
	}
	return do(t.Local)
}

// sendToServer loads a file into a temporary store and its rows from there to the server.
func (f *fileFlags) sendToServer(ctx context.Context, table string, load func(*relgrad.DB) (int64, error),
	created *[]string) error {
	t, err := relgrad.NewTransfer(ctx, *f.db)
	if err != nil {
		return err
	}
	defer t.Close()
	exists, err := t.Expect(ctx, table)
	if err != nil {
		return err
	}
	if _, err := load(t.Local); err != nil {
		return err
	}
	n, err := t.Send(ctx, table, exists)
	if err == nil {
		loaded(*created, n)
	}
	return err
}

// exportFolder writes a table to a folder.
func (f *fileFlags) exportFolder(ctx context.Context, c *command, fs *flag.FlagSet, tables []string, dir string) error {
	if len(tables) != 1 {
		return c.wrong(fs, "a folder of the format %s takes one table, not %d", f.Format, len(tables))
	}
	return f.withTables(ctx, tables, func(db *relgrad.DB) error {
		n, said, err := db.ExportFolder(ctx, dir, tables[0], f.FileOptions)
		if err != nil {
			return err
		}
		fmt.Printf("COPY %d\n", n)
		if said != "" {
			fmt.Println(said)
		}
		return nil
	})
}
