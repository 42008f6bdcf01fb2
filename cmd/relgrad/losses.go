package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/relgrad/relgrad"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/script"
	"github.com/relgrad/relgrad/sqlfront"
)

var gradientCommand = command{name: "gradient", args: "[options] LOSS TABLE", run: gradient,
	summary: "Print the gradient of a loss (a view's name or a query) with respect to a table."}

var explainCommand = command{name: "explain", args: "[options] LOSS TABLE…", run: explain,
	summary: "Show the stages of a loss and its gradients: ra, grad, opt, physical, sql, or all."}

var checkCommand = command{name: "check", args: "[options] LOSS TABLE…", run: check,
	summary: "Compare gradients with central differences; exit status 1 where one is off."}

// source is where a loss is defined: a store, or a script that is run up to its first train or DO.
type source struct {
	target
	script string
	vars   variables
	format string
	step   int64
	seed   int64
}

func (s *source) flags(fs *flag.FlagSet) {
	s.vars = variables{}
	fs.StringVar(&s.store, "store", "", "the store in `FILE`")
	fs.StringVar(&s.script, "script", "", "run `FILE` up to its first train or DO, then look at its loss")
	fs.Var(s.vars, "v", "set the script's variable `name=value` (repeatable)")
	fs.StringVar(&s.format, "format", script.FormatAligned, "print results as aligned, unaligned, csv or json")
	fs.Int64Var(&s.step, "step", -1, "the `step` of a loss that draws")
	fs.Int64Var(&s.seed, "seed", 0, "the `seed` of a loss that draws")
}

// open opens the store and runs the script.
func (s *source) open(ctx context.Context) (*relgrad.DB, *script.Runner, error) {
	db, err := s.target.open()
	if err != nil {
		return nil, nil, err
	}
	r := script.NewRunner(script.Embedded(db), script.Options{Vars: s.vars, Quiet: true, Format: s.format, Stdout: io.Discard})
	if s.script != "" {
		r.StopBefore = trains
		if err := r.RunFile(ctx, s.script); err != nil && !errors.Is(err, script.ErrBefore) {
			db.Close()
			return nil, nil, err
		}
	}
	out := script.NewRunner(script.Embedded(db), script.Options{Quiet: true, Format: s.format})
	return db, out, nil
}

// trains recognises the statements before which a script is left.
func trains(st sqlfront.Statement) bool {
	switch x := st.(type) {
	case *sqlfront.Do:
		return true
	case *sqlfront.Call:
		return x.Func.Name == "train"
	}
	return false
}

func (s *source) stepArg() *int64 {
	if s.step < 0 {
		return nil
	}
	return &s.step
}

func gradient(ctx context.Context, c *command, args []string) error {
	fs := c.flags()
	var s source
	s.flags(fs)
	rest, err := parse(fs, args)
	if err != nil {
		return err
	}
	if len(rest) != 2 {
		fs.Usage()
		return errUsage
	}
	db, out, err := s.open(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	rel, err := db.Gradient(ctx, rest[0], rest[1], s.stepArg(), s.seed)
	if err != nil {
		return err
	}
	return out.Print(relgrad.ResultOf(rel))
}

func explain(ctx context.Context, c *command, args []string) error {
	fs := c.flags()
	var s source
	s.flags(fs)
	stage := fs.String("stage", "all", "the `stage`: ra, grad, opt, physical, sql or all")
	rest, err := parse(fs, args)
	if err != nil {
		return err
	}
	if len(rest) < 2 {
		fs.Usage()
		return errUsage
	}
	db, _, err := s.open(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	text, err := db.Explain(ctx, rest[0], rest[1:], *stage)
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
	samples := fs.Int("samples", 100, "elements to check per table")
	rest, err := parse(fs, args)
	if err != nil {
		return err
	}
	if len(rest) < 2 {
		fs.Usage()
		return errUsage
	}
	db, _, err := s.open(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	bad := 0
	for _, table := range rest[1:] {
		rows, err := db.Check(ctx, rest[0], table, *samples, s.stepArg(), s.seed)
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
