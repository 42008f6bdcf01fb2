package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/relgrad/relgrad"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/script"
	"github.com/relgrad/relgrad/script/psql"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

var gradientCommand = command{name: "gradient", args: "[options] LOSS TABLE", run: gradient,
	summary: "Print the gradient of a loss (a view's name or a query) with respect to a table."}

var explainCommand = command{name: "explain", args: "[options] LOSS [TABLE…]", run: explain,
	summary: "Show the stages of a loss and its gradients with respect to tables: ra, grad, opt, physical, sql, or all."}

var checkCommand = command{name: "check", args: "[options] LOSS TABLE…", run: check,
	summary: "Compare gradients with central differences; exit status 1 where one is off."}

// source is where a loss is defined: in a store, on a server, or in a script, which is run up to its first train or DO.
type source struct {
	target
	script     string
	vars       variables
	step, seed **int64
	wrong      func() string // checks a command's own options: what is wrong, or ""; may be nil
}

func (s *source) flags(fs *flag.FlagSet) {
	s.sitesFlag(fs)
	s.placeFlags(fs)
}

// placeFlags adds the options that say where a loss is defined.
func (s *source) placeFlags(fs *flag.FlagSet) {
	s.vars = variables{}
	s.storeFlags(fs)
	s.memoryFlag(fs)
	s.deviceFlag(fs)
	fs.StringVar(&s.script, "script", "", "run `FILE` up to its first train or DO, then look at its loss")
	fs.Var(s.vars, "v", "set the script's variable `NAME=VALUE` (repeatable)")
}

// drawFlags adds the options of commands that compute a loss.
func (s *source) drawFlags(fs *flag.FlagSet) {
	s.step = wholeFlag(fs, "step", "the `STEP` of a loss that draws, from 0 on", 0)
	s.seed = wholeFlag(fs, "seed", "the `SEED` of a loss that draws (default 0)", math.MinInt64)
}

// read reads the command line: a loss, and from least to most tables. It opens the database.
func (s *source) read(ctx context.Context, c *command, fs *flag.FlagSet, args []string, least,
	most int) (db *engine, loss string, tables []string, err error) {
	rest, err := parse(c, fs, args)
	if err != nil {
		return nil, "", nil, err
	}
	places := 0
	for _, given := range []bool{s.store != "", s.db != nil, s.script != ""} {
		if given {
			places++
		}
	}
	switch {
	case len(rest) == 0:
		return nil, "", nil, c.wrong(fs, "a loss is needed")
	case len(rest) < 1+least:
		return nil, "", nil, c.wrong(fs, "a loss and a table are needed, not %d arguments", len(rest))
	case len(rest) > 1+most:
		return nil, "", nil, c.wrong(fs, "unexpected argument %q", rest[1+most])
	case places == 0:
		return nil, "", nil, c.wrong(fs, "--store FILE, --db DSN or --script FILE is needed: where %s is defined", rest[0])
	case places > 1:
		return nil, "", nil, c.wrong(fs, "only one of --store, --db and --script can be given")
	case s.script == "" && len(s.vars) > 0:
		return nil, "", nil, c.wrong(fs, "-v sets a variable of the script that --script names")
	}
	if s.wrong != nil && s.wrong() != "" {
		return nil, "", nil, c.wrong(fs, "%s", s.wrong())
	}
	db, err = s.open(ctx)
	return db, rest[0], rest[1:], err
}

// open opens the store, connects to the server, or runs the script.
func (s *source) open(ctx context.Context) (*engine, error) {
	if s.script == "" {
		return s.openOld(ctx)
	}
	db, err := s.openScript(ctx)
	if err != nil {
		return nil, err
	}
	return &engine{Engine: db.Engine, Close: db.Close}, nil
}

// openScript runs the script on a temporary store.
func (s *source) openScript(ctx context.Context) (*relgrad.DB, error) {
	db, err := s.target.open()
	if err != nil {
		return nil, err
	}
	r := psql.NewRunner(script.Embedded(db), psql.Options{Vars: s.vars, Quiet: true, Stdout: io.Discard})
	r.StopBefore = trains
	if err := r.RunFile(ctx, s.script); err != nil && !errors.Is(err, psql.ErrBefore) {
		db.Close()
		return nil, err
	}
	return db, nil
}

// trains reports whether a script stops before this statement.
func trains(st ast.Statement) bool {
	switch x := st.(type) {
	case *ast.Do:
		return true
	case *ast.Call:
		return x.Func.Name == "train"
	}
	return false
}

func (s *source) seedArg() int64 {
	if *s.seed == nil {
		return 0
	}
	return **s.seed
}

func gradient(ctx context.Context, c *command, args []string) error {
	fs := c.flags()
	var s source
	var format string
	s.flags(fs)
	s.drawFlags(fs)
	formatFlag(fs, &format)
	db, loss, tables, err := s.read(ctx, c, fs, args, 1, 1)
	if err != nil {
		return err
	}
	defer db.Close()
	rel, err := db.Gradient(ctx, loss, tables[0], *s.step, s.seedArg())
	if err != nil {
		return err
	}
	return psql.Print(os.Stdout, format, relgrad.ResultOf(rel))
}

func explain(ctx context.Context, c *command, args []string) error {
	fs := c.flags()
	var s source
	var on cluster
	s.placeFlags(fs)
	on.flags(fs, &s.target)
	stage := fs.String("stage", "all",
		"the `STAGE`: ra, grad, opt, physical, sql or all; or chunks:N, how sums would be cut into N kernel calls; or "+
			"sites:N, how the query would run at N sites")
	analyze := fs.Bool("analyze", false,
		"compute a few steps, training nothing, and show the time of each instruction of the physical stage")
	batch := fs.String("batch", "", "with --analyze: the loss over batches of rows of `TABLE`, as train takes them")
	size := wholeFlag(fs, "batch-size", "the number `N` of these rows", 1)
	s.wrong = func() string {
		other := false
		fs.Visit(func(f *flag.Flag) { other = other || f.Name == "stage" && *stage != "physical" })
		if why := on.wrong(*stage, s.sites); why != "" {
			return why
		}
		switch {
		case *analyze && other:
			return "--analyze shows the stage physical, not " + *stage
		case !*analyze && (*batch != "" || *size != nil):
			return "--batch and --batch-size go with --analyze"
		case (*batch == "") != (*size == nil):
			return "--batch and --batch-size go together"
		}
		return ""
	}
	db, loss, tables, err := s.read(ctx, c, fs, args, 0, math.MaxInt32)
	if err != nil {
		return err
	}
	defer db.Close()
	if db.Cluster, err = on.read(); err != nil {
		return err
	}
	var text string
	if *analyze {
		n := int64(0)
		if *size != nil {
			n = **size
		}
		text, err = db.Analyze(ctx, loss, tables, *batch, n)
	} else {
		text, err = db.Explain(ctx, loss, tables, *stage)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(os.Stdout, text)
	return err
}

func check(ctx context.Context, c *command, args []string) error {
	fs := c.flags()
	var s source
	s.flags(fs)
	s.drawFlags(fs)
	samples := wholeFlag(fs, "samples", "check `N` elements of each table (default 100)", 1)
	batch := fs.String("batch", "", "check the loss over the rows of `TABLE` that train takes at --step")
	size := wholeFlag(fs, "batch-size", "the number `N` of these rows", 1)
	s.wrong = func() string {
		switch {
		case (*batch == "") != (*size == nil):
			return "--batch and --batch-size go together"
		case *batch != "" && (*s.step == nil || **s.step < 1):
			return "--batch needs --step, from 1: which rows are taken depends on it"
		}
		return ""
	}
	db, loss, tables, err := s.read(ctx, c, fs, args, 1, math.MaxInt32)
	if err != nil {
		return err
	}
	defer db.Close()
	o := relgrad.CheckOptions{Samples: 100, Step: *s.step, Seed: s.seedArg(), Batch: *batch}
	if *samples != nil {
		o.Samples = int(**samples)
	}
	if *size != nil {
		o.BatchSize = **size
	}
	bad := 0
	for _, table := range tables {
		rows, err := db.Check(ctx, loss, table, o)
		if err != nil {
			return err
		}
		wrong := 0
		for _, r := range rows {
			if !r.OK {
				wrong++
			}
		}
		if len(rows) > 0 {
			w := rows[0]
			fmt.Printf("%s: %d elements checked, %d wrong; worst %s[%s] element %d: analytic %.12g, numeric %.12g, error %.3g\n",
				table, len(rows), wrong, w.Column, w.Key, w.Element, w.Analytic, w.Numeric, w.Error)
		}
		bad += wrong
	}
	if bad > 0 {
		return sqlerr.New(sqlerr.DataException, "%d elements disagree with central differences", bad)
	}
	return nil
}
