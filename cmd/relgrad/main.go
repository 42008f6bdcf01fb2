// Command relgrad differentiates SQL losses and trains in the database.
//
// # What
//
// One file per subcommand, listed in commands.
//
// # Invariants
//
// Exit status: 0 success, 1 any other error, 2 wrong usage or no connection to a server, 3 a script stopped
// at an error, 130 interrupted.
//
// # Errors
//
// Printed on standard error as psql prints them (sqlerr.Render).
//
// # Where to add
//
// A subcommand: a file with a command value and a row in commands; make golden
// rewrites docs/commands.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels/cpu"
	"github.com/relgrad/relgrad/pgbridge/conn"
	"github.com/relgrad/relgrad/script/psql"
)

// command is a subcommand.
type command struct {
	name    string
	args    string // the rest of the usage line
	summary string
	run     func(ctx context.Context, c *command, args []string) error
	// ownInterrupts: the command handles interrupts itself.
	ownInterrupts bool
}

// commands lists the subcommands in the order of the usage text.
var commands []*command

func init() {
	commands = []*command{&sqlCommand, &runCommand, &gradientCommand, &explainCommand, &checkCommand, &runsCommand,
		&plotCommand, &boardCommand, &decomposeCommand, &devicesCommand, &importCommand, &exportCommand, &deltaCommand,
		&pgCommand, &benchCommand, &versionCommand, &helpCommand}
}

// errUsage ends with status 2; the reason has been printed.
var errUsage = errors.New("usage")

func main() { os.Exit(realMain(os.Args[1:])) }

// realMain runs a command line and returns the exit status.
func realMain(args []string) (exit int) {
	defer func() {
		if p := recover(); p != nil {
			exit = status(context.Background(), sqlerr.FromPanic(p))
		}
	}()
	tuneGC()
	cpu.Reserve()
	if len(args) == 0 {
		fmt.Fprint(os.Stderr, overview())
		return 2
	}
	switch args[0] {
	case "-h", "-help", "--help":
		args[0] = "help"
	case "-version", "--version":
		args[0] = "version"
	case "engine":
		return status(context.Background(), serveBackend())
	}
	c, err := findCommand(args[0])
	if err != nil {
		return status(context.Background(), err)
	}
	ctx := context.Background()
	if !c.ownInterrupts {
		var stop context.CancelFunc
		ctx, stop = interruptible(ctx)
		defer stop()
	}
	return status(ctx, c.run(ctx, c, args[1:]))
}

// interruptible returns a context that SIGINT and SIGTERM cancel. A second signal, at least half a second later, ends
// the process. (An earlier one may be the same: timeout signals the process and its group.)
func interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() {
		time.Sleep(time.Second / 2)
		stop()
	})
	return ctx, stop
}

// findCommand finds a command by name. It prints what is wrong.
func findCommand(name string) (*command, error) {
	names := make([]string, len(commands))
	for i, c := range commands {
		if c.name == name {
			return c, nil
		}
		names[i] = c.name
	}
	fmt.Fprintf(os.Stderr, "relgrad: unknown command %q\n", name)
	if near := sqlerr.Nearest(name, names); near != "" {
		fmt.Fprintf(os.Stderr, "HINT:  Perhaps you meant %q.\n", near)
	} else {
		fmt.Fprintln(os.Stderr, "HINT:  relgrad help lists the commands.")
	}
	return nil, errUsage
}

// status prints an error unless that has been done, and returns the exit status.
func status(ctx context.Context, err error) int {
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, errUsage) || errors.Is(err, psql.ErrLost):
		return 2
	case ctx.Err() != nil:
		if !errors.Is(err, psql.ErrStopped) {
			fmt.Fprint(os.Stderr, sqlerr.Render(err))
		}
		return 130
	case errors.Is(err, psql.ErrStopped):
		return 3
	}
	fmt.Fprint(os.Stderr, sqlerr.Render(err))
	if errors.Is(err, conn.ErrConnect) {
		return 2
	}
	return 1
}
