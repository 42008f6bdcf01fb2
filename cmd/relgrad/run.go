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
	"github.com/relgrad/relgrad/pgbridge/pgsession"
	"github.com/relgrad/relgrad/script"
	"github.com/relgrad/relgrad/script/psql"
	"github.com/relgrad/relgrad/store"
)

var runCommand = command{name: "run", args: "[options] FILE… | -c TEXT", run: runScripts,
	summary: "Run SQL scripts as psql -f does, on a store or a server; stops at the first error with exit status 3. " +
		"FILE - is standard input."}

// variables is the repeatable flag -v name=value.
type variables map[string]string

func (v variables) String() string { return "" }

// Set takes name=value; a bare name unsets the variable, as psql's -v does.
func (v variables) Set(s string) error {
	name, val, ok := strings.Cut(s, "=")
	if name == "" {
		return fmt.Errorf("NAME=VALUE is needed")
	}
	if !ok {
		delete(v, name)
		return nil
	}
	v[name] = val
	return nil
}

// sessionFlags adds the options of the commands that run statements.
func sessionFlags(fs *flag.FlagSet) (*psql.Options, *target) {
	o, t := &psql.Options{Vars: variables{}}, &target{}
	fs.Var(variables(o.Vars), "v", "set the psql variable `NAME=VALUE` (repeatable)")
	fs.BoolVar(&o.Quiet, "q", false, "print no command tags and no messages about settings")
	fs.StringVar(&t.store, "store", "", "run on the store in `FILE`, created if absent; without it on a temporary one")
	t.dsnFlag(fs, "run on a PostgreSQL server")
	t.memoryFlag(fs)
	t.sitesFlag(fs)
	t.deviceFlag(fs)
	formatFlag(fs, &o.Format)
	return o, t
}

// place is where a session's statements run: a store or a server.
type place struct {
	store  *relgrad.DB
	server *pgsession.Session
}

// name tells which.
func (p place) name() string {
	switch {
	case p.server != nil:
		return p.server.Name()
	case p.store.Path() != "":
		return "the store " + p.store.Path()
	}
	return "a temporary store, gone at the end (--store FILE keeps one)"
}

// session opens the store or connects to the server, and calls use with it.
func (t *target) session(ctx context.Context, o *psql.Options, use func(p place, r *psql.Runner) error) (err error) {
	var p place
	var r *psql.Runner
	var end func() error
	if t.db != nil {
		if p.server, err = pgsession.Open(ctx, *t.db); err != nil {
			return err
		}
		end = p.server.Close
		server := psql.Server(p.server)
		if tier, ok, err := p.server.OpenPortable(ctx); err != nil {
			p.server.Close()
			return err
		} else if ok {
			server = tier
		}
		r = psql.NewRunner(pgsession.NewFolders(server, p.server), *o)
	} else {
		if p.store, err = t.open(); err != nil {
			return err
		}
		end = p.store.Close
		r = psql.NewRunner(script.Embedded(p.store), *o)
		p.store.Notice = func(level, message string) { r.Interp.Notice(script.Notice{Level: level, Message: message}) }
		showProgress(p.store, o.Quiet)
	}
	defer func() {
		if e := end(); err == nil {
			err = e
		}
	}()
	err = use(p, r)
	if e := r.Close(); err == nil {
		err = e
	}
	return err
}

// step is a file to run, or a text given by -c.
type step struct {
	file, text string
}

func runScripts(ctx context.Context, c *command, args []string) error {
	fs := c.flags()
	o, t := sessionFlags(fs)
	var steps []step
	fs.Func("c", "run the statements or backslash commands of `TEXT` (repeatable, in order with the files)",
		func(s string) error {
			steps = append(steps, step{text: s})
			return nil
		})
	native := fs.Bool("native", false,
		"the files hold SELECTs in SQLite's dialect, as relgrad explain --stage=sql prints them")
	if err := parseEach(c, fs, args, func(file string) { steps = append(steps, step{file: file}) }); err != nil {
		return err
	}
	if len(steps) == 0 {
		return c.wrong(fs, "a FILE or -c TEXT is needed; - is standard input, relgrad sql the shell")
	}
	if err := t.check(c, fs); err != nil {
		return err
	}
	if *native && t.db != nil {
		return c.wrong(fs,
			"--native is SQLite's dialect; a server runs what relgrad explain --stage=sql prints for Postgres as it is")
	}
	return t.session(ctx, o, func(p place, r *psql.Runner) error {
		for _, s := range steps {
			var err error
			switch {
			case *native:
				err = runNative(ctx, p.store, r, s)
			case s.file == "":
				err = r.RunReader(ctx, "", strings.NewReader(s.text))
			default:
				err = r.RunFile(ctx, s.file)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// runNative runs a file of SELECTs in SQLite's dialect.
func runNative(ctx context.Context, db *relgrad.DB, r *psql.Runner, from step) error {
	in, name := io.Reader(os.Stdin), from.file
	switch name {
	case "-":
	case "":
		in = strings.NewReader(from.text)
	default:
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
