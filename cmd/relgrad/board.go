package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/relgrad/relgrad/board"
)

var boardCommand = command{name: "board", args: "--store FILE | --db DSN [--port PORT]", run: showBoard,
	summary: "Show runs, curves, parameters and plans in a browser of this machine, until interrupted; writes nothing."}

func showBoard(ctx context.Context, c *command, args []string) error {
	fs := c.flags()
	var t target
	t.storeFlags(fs)
	port := 0
	fs.Func("port", "listen on `PORT` of the loopback address (default a free one)", func(s string) (err error) {
		if port, err = strconv.Atoi(s); err != nil || port < 0 || port > 65535 {
			return fmt.Errorf("a number from 0 to 65535 is needed")
		}
		return nil
	})
	rest, err := parse(c, fs, args)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return c.wrong(fs, "unexpected argument %q", rest[0])
	}
	if err := t.needed(c, fs); err != nil {
		return err
	}
	name, open := "a server", func(ctx context.Context) (*board.Session, error) { return board.OpenServer(ctx, *t.db) }
	if t.db == nil {
		name = filepath.Base(t.store)
		open = func(context.Context) (*board.Session, error) { return board.OpenStore(t.store) }
	}
	first, err := open(ctx) // says now what is wrong
	if err != nil {
		return err
	}
	if err := first.Close(); err != nil {
		return err
	}
	b := board.New(name, open)
	s, err := board.Listen(b, port)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stdout, "%s\n", s.URL())
	fmt.Fprintln(os.Stderr, "Open this address in a browser of this machine. Ctrl-C ends the board.")
	if err := s.Serve(ctx); err != nil {
		return err
	}
	return b.Close()
}
