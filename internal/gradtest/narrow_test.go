package gradtest

import (
	"context"
	"fmt"
	"testing"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/internal/need"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer"
	"github.com/relgrad/relgrad/ra"
)

// TestNarrowIdentities: joins that pass on no more of an identity than tells their rows apart have the same gradients
// as others.
func TestNarrowIdentities(t *testing.T) {
	need.Time(t)
	db := Graph()
	cases := append(Losses[:len(Losses):len(Losses)], deep(db)...)
	for _, width := range []int{0, 1, 3} {
		for _, c := range cases {
			if err := narrow(db, width, c); err != nil {
				t.Errorf("width %d: %s: %v", width, c.SQL, err)
			}
		}
	}
}

// deep adds views upon views to the graph, over tables of one row and of several, conditions that fix a key, and joins
// of a view with itself, on its identity and beside it.
func deep(db *memdb.DB) []Loss {
	db.Create("one", 1, memdb.Column{Name: "id", Data: ints(7)}, memdb.Column{Name: "u", Data: numbers(0.5)})
	db.Create("two", 1, memdb.Column{Name: "id", Data: ints(1, 2)}, memdb.Column{Name: "u", Data: numbers(0.25, -0.75)})
	db.Create("at", 2, memdb.Column{Name: "t", Data: ints(1, 1, 1, 1, 2, 2, 2, 2)},
		memdb.Column{Name: "k", Data: ints(1, 2, 3, 4, 1, 2, 3, 4)},
		memdb.Column{Name: "x", Data: numbers(0.3, -0.2, 0.9, 0.7, 0.4, -0.6, 0.1, -0.3)})
	steps := map[string]string{
		"once": "SELECT at.k, tanh(h.h * one.u + at.x) AS h FROM %[1]s h JOIN at ON at.k = h.k " +
			"AND at.t = %[2]d CROSS JOIN one",
		"twice": "SELECT a.k, tanh(a.h * one.u + b.h) AS h FROM %[1]s a JOIN %[1]s b ON a.k = b.k CROSS JOIN one",
		"shifted": "SELECT a.k, tanh(a.h * one.u + b.h) AS h FROM %[1]s a JOIN %[1]s b ON b.k = a.k + 1 CROSS " +
			"JOIN one UNION ALL SELECT k, h * h FROM %[1]s WHERE k = 4",
		"beyond": "SELECT at.k, tanh(h.h * one.u + at.x) AS h FROM %[1]s h JOIN at ON at.k = h.k " +
			"AND at.t <= %[2]d CROSS JOIN one",
		"several": "SELECT a.k, tanh(a.h * two.u + b.h) AS h FROM %[1]s a JOIN %[1]s b ON b.k + 1 = a.k CROSS JOIN two",
		"lookup": "SELECT at.k, tanh(h.h * two.u + at.x) AS h FROM %[1]s h JOIN at ON at.k = h.k AND 2 = at.t " +
			"JOIN two ON two.id = at.t",
	}
	var out []Loss
	for name, step := range steps {
		below := name + "0"
		mustView(db, below, "SELECT k, x AS h FROM at WHERE t = 1")
		for i := 1; i <= 3; i++ {
			mustView(db, fmt.Sprint(name, i), fmt.Sprintf(step, below, 1+i%2))
			below = fmt.Sprint(name, i)
		}
		params := []string{"at", "one"}
		if name == "several" || name == "lookup" {
			params[1] = "two"
		}
		out = append(out, Loss{"SELECT sum(h * h * k) FROM " + below, params})
	}
	return out
}

func numbers(xs ...float64) *column.Column {
	return column.Of(kernels.Type{Kind: kernels.Float64}, xs)
}

func mustView(db *memdb.DB, name, sql string) {
	if err := db.AddView(name, sql); err != nil {
		panic(err)
	}
}

// narrow compares the gradients with central differences, and what the executor makes of the optimized plan with the
// oracle.
func narrow(db *memdb.DB, width int, c Loss) error {
	ctx, env := context.Background(), kernels.Env{Seed: 1, Step: 2}
	build := func() *ra.Builder {
		b := ra.NewBuilder()
		b.MaxKey = width
		return b
	}
	b, err := BindWith(ctx, build(), db, c.SQL, c.Params)
	if err != nil {
		return err
	}
	if err := b.Check(ctx, db, &env, 1e-6); err != nil {
		return err
	}
	res, err := OptimizeWith(ctx, build(), db, c.SQL, c.Params, optimizer.Options{Verify: true})
	if err != nil {
		return err
	}
	p, err := executor.Compile(ctx, res.Plan, db, executor.Options{Workers: 2})
	if err != nil {
		return err
	}
	defer p.Close()
	if err := p.Run(ctx, env); err != nil {
		return err
	}
	plain, err := OptimizeWith(ctx, ra.NewBuilder(), db, c.SQL, c.Params, optimizer.Options{})
	if err != nil {
		return err
	}
	for i, root := range plain.Plan.Roots {
		want, err := Rows(ctx, db, &env, root)
		if err != nil {
			return err
		}
		cols, err := p.Result(i)
		if err == nil {
			err = Compare(VectorRows(cols), want, 1e-12)
		}
		if err != nil {
			return fmt.Errorf("root %s: %w", root.Name, err)
		}
	}
	return nil
}
