package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/relgrad/relgrad"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/script"
	"github.com/relgrad/relgrad/store"
)

var runCommand = command{name: "run", args: "[options] FILE…", run: runScripts,
	summary: "Run SQL scripts as psql -f does; stops at the first error with exit status 3. FILE - is standard input."}

// variables is the repeatable flag -v name=value.
type variables map[string]string

func (v variables) String() string { return "" }

// Set takes name=value; a bare name unsets the variable, as psql's -v does.
func (v variables) Set(s string) error {
	name, val, ok := strings.Cut(s, "=")
	if name == "" {
		return fmt.Errorf("expected name=value")
	}
	if !ok {
		delete(v, name)
		return nil
	}
	v[name] = val
	return nil
}

// target is where a command runs: flags shared by the commands that open a store.
type target struct {
	store string
}

// open opens the store; "" is a temporary one, gone at the end.
func (t target) open() (*relgrad.DB, error) {
	return relgrad.Open(t.store)
}

func runScripts(ctx context.Context, c *command, args []string) (err error) {
	fs := c.flags()
	var t target
	vars := variables{}
	o := script.Options{Vars: vars}
	fs.Var(vars, "v", "set the psql variable `name=value` (repeatable)")
	fs.BoolVar(&o.Quiet, "q", false, "print no command tags")
	fs.StringVar(&t.store, "store", "", "run on the store in `FILE`, created if absent (default: a temporary store)")
	native := fs.Bool("native", false, "the files hold SELECTs in SQLite's dialect, as explain --stage=sql prints them")
	fs.StringVar(&o.Format, "format", script.FormatAligned, "print results as aligned, unaligned, csv or json")
	files, err := parse(fs, args)
	if err != nil {
		return err
	}
	if err := checkFormat(fs, o.Format); err != nil {
		return err
	}
	if len(files) == 0 {
		fs.Usage()
		return errUsage
	}
	db, err := t.open()
	if err != nil {
		return err
	}
	defer func() {
		if e := db.Close(); err == nil {
			err = e
		}
	}()
	r := script.NewRunner(script.Embedded(db), o)
	db.Notice = func(level, message string) { r.Interp.Notice(script.Notice{Level: level, Message: message}) }
	showProgress(db, o.Quiet)
	for _, f := range files {
		if *native {
			err = runNative(ctx, db, r, f)
		} else {
			err = r.RunFile(ctx, f)
		}
		if err != nil {
			break
		}
	}
	if e := r.Close(); err == nil {
		err = e
	}
	return err
}

// checkFormat refuses an output format that does not exist.
func checkFormat(fs *flag.FlagSet, format string) error {
	switch format {
	case script.FormatAligned, script.FormatUnaligned, script.FormatCSV, script.FormatJSON:
		return nil
	}
	fmt.Fprintf(fs.Output(), "%s: unknown format %q\n", fs.Name(), format)
	return errUsage
}

// runNative runs a file of SELECTs in SQLite's dialect.
func runNative(ctx context.Context, db *relgrad.DB, r *script.Runner, name string) error {
	in := io.Reader(os.Stdin)
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return sqlerr.New(sqlerr.UndefinedFile, "could not open %s", name).Wrap(err)
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	for _, sql := range store.SplitNative(string(text)) {
		res, err := db.QueryNative(ctx, sql)
		if err != nil {
			return err
		}
		if err := r.Print(res); err != nil {
			return err
		}
	}
	return nil
}
