package main

import (
	"context"
	"encoding/json"
	"io"
	"os"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/optimizer/eindecomp"
)

var decomposeCommand = command{name: "decompose", args: "[--cells N] FILE", run: decomposeFile,
	summary: "Cut the vertices of a graph of einsum expressions over sites at least cost: reads a case as JSON from " +
		"FILE (- is standard input) and prints the plans as JSON."}

func decomposeFile(ctx context.Context, c *command, args []string) error {
	fs := c.flags()
	cells := wholeFlag(fs, "cells", "bound the tables of the exact method to `N` numbers; above, a plan is not proved "+
		"cheapest (default 33554432)", 1)
	rest, err := parse(c, fs, args)
	if err != nil {
		return err
	}
	if len(rest) != 1 {
		return c.wrong(fs, "one FILE is needed, not %d", len(rest))
	}
	data, err := readCase(rest[0])
	if err != nil {
		return err
	}
	of, err := eindecomp.ReadCase(data)
	if err != nil {
		return err
	}
	var limits eindecomp.Limits
	if *cells != nil {
		limits.Cells = int(**cells)
	}
	answer, err := of.Solve(ctx, limits)
	if err != nil {
		return err
	}
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	return out.Encode(answer)
}

// readCase reads a file, or standard input.
func readCase(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(os.Stdin)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, sqlerr.New(sqlerr.UndefinedFile, "could not open file \"%s\" for reading", name).Wrap(err)
	}
	return data, nil
}
