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
	"github.com/relgrad/relgrad/pgbridge/conn"
)

var pgCommand = command{name: "pg", args: "install | status | compile LOSS PARAM…  --db DSN", run: runPG,
	summary: "Bring relgrad to a PostgreSQL server where no library can be installed, and compile gradients for it."}

// pgCall is a call of relgrad pg.
type pgCall struct {
	db, path, loss string
	params         []string
}

// pgActions are the words after pg. Those with arguments take a loss.
var pgActions = []struct {
	name   string
	onLoss bool
	run    func(ctx context.Context, w io.Writer, p pgCall) error
}{{"install", false, pgInstall}, {"status", false, pgStatus}, {"compile", true, pgCompile}}

func runPG(ctx context.Context, c *command, args []string) error {
	fs := c.flags()
	p := pgCall{}
	given := map[string]bool{}
	fs.StringVar(&p.db, "db", "",
		"the server: `DSN` is a database's name, postgres://… or key=value …; PGHOST and its like count")
	fs.StringVar(&p.path, "search-path", "public, relgrad",
		"compile: where unqualified names are looked up; `PATH` as in SET search_path")
	rest, err := parse(c, fs, args)
	if err != nil {
		return err
	}
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	var names []string
	for _, a := range pgActions {
		names = append(names, a.name)
	}
	if len(rest) == 0 {
		return c.wrong(fs, "one of %s is needed", strings.Join(names, ", "))
	}
	for _, a := range pgActions {
		if a.name != rest[0] {
			continue
		}
		switch {
		case !given["db"]:
			return c.wrong(fs, "--db DSN is needed")
		case given["search-path"] && !a.onLoss:
			return c.wrong(fs, "--search-path is for compile only")
		case a.onLoss && len(rest) < 3:
			return c.wrong(fs, "%s needs a loss and its parameters", a.name)
		case !a.onLoss && len(rest) > 1:
			return c.wrong(fs, "unexpected argument %q", rest[1])
		}
		if len(rest) > 1 {
			p.loss, p.params = rest[1], rest[2:]
		}
		return a.run(ctx, os.Stdout, p)
	}
	if near := sqlerr.Nearest(rest[0], names); near != "" {
		return c.wrong(fs, "unknown action %q; perhaps you meant %q", rest[0], near)
	}
	return c.wrong(fs, "unknown action %q", rest[0])
}

// pgInstall brings the portable tier up to date.
func pgInstall(ctx context.Context, w io.Writer, p pgCall) error {
	pg, err := migrations.Connect(ctx, conn.DSN(p.db))
	if err != nil {
		return err
	}
	defer pg.Close(ctx)
	before, err := migrations.Apply(ctx, pg)
	if err != nil {
		return err
	}
	if before.Pending() == 0 {
		_, err = fmt.Fprintf(w, "relgrad's portable tier is up to date: %d migrations.\n", before.Latest)
		return err
	}
	_, err = fmt.Fprintf(w, "relgrad's portable tier is installed: %d of %d migrations were new.\n",
		before.Pending(), before.Latest)
	return err
}

// pgStatus prints the state of relgrad on a server.
func pgStatus(ctx context.Context, w io.Writer, p pgCall) error {
	pg, err := migrations.Connect(ctx, conn.DSN(p.db))
	if err != nil {
		return err
	}
	defer pg.Close(ctx)
	s, err := migrations.Read(ctx, pg)
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
		list, err := migrations.Gradients(ctx, pg)
		if err != nil {
			return err
		}
		for _, g := range list {
			fmt.Fprintf(&b, "gradient    of %s with respect to %s, compiled by %s at %s%s\n", oneLine(g.Loss), g.Param, g.Owner,
				g.At.UTC().Format("2006-01-02 15:04 UTC"), stale(g))
		}
	}
	if s.Extension != "" || s.Portable && s.Pending() == 0 {
		list, err := migrations.Runs(ctx, pg)
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
func pgCompile(ctx context.Context, w io.Writer, p pgCall) (err error) {
	s, err := relgrad.Dial(ctx, p.db, func(level, message string) { fmt.Fprintf(os.Stderr, "%s:  %s\n", level, message) })
	if err != nil {
		return err
	}
	defer func() {
		if e := s.Close(); err == nil {
			err = e
		}
	}()
	if _, err := s.RunSQL(ctx, "SET search_path = "+p.path); err != nil {
		return err
	}
	for _, param := range p.params {
		if err := s.CompileText(ctx, p.loss, param); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "compiled: the gradient of %s with respect to %s\n", oneLine(p.loss), param); err != nil {
			return err
		}
	}
	return nil
}
