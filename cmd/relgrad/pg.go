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
	"github.com/relgrad/relgrad/migrations"
)

var pgCommand = command{name: "pg", args: "install | status | compile LOSS PARAM…  --db DSN", run: runPG,
	summary: "Bring relgrad to a PostgreSQL server where no library can be installed, and compile gradients for it."}

// pgActions are the words after pg.
var pgActions = []string{"install", "status", "compile"}

func runPG(ctx context.Context, c *command, args []string) error {
	fs := c.flags()
	var db string
	given := false
	fs.Func("db", "the server: `DSN` is a database's name, postgres://… or key=value …; PGHOST and its like count", func(s string) error {
		db, given = s, true
		return nil
	})
	path := fs.String("search-path", "public, relgrad", "compile: where unqualified names of LOSS are looked up; `PATH` as in SET search_path")
	rest, err := parse(c, fs, args)
	if err != nil {
		return err
	}
	if len(rest) == 0 {
		return c.wrong(fs, "one of %s is needed", strings.Join(pgActions, ", "))
	}
	action, rest := rest[0], rest[1:]
	compile := action == "compile"
	other := false
	fs.Visit(func(f *flag.Flag) { other = other || f.Name == "search-path" && !compile })
	switch {
	case other:
		return c.wrong(fs, "--search-path is for compile only")
	case !given:
		return c.wrong(fs, "--db DSN is needed")
	case compile && len(rest) < 2:
		return c.wrong(fs, "compile needs a loss and its parameters")
	case !compile && len(rest) > 0:
		return c.wrong(fs, "unexpected argument %q", rest[0])
	}
	switch action {
	case "install":
		return pgInstall(ctx, os.Stdout, db)
	case "status":
		return pgStatus(ctx, os.Stdout, db)
	case "compile":
		return pgCompile(ctx, os.Stdout, db, *path, rest[0], rest[1:])
	}
	if near := sqlerr.Nearest(action, pgActions); near != "" {
		return c.wrong(fs, "unknown action %q; perhaps you meant %q", action, near)
	}
	return c.wrong(fs, "unknown action %q", action)
}

// pgInstall brings the portable tier up to date.
func pgInstall(ctx context.Context, w io.Writer, db string) error {
	conn, err := migrations.Connect(ctx, db)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	before, err := migrations.Apply(ctx, conn)
	if err != nil {
		return err
	}
	if before.Pending() == 0 {
		_, err = fmt.Fprintf(w, "relgrad's portable tier is up to date: %d migrations.\n", before.Latest)
		return err
	}
	_, err = fmt.Fprintf(w, "relgrad's portable tier is installed: %d of %d migrations were new.\n", before.Pending(), before.Latest)
	return err
}

// pgStatus says what a server has of relgrad.
func pgStatus(ctx context.Context, w io.Writer, db string) error {
	conn, err := migrations.Connect(ctx, db)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	s, err := migrations.Read(ctx, conn)
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "server      PostgreSQL %s\n", s.Server)
	switch {
	case s.Extension != "":
		fmt.Fprintf(&b, "relgrad     extension %s\n", s.Extension)
	case !s.Portable && s.Schema:
		b.WriteString("relgrad     none; a schema relgrad of someone else's is in the way\n")
	case !s.Portable:
		b.WriteString("relgrad     none\n")
	default:
		fmt.Fprintf(&b, "relgrad     portable tier, %d of %d migrations", s.Version, s.Latest)
		if s.Pending() > 0 {
			fmt.Fprintf(&b, "; relgrad pg install applies the others")
		}
		b.WriteString("\n")
	}
	if s.Portable && s.Pending() == 0 {
		list, err := migrations.Gradients(ctx, conn)
		if err != nil {
			return err
		}
		for _, g := range list {
			fmt.Fprintf(&b, "gradient    of %s with respect to %s, compiled by %s at %s%s\n", oneLine(g.Loss), g.Param, g.Owner, g.At.UTC().Format("2006-01-02 15:04 UTC"), stale(g))
		}
	}
	if s.Extension != "" || s.Portable && s.Pending() == 0 {
		list, err := migrations.Runs(ctx, conn)
		if err != nil {
			return err
		}
		for _, r := range list {
			fmt.Fprintf(&b, "run %-7d %s at step %d, loss %s\n", r.Run, r.Status, r.Step, oneLine(r.Loss))
		}
	}
	_, err = io.WriteString(w, b.String())
	return err
}

func stale(g migrations.Gradient) string {
	if g.Stale == "" {
		return ""
	}
	return "; STALE: " + g.Stale
}

// oneLine shortens a query for a list.
func oneLine(s string) string {
	const most = 60
	r := []rune(strings.Join(strings.Fields(s), " "))
	if len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return string(r)
}

// pgCompile compiles the gradients of a loss.
func pgCompile(ctx context.Context, w io.Writer, db, path, loss string, params []string) error {
	s, err := relgrad.Dial(ctx, db, nil)
	if err != nil {
		return err
	}
	defer s.Close()
	if _, err := s.RunSQL(ctx, "SET search_path = "+path); err != nil {
		return err
	}
	for _, p := range params {
		if err := s.CompileText(ctx, loss, p); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "compiled: the gradient of %s with respect to %s\n", oneLine(loss), p); err != nil {
			return err
		}
	}
	return nil
}
