package gradtest

import (
	"context"
	"math"
	"testing"

	"github.com/relgrad/relgrad/kernels"
)

// Products of more operands than the kernel takes, at first and at second order. They are no views of Losses, since the
// function of a server takes four.
func TestLongProducts(t *testing.T) {
	const product = "einsum('i,ij,jk,kl,l,m->', a.v, outer(a.v, b.v), outer(b.v, a.v), outer(a.v, b.v), b.v, b.v)"
	db, ctx := Graph(), context.Background()
	for _, loss := range []string{
		"SELECT sum(" + product + ") FROM w0 a, w0 b WHERE a.node < b.node",
		"SELECT sum(sqnorm(g.v)) FROM gradient('SELECT tanh(sum(1e-2 * einsum(''i,i,i,i,i->'', v, v, v, v, v))) FROM w0', " +
			"NULL::w0) g"} {
		b, err := Bind(ctx, db, loss, []string{"w0"})
		if err == nil {
			err = b.Check(ctx, db, &kernels.Env{Seed: 1, Step: 2}, 1e-6)
		}
		if err != nil {
			t.Errorf("%s: %v", loss, err)
		}
	}
}

// Pairs of which one number is NULL count nowhere, and statistics that Postgres has no value for are NULL: here the
// distances of equal numbers from their mean, which is rounded, are not 0.
func TestPairs(t *testing.T) {
	nan := math.NaN()
	byHand(t, scalars(1, nan, 3), "SELECT covar_samp(x, id) FROM t", 2, -1, 0, 1)
	byHand(t, scalars(1, nan, 3), "SELECT covar_pop(id, x) * regr_count(x, id) FROM t", 2, -1, 0, 1)
	byHand(t, scalars(1, 3, nan), "SELECT regr_avgx(x, id) * sum(x) FROM t", 2, 0.5, 0.5, 0)
	byHand(t, scalars(1, 3, nan), "SELECT regr_sxx(x, id) * sum(x) + regr_syy(x, id) FROM t", 4, -1.5, 2.5, 0)
	byHand(t, scalars(1, 2, 6), "SELECT regr_slope(x, id) + 10 * regr_intercept(x, id) FROM t", 7.5, 7.8333333333333333,
		3.3333333333333333, -1.1666666666666667)
	byHand(t, scalars(0.1, 0.1, 0.1), "SELECT coalesce(corr(x, id), 7) + coalesce(regr_slope(id, x), 8) FROM t", 15,
		0, 0, 0)
	byHand(t, scalars(0.1, 0.1, 0.1), "SELECT regr_r2(x, id) + sum(x) * coalesce(regr_intercept(id, x), 1) FROM t", 1.3,
		1, 1, 1)
	byHand(t, scalars(4), "SELECT coalesce(covar_samp(x, id), 5) * sum(x) + covar_pop(x, id) FROM t", 20, 5)
}

// A product gives a number that is 0 the product of the others, at first and at second order.
func TestProducts(t *testing.T) {
	nan := math.NaN()
	byHand(t, scalars(-2, 3, nan), "SELECT product(x) FROM t", -6, 3, -2, 0)
	byHand(t, scalars(2, 0, 5), "SELECT product(x) FROM t", 0, 0, 10, 0)
	byHand(t, scalars(0, 4, 0), "SELECT product(x) FROM t", 0, 0, 0, 0)
	const second = "SELECT sum(h.x * (1 + h.id)) FROM gradient('SELECT product(x) FROM t', NULL::t) h"
	byHand(t, scalars(2, -3, 5), second, -15+20-18, 2*5+3*-3, 5+3*2, -3+2*2)
	byHand(t, scalars(2, 0, 5), second, 20, 10, 11, 4)
	byHand(t, scalars(0, 0, 5), second, 0, 10, 5, 0)
	byHand(t, scalars(0, 0, 0), second, 0, 0, 0, 0)
}

// Functions that Postgres has for numerics only, of numbers whose quotients double precision rounds.
func TestNumerics(t *testing.T) {
	byHand(t, scalars(1, 2), "SELECT sum(x * (mod(5.5, 2) + 0.3 % 0.1 + mod(-7.5, 2) + div(0.3, 0.1) + div(-7, 2))) "+
		"FROM t", 0, 0, 0)
	byHand(t, scalars(1, 2), "SELECT sum(x * (round(2.345, 2) - 2.35 + round(-2.5, 0) + 3 + round(1250, -2) - 1300 + "+
		"trunc(-2.349, 2) + 2.34 + log(2, 8) - 3 + 1)) FROM t", 3, 1, 1)
	byHand(t, scalars(2.5, -7.5), "SELECT sum(mod(x::numeric, 2) + log(2.0, x::numeric + 13.5)) FROM t",
		0.5-1.5+4+math.Log2(6), 1+1/(16*math.Ln2), 1+1/(6*math.Ln2))
	byHand(t, scalars(5, 7), "SELECT sum(mod(7.5, x::numeric) * (1 + id)) FROM t", 2.5+1, -1, -2)
}
