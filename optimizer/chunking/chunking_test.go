package chunking_test

import (
	"context"
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/relgrad/relgrad/internal/gradtest"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/optimizer"
	"github.com/relgrad/relgrad/optimizer/chunking"
	"github.com/relgrad/relgrad/optimizer/eindecomp"
	"github.com/relgrad/relgrad/ra"
)

// TestGolden runs the files of testdata. Besides those of gradtest.Scripts there is one command:
//
//	chunks p=8 wrt=(w,h) the decomposition of the loss with its gradients
func TestGolden(t *testing.T) {
	gradtest.Scripts(t, func(t *testing.T, db *memdb.DB, d *datadriven.TestData) string {
		var params []string
		p := int64(8)
		for _, a := range d.CmdArgs {
			if a.Key == "wrt" {
				params = a.Vals
			}
		}
		if d.HasArg("p") {
			d.ScanArgs(t, "p", &p)
		}
		res, err := gradtest.Optimize(context.Background(), db, d.Input, params, optimizer.Options{Verify: true})
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		c, err := chunking.Find(context.Background(), res.Plan, counts(db))
		if err != nil {
			return err.Error()
		}
		text, err := c.Explain(context.Background(), p)
		if err != nil {
			return err.Error()
		}
		return strings.TrimRight(text, "\n")
	})
}

// counts counts the keys of a database in memory.
func counts(db *memdb.DB) chunking.Keys {
	return func(ctx context.Context, t *ra.Table, col int) (chunking.Domain, error) {
		cols, err := db.Read(ctx, t, []int{col})
		if err != nil {
			return chunking.Domain{}, err
		}
		return chunking.DomainOf(cols[0]), nil
	}
}

// TestSquare: a product of square matrices in blocks costs what EinDecomp says of matrices, whatever the blocks are.
func TestSquare(t *testing.T) {
	for _, blocks := range []int{1, 2, 8} {
		db, draw, n := memdb.New(), rand.New(rand.NewSource(1)), int64(64)
		side := int(n) / blocks
		for _, name := range []string{"a (i %d, j %d; v[%d,%d])", "b (j %d, k %d; v[%d,%d])"} {
			if err := gradtest.Grid(db, draw, fmt.Sprintf(name, blocks, blocks, side, side)); err != nil {
				t.Fatal(err)
			}
		}
		res, err := gradtest.Optimize(context.Background(), db, "SELECT sum(sqnorm(v)) FROM (SELECT a.i, b.k, "+
			"sum(matmul(a.v, b.v)) AS v FROM a JOIN b ON a.j = b.j GROUP BY a.i, b.k) p", nil, optimizer.Options{})
		if err != nil {
			t.Fatal(err)
		}
		c, err := chunking.Find(context.Background(), res.Plan, counts(db))
		if err != nil {
			t.Fatal(err)
		}
		g, err := eindecomp.New(c.Graph.Vertices[:1])
		if err != nil {
			t.Fatal(err)
		}
		for p, want := range map[int64]int64{4: 4, 8: 5, 16: 7, 64: 11} { // times n², as counted by hand
			d, err := eindecomp.NewDecomposer(g, p, eindecomp.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			plan, err := d.Decompose(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if plan.Costs.Total != want*n*n {
				t.Errorf("%d² blocks, %d kernel calls: %d floats, not %d", blocks, p, plan.Costs.Total, want*n*n)
			}
		}
	}
}

// TestLosses decomposes every loss of gradtest with its gradients.
func TestLosses(t *testing.T) {
	db, vertices, left := gradtest.Graph(), 0, 0
	for _, l := range gradtest.Losses {
		res, err := gradtest.Optimize(context.Background(), db, l.SQL, l.Params, optimizer.Options{})
		if err != nil {
			t.Fatalf("%s: %v", l.SQL, err)
		}
		c, err := chunking.Find(context.Background(), res.Plan, counts(db))
		if err == nil {
			_, err = c.Explain(context.Background(), 4)
		}
		if err != nil {
			t.Errorf("%s: %v", l.SQL, err)
			continue
		}
		if left += len(c.Left); c.Graph != nil {
			vertices += len(c.Graph.Vertices)
		}
	}
	if t.Logf("%d sums decomposed, %d left out", vertices, left); vertices < 20 || left < 100 {
		t.Errorf("%d sums decomposed, %d left out, expected at least 20 and 100", vertices, left)
	}
}
