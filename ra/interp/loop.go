package interp

import (
	"context"
	"maps"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// recursion computes the rows of a Recursion level by level.
func (in *Interp) recursion(ctx context.Context, n *ra.Node) ([]Row, error) {
	step, err := in.stepOf(ctx, n)
	if err != nil {
		return nil, err
	}
	start, err := in.Eval(ctx, n.Inputs[0])
	if err != nil {
		return nil, err
	}
	if n.Sums() {
		return in.retrace(ctx, n, start, step)
	}
	level := cut(start, n.States())
	var all []Row
	seen := map[string]bool{}
	for len(level) > 0 {
		for _, r := range level {
			k := identity(n, r)
			if seen[k] {
				return nil, sqlerr.New(sqlerr.Cardinality, "two rows of a recursive query have the same key")
			}
			seen[k] = true
		}
		for _, r := range level {
			all = append(all, append(r, kernels.IntValue(int64(len(in.levels[n])))))
		}
		in.levels[n] = append(in.levels[n], level)
		if level, err = step(level); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// retrace computes a Recursion that sums rows along another one.
func (in *Interp) retrace(ctx context.Context, n *ra.Node, start []Row,
	step func(level []Row) ([]Row, error)) (all []Row, err error) {
	if _, err := in.Eval(ctx, n.Along()); err != nil {
		return nil, err
	}
	levels := in.levels[n.Along()]
	var before []Row
	for i := range levels {
		at := i
		if n.Loop.Back {
			at = len(levels) - 1 - i
		}
		of := map[string]bool{}
		for _, r := range levels[at] {
			of[identity(n.Along(), r)] = true
		}
		var here []Row
		for _, r := range start {
			if of[identity(n.Inputs[0], r)] {
				here = append(here, r[:len(n.Cols)])
			}
		}
		var came []Row
		if len(before) > 0 {
			if came, err = step(before); err != nil {
				return nil, err
			}
		}
		before = add(n, [][]Row{here, came})
		all = append(all, before...)
	}
	return all, nil
}

// stepOf is the step of a Recursion as a function of the level before.
func (in *Interp) stepOf(ctx context.Context, n *ra.Node) (func(level []Row) ([]Row, error), error) {
	within := map[*ra.Node]bool{}
	for _, m := range n.Within() {
		within[m] = true
	}
	for m := range within { // what does not read the level is computed once
		for _, x := range m.Inputs {
			if !within[x] {
				if _, err := in.Eval(ctx, x); err != nil {
					return nil, err
				}
			}
		}
	}
	self := n.SelfLeaf()
	return func(level []Row) ([]Row, error) {
		one := *in
		one.memo = maps.Clone(in.memo)
		one.memo[self] = level
		rows, err := one.Eval(ctx, n.Inputs[1])
		return cut(rows, n.States()), err
	}, nil
}

// cut keeps the first columns of rows.
func cut(rows []Row, n int) (out []Row) {
	for _, r := range rows {
		out = append(out, r[:n:n])
	}
	return out
}

// identity encodes the identity of a row of n.
func identity(n *ra.Node, r Row) string {
	var b strings.Builder
	for _, k := range n.Key {
		writeKey(&b, r[n.Index(k)])
	}
	return b.String()
}
