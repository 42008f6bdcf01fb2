package randquery

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer"
	"github.com/relgrad/relgrad/optimizer/rules"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/ra/interp"
)

// Check runs all comparisons on the query of a seed. Shares of the queries, by seed, also run with rules off,
// transformed, and in real.
func (c *Checker) Check(ctx context.Context, seed int64) error {
	q := Generate(seed, Options{})
	if err := c.check(ctx, q); err != nil {
		return fmt.Errorf("%w\n%s", err, q.Report())
	}
	return nil
}

func (c *Checker) check(ctx context.Context, q *Query) error {
	r := rand.New(rand.NewSource(q.Seed ^ 0x5eed))
	cs, err := c.prepare(ctx, q, kernels.Float64, optimizer.Options{Verify: true})
	if err != nil {
		return err
	}
	if cs == nil {
		return nil
	}
	want, err := Oracle.Run(ctx, cs.DB, cs.Result.Grad, env)
	if err != nil {
		return fmt.Errorf("oracle: %w", err)
	}
	switch loss := want[0]; {
	case len(loss) != 1:
		return fmt.Errorf("the loss has %d rows", len(loss))
	case loss[0][0].Null:
		c.Stats.NullLoss++
		return c.sameLoss(ctx, cs, want)
	case !(math.Abs(loss[0][0].Float()) < 1e7):
		c.Stats.Wild++
		return nil
	}
	c.count(cs, want)
	steps := []func() error{
		func() error { return cs.wellFormed(want) },
		func() error { return cs.checkReach(ctx, want) },
		func() error { return c.differences(ctx, cs, want, r) },
		func() error { return c.engines(ctx, cs, want) },
	}
	if q.Seed%2 == 0 {
		steps = append(steps, func() error { return c.alone(ctx, cs, want) })
	}
	if q.Seed%10 == 0 {
		steps = append(steps, func() error { return c.rulesOff(ctx, cs, want, r) })
	}
	if q.Seed%3 == 0 {
		steps = append(steps, func() error { return c.transformed(ctx, cs, want, r) })
	}
	if q.Seed%4 == 1 {
		steps = append(steps, func() error { return c.real(ctx, q) })
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// count adds what the query drew to the statistics.
func (c *Checker) count(cs *Case, want [][]interp.Row) {
	one := Stats{Queries: 1, Uses: map[string]int{}, Fired: cs.Result.Fired}
	for k := range cs.Q.Uses {
		one.Uses[k] = 1
	}
	if len(cs.Names) > 1 {
		one.Uses["several parameters"] = 1
	}
	for _, n := range cs.Names {
		if strings.Contains(n, ".") {
			one.Uses["table.column parameter"] = 1
		}
	}
	for _, rows := range want[1:] {
		if len(rows) == 0 {
			one.EmptyRoots++
			one.Uses["empty result"] = 1
		}
	}
	c.Stats.Add(one)
}

// Report prints a query so that it can be replayed by hand or by seed.
func (q *Query) Report() string {
	var b strings.Builder
	fmt.Fprintf(&b, "replay: go test ./internal/randquery -run TestRandom -seed=%d -queries=1\n", q.Seed)
	for _, s := range q.DB.Script(kernels.Float64) {
		b.WriteString(s + "\n")
	}
	for _, v := range q.Views {
		fmt.Fprintf(&b, "CREATE VIEW %s AS %s;\n", v.Name, v.SQL)
	}
	fmt.Fprintf(&b, "loss: %s\nparameters: %s\n", q.Loss, strings.Join(q.Params, ", "))
	return b.String()
}

// sameLoss checks that a NULL loss is NULL everywhere.
func (c *Checker) sameLoss(ctx context.Context, cs *Case, want [][]interp.Row) error {
	got, err := Oracle.Run(ctx, cs.DB, cs.Result.Plan, env)
	if err == nil && (len(got[0]) != 1 || !got[0][0][0].Null) {
		err = fmt.Errorf("the loss is NULL, in the optimized plan %v", got[0])
	}
	return err
}

// wellFormed checks the form of the gradients: unique identities, copied attributes, no NULL.
func (cs *Case) wellFormed(want [][]interp.Row) error {
	for p, param := range cs.Params {
		t, vecs := param.Table, cs.DB.Data[param.Table.Name]
		cols := cs.tableCols(p)
		stored := map[string]int{}
		for i := range int(t.Rows) {
			k := ""
			for _, kc := range t.Key {
				k += vecs[kc].Value(i).String() + "|"
			}
			stored[k] = i
		}
		for _, row := range want[p+1] {
			k := rowKey(t, cols, row)
			i, ok := stored[k]
			if !ok {
				return fmt.Errorf("gradient of %s: row %s is twice there or is no row of the table", t.Name, k)
			}
			delete(stored, k)
			for j, tc := range cols {
				if !t.Cols[tc].Type.IsFloat() && row[j].String() != vecs[tc].Value(i).String() {
					return fmt.Errorf("gradient of %s at %s: %s is %v, stored %v", t.Name, k, t.Cols[tc].Name,
						row[j], vecs[tc].Value(i))
				}
				if t.Cols[tc].Type.IsFloat() && cs.active(p, tc) && row[j].Null {
					return fmt.Errorf("gradient of %s at %s: %s is NULL", t.Name, k, t.Cols[tc].Name)
				}
			}
		}
	}
	return nil
}

// tableCols are the table columns of the columns of parameter p's root.
func (cs *Case) tableCols(p int) []int { return cs.Result.Cols[p] }

// active reports whether table column c belongs to parameter p.
func (cs *Case) active(p, c int) bool {
	param := cs.Params[p]
	if !param.Table.Cols[c].Type.IsFloat() {
		return false
	}
	return !slices.Contains(param.Table.Key, c) && (slices.Contains(param.Cols, c) || param.Cols == nil)
}

// rowKey prints the identity of a gradient's row.
func rowKey(t *ra.Table, cols []int, row interp.Row) string {
	k := ""
	for _, kc := range t.Key {
		for j, tc := range cols {
			if tc == kc {
				k += row[j].String() + "|"
			}
		}
	}
	return k
}

// engines runs the optimized plan everywhere.
func (c *Checker) engines(ctx context.Context, cs *Case, want [][]interp.Row) error {
	for _, e := range append([]Engine{Oracle}, c.Engines...) {
		if _, err := c.on(ctx, cs, e, want, e.Tol, "on the optimized plan"); err != nil {
			return err
		}
	}
	return nil
}

// on compares what an engine computes of the optimized plan with want. It reports whether the engine could.
func (c *Checker) on(ctx context.Context, cs *Case, e Engine, want [][]interp.Row, tol float64, where string) (bool,
	error) {
	got, err := e.Run(ctx, cs.DB, cs.Result.Plan, env)
	if errors.Is(err, ErrLimit) {
		c.Stats.Limits++
		return false, nil
	}
	if err == nil {
		err = cs.compare(got, want, tol)
	}
	if err != nil {
		return false, fmt.Errorf("%s %s: %w\n%s", e.Name, where, err, cs.Result.Plan.Format())
	}
	return true, nil
}

// alone computes each gradient by its own plan.
func (c *Checker) alone(ctx context.Context, cs *Case, want [][]interp.Row) error {
	for p, param := range cs.Params {
		plan, fired, err := optimizer.Alone(ctx, cs.Result.Plan, p+1, optimizer.Options{Verify: true})
		if err != nil {
			return err
		}
		c.Stats.Add(Stats{Fired: fired})
		got, err := evaluate(ctx, cs.DB, plan, env)
		if err == nil {
			err = cs.compareRoot(p, got[0], want[p+1], Oracle.Tol)
		}
		if err != nil {
			return fmt.Errorf("the gradient of %s alone: %w\n%s", param.Table.Name, err, plan.Format())
		}
	}
	return nil
}

// real runs the query over columns of type real. The oracle computes in double precision from the same values, so
// results differ by rounding; where a mask, a maximum or a floor decides otherwise after rounding they differ by
// more, so that only well-conditioned queries can be compared: those on which the oracle is not moved by much when
// values move by the rounding of real.
func (c *Checker) real(ctx context.Context, q *Query) error {
	cs, err := c.prepare(ctx, q, kernels.Float32, optimizer.Options{})
	if err != nil || cs == nil {
		return err
	}
	want, err := Oracle.Run(ctx, cs.DB, cs.Result.Plan, env)
	if err != nil {
		return err
	}
	if len(want[0]) != 1 || want[0][0][0].Null {
		return nil
	}
	for _, e := range c.Engines {
		if e.TolReal == 0 {
			continue
		}
		ran, err := c.on(ctx, cs, e, want, e.TolReal, "over real")
		if err != nil {
			return err
		}
		if ran {
			c.Stats.Reals++
		}
	}
	return nil
}

// rulesOff runs plans without some of the rules, with the rules in another order, and without any.
func (c *Checker) rulesOff(ctx context.Context, cs *Case, want [][]interp.Row, r *rand.Rand) error {
	all := rules.All()
	none := lists.Map(all, func(rule rules.Rule) string { return rule.Name })
	for _, opt := range []optimizer.Options{
		{Disable: none},
		{Disable: []string{none[r.Intn(len(none))]}},
		{Disable: []string{none[r.Intn(len(none))], none[r.Intn(len(none))]}},
		{Shuffle: r.Shuffle, Verify: true},
	} {
		res, _, err := compile(ctx, cs.DB, cs.Q.Loss, cs.Names, opt)
		if err != nil {
			return fmt.Errorf("without %v: %w", opt.Disable, err)
		}
		got, err := Oracle.Run(ctx, cs.DB, res.Plan, env)
		if err == nil {
			err = cs.compare(got, want, Oracle.Tol)
		}
		if err != nil {
			return fmt.Errorf("without %v: %w\n%s", opt.Disable, err, res.Plan.Format())
		}
		c.Stats.RulesOff++
	}
	return nil
}

// compare reports the first difference between two results: the loss, and per parameter the rows by identity.
// tol is relative to the largest value of the root.
func (cs *Case) compare(got, want [][]interp.Row, tol float64) error {
	if len(got[0]) != 1 || got[0][0][0].Null {
		return fmt.Errorf("the loss is %v, not %v", got[0], want[0])
	}
	if a, b := got[0][0][0].Float(), want[0][0][0].Float(); !near(a, b, tol*math.Max(1, math.Abs(b))) {
		return fmt.Errorf("the loss is %.15g, not %.15g", a, b)
	}
	for p, param := range cs.Params {
		if err := cs.compareRoot(p, got[p+1], want[p+1], tol); err != nil {
			return fmt.Errorf("gradient of %s: %w", param.Table.Name, err)
		}
	}
	return nil
}

func (cs *Case) compareRoot(p int, got, want []interp.Row, tol float64) error {
	t, cols := cs.Params[p].Table, cs.tableCols(p)
	if len(got) != len(want) {
		return fmt.Errorf("%d rows, not %d", len(got), len(want))
	}
	rows, scale := map[string]interp.Row{}, 1.0
	for _, row := range want {
		rows[rowKey(t, cols, row)] = row
		for j, tc := range cols {
			if cs.active(p, tc) {
				for _, x := range row[j].Floats() {
					if !math.IsInf(x, 0) && !math.IsNaN(x) {
						scale = math.Max(scale, math.Abs(x))
					}
				}
			}
		}
	}
	for _, row := range got {
		k := rowKey(t, cols, row)
		other := rows[k]
		if other == nil {
			return fmt.Errorf("row %s does not belong there or is there twice", k)
		}
		delete(rows, k)
		for j, tc := range cols {
			if err := sameValue(row[j], other[j], tol*scale); err != nil {
				return fmt.Errorf("row %s column %s: %w", k, t.Cols[tc].Name, err)
			}
		}
	}
	return nil
}

func sameValue(a, b kernels.Value, tol float64) error {
	if a.Null != b.Null || !a.Type.IsFloat() && a.String() != b.String() {
		return fmt.Errorf("%v, not %v", a, b)
	}
	if a.Null || !a.Type.IsFloat() {
		return nil
	}
	x, y := a.Floats(), b.Floats()
	if len(x) != len(y) {
		return fmt.Errorf("%v, not %v", a, b)
	}
	for i := range x {
		if !near(x[i], y[i], tol) {
			return fmt.Errorf("element %d: %.15g, not %.15g", i, x[i], y[i])
		}
	}
	return nil
}

func near(a, b, tol float64) bool {
	return a == b || math.Abs(a-b) <= tol || math.IsNaN(a) && math.IsNaN(b)
}
