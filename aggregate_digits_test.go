package relgrad

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// exactBits are those of 120 digits.
const exactBits = 400

func exactly(x float64) *big.Float { return new(big.Float).SetPrec(exactBits).SetFloat64(x) }

// statistic is the value and the gradient of an aggregate of numbers, from its definition.
func statistic(name string, xs []float64) (y *big.Float, g []*big.Float) {
	real := func() *big.Float { return new(big.Float).SetPrec(exactBits) }
	sum := real()
	for _, x := range xs {
		sum.Add(sum, exactly(x))
	}
	n := exactly(float64(len(xs)))
	mean := real().Quo(sum, n)
	each := func(f func(d *big.Float) *big.Float) {
		for _, x := range xs {
			g = append(g, f(real().Sub(exactly(x), mean)))
		}
	}
	switch name {
	case "sum":
		each(func(*big.Float) *big.Float { return exactly(1) })
		return sum, g
	case "avg":
		each(func(*big.Float) *big.Float { return real().Quo(exactly(1), n) })
		return mean, g
	}
	if name == "var_samp" || name == "stddev_samp" {
		n.Sub(n, exactly(1))
	}
	squares := real()
	for _, x := range xs {
		d := real().Sub(exactly(x), mean)
		squares.Add(squares, d.Mul(d, d))
	}
	v := real().Quo(squares, n)
	if name == "var_pop" || name == "var_samp" {
		each(func(d *big.Float) *big.Float { return d.Quo(d.Add(d, d), n) })
		return v, g
	}
	root := real().Sqrt(v)
	each(func(d *big.Float) *big.Float { return d.Quo(d, real().Mul(n, root)) })
	return root, g
}

// TestAggregateDigits compares aggregates and their gradients with numbers of 120 digits, over the whole range in which
// what they sum is a double precision. Beyond it a statistic is what Postgres says: an error where squares overflow, 0
// where they vanish.
func TestAggregateDigits(t *testing.T) {
	ctx := context.Background()
	for _, name := range []string{"sum", "avg", "var_pop", "var_samp", "stddev_pop", "stddev_samp"} {
		linear := name == "sum" || name == "avg"
		for _, scale := range []float64{1e-300, 1e-200, 1e-150, 1e-20, 1, 1e20, 1e150, 1e200, 1e300} {
			db := open(t, "")
			mustRun(t, db, "CREATE TABLE w (id int PRIMARY KEY, x double precision)")
			var xs []float64
			for i, x := range []float64{1, 3, 7, -2.5, 0.3, 3} {
				xs = append(xs, x*scale)
				mustRun(t, db, fmt.Sprintf("INSERT INTO w VALUES (%d, %g)", i, x*scale))
			}
			loss := "SELECT " + name + "(x) FROM w"
			got, err := db.Gradient(ctx, loss, "w", nil, 0)
			if !linear && scale >= 1e200 {
				if sqlerr.Code(err) != sqlerr.NumericOutOfRange {
					t.Errorf("%s of numbers of %g: %v", name, scale, err)
				}
				continue
			}
			if err != nil {
				t.Fatalf("%s of numbers of %g: %v", name, scale, err)
			}
			y, want := statistic(name, xs)
			if !linear && scale <= 1e-200 {
				if name == "stddev_pop" || name == "stddev_samp" {
					want = make([]*big.Float, len(xs))
					for i := range want {
						want[i] = exactly(0)
					}
				}
				y = exactly(0)
			}
			if value := mustRun(t, db, loss).Rows[0][0].(float64); off(value, y, y) > 8 {
				t.Errorf("%s of numbers of %g is %g, not %g", name, scale, value, y)
			}
			largest := exactly(0)
			for _, w := range want {
				if a := new(big.Float).Abs(w); a.Cmp(largest) > 0 {
					largest = a
				}
			}
			for i, w := range want {
				if x := got.Cols[1].F64()[i]; off(x, w, largest) > 8 {
					t.Errorf("the gradient of %s of numbers of %g is %g at %d, not %g", name, scale, x, i, w)
				}
			}
		}
	}
}

// off is how far got is from want, in units of the last place of unit.
func off(got float64, want, unit *big.Float) float64 {
	d, _ := new(big.Float).SetPrec(exactBits).Sub(exactly(got), want).Float64()
	u, _ := unit.Float64()
	u = math.Abs(u)
	return math.Abs(d) / (math.Nextafter(u, math.Inf(1)) - u)
}
