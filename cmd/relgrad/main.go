// Command relgrad differentiates SQL losses and trains in the database.
//
// # What
//
// One file per subcommand; each registers itself in the table below by a package-level value.
//
// # Invariants
//
// Exit status: 0 all is well, 1 the command could not start, 2 wrong usage, 3 a script stopped at an
// error, 130 interrupted.
//
// # Errors
//
// Printed on standard error as psql prints them (sqlerr.Render).
//
// # Where to add
//
// A subcommand: a file with a command value and a row in commands.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/script"
)

// command is a subcommand.
type command struct {
	name    string
	args    string // the rest of the usage line
	summary string
	run     func(ctx context.Context, c *command, args []string) error
}

// commands lists the subcommands in the order of the usage text.
var commands = []*command{&runCommand, &gradientCommand, &explainCommand, &checkCommand, &runsCommand, &plotCommand,
	&importCommand, &exportCommand}

// errUsage ends with status 2; what is wrong has been printed.
var errUsage = errors.New("usage")

func main() { os.Exit(realMain(os.Args[1:])) }

// realMain runs a command line and returns the exit status.
func realMain(args []string) int {
	if len(args) == 0 {
		usage(os.Stderr)
		return 2
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		usage(os.Stdout)
		return 0
	}
	for _, c := range commands {
		if c.name == args[0] {
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			context.AfterFunc(ctx, stop) // a second interrupt ends the process at once
			return status(ctx, c.run(ctx, c, args[1:]))
		}
	}
	names := make([]string, len(commands))
	for i, c := range commands {
		names[i] = c.name
	}
	fmt.Fprintf(os.Stderr, "relgrad: unknown command %q\n", args[0])
	if near := sqlerr.Nearest(args[0], names); near != "" {
		fmt.Fprintf(os.Stderr, "HINT:  Perhaps you meant %q.\n", near)
	}
	return 2
}

// status prints an error that has not been printed and turns it into an exit status.
func status(ctx context.Context, err error) int {
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, errUsage):
		return 2
	case ctx.Err() != nil:
		if !errors.Is(err, script.ErrStopped) {
			fmt.Fprint(os.Stderr, sqlerr.Render(err))
		}
		return 130
	case errors.Is(err, script.ErrStopped):
		return 3
	}
	fmt.Fprint(os.Stderr, sqlerr.Render(err))
	return 1
}

func usage(w io.Writer) {
	fmt.Fprint(w, "relgrad differentiates losses written in SQL and trains where the data lives.\n\nusage: relgrad <command> [options]\n\ncommands:\n")
	for _, c := range commands {
		fmt.Fprintf(w, "  %-10s %s\n", c.name, c.summary)
	}
	fmt.Fprint(w, "\nrelgrad <command> -h prints a command's options.\n")
}

// flags makes a command's flag set, whose usage text is printed on -h.
func (c *command) flags() *flag.FlagSet {
	fs := flag.NewFlagSet("relgrad "+c.name, flag.ContinueOnError)
	fs.SetOutput(os.Stderr)
	fs.Usage = func() {
		fmt.Fprintf(fs.Output(), "usage: relgrad %s %s\n\n%s\n\noptions:\n", c.name, c.args, c.summary)
		fs.PrintDefaults()
	}
	return fs
}

// parse reads the flags; options may also stand behind the arguments.
func parse(fs *flag.FlagSet, args []string) ([]string, error) {
	var rest []string
	for {
		if err := fs.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				return nil, err
			}
			return nil, errUsage
		}
		args = fs.Args()
		if len(args) == 0 {
			return rest, nil
		}
		rest, args = append(rest, args[0]), args[1:]
	}
}
