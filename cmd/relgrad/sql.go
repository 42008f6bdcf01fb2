package main

import (
	"context"
	"fmt"
	"os"

	"golang.org/x/term"

	"github.com/relgrad/relgrad/script/psql"
)

var sqlCommand = command{name: "sql", args: "[options]", run: runShell, ownInterrupts: true,
	summary: "The interactive shell. Where standard input is no terminal, it runs as \"relgrad run -\" does."}

func runShell(ctx context.Context, c *command, args []string) (err error) {
	fs := c.flags()
	o, t := sessionFlags(fs)
	rest, err := parse(c, fs, args)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return c.wrong(fs,
			"unexpected argument %q; a script is run by relgrad run, a store named by --store, a server by --db", rest[0])
	}
	if err := t.check(c, fs); err != nil {
		return err
	}
	terminal := term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd()))
	if !terminal {
		var stop context.CancelFunc
		ctx, stop = interruptible(ctx)
		defer stop()
	}
	return t.session(ctx, o, func(p place, r *psql.Runner) error {
		if !terminal {
			return r.RunFile(ctx, "-")
		}
		if !o.Quiet {
			fmt.Printf("relgrad %s on %s\nType help for help, \\q to leave.\n\n", version(), p.name())
		}
		return r.RunTerminal(ctx, newLineEditor(r))
	})
}
