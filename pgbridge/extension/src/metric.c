// Metrics of predictions: aggregates that are no part of a loss. Those that are a mean or a ratio have the state of a sum.
// auc and ndcg keep all pairs: the elements of their state are k and then the pairs, of which there are as many as rows;
// what follows is room for more.
#include "aggregate.h"

#include <float.h>
#include <math.h>

#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/typcache.h"

#define K 0
#define PAIRS 1
#define FIRST_PAIRS 8

// label reads argument i, 0 or 1 or a boolean.
static double
label(FunctionCallInfo fcinfo, int i, const char *metric)
{
	double y;

	if (rg_call(fcinfo)->arg[i] == BOOLOID)
		return PG_GETARG_BOOL(i);
	y = PG_GETARG_FLOAT8(i);
	if (y != 0 && y != 1)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("%s: the label %s is neither 0 nor 1", metric, float8out_internal(y))));
	return y;
}

// add adds a row of n numbers to a sum.
static Datum
add(FunctionCallInfo fcinfo, const char *metric, int n, double *x)
{
	ArrayType *a = rg_own_state(fcinfo);
	RgOperand row = {.ndim = n > 1, .dims = &n, .size = n, .data = x};
	RgState s;

	if (rg_read_state(a, &s)) {
		rg_same_rows(metric, &s, &row);
		rg_fold_add(&s, &row);
	} else {
		rg_new_state(row.ndim, &n, &s);
		memcpy(rg_elements(&s), x, n * sizeof(double));
	}
	s.x[ROWS]++;
	PG_RETURN_ARRAYTYPE_P(s.array);
}

// agg_accuracy(state, predicted, actual) counts rows that are equal, of any type, or a boolean and its number.
RG_FUNCTION(agg_accuracy)
{
	const Oid *types = rg_call(fcinfo)->arg;
	double hit;

	if (types[1] == BOOLOID && types[2] == FLOAT8OID)
		hit = label(fcinfo, 1, "accuracy") == label(fcinfo, 2, "accuracy");
	else {
		Oid type = get_fn_expr_argtype(fcinfo->flinfo, 1);
		TypeCacheEntry *t = lookup_type_cache(type, TYPECACHE_EQ_OPR_FINFO);

		if (!OidIsValid(t->eq_opr_finfo.fn_oid))
			ereport(ERROR, (errcode(ERRCODE_UNDEFINED_FUNCTION),
							errmsg("accuracy: values of type %s cannot be compared", format_type_be(type))));
		hit = DatumGetBool(FunctionCall2Coll(&t->eq_opr_finfo, PG_GET_COLLATION(), PG_GETARG_DATUM(1),
											 PG_GETARG_DATUM(2)));
	}
	return add(fcinfo, "accuracy", 1, &hit);
}

RG_FUNCTION(agg_rmse)
{
	double d = PG_GETARG_FLOAT8(1) - PG_GETARG_FLOAT8(2);

	d *= d;
	return add(fcinfo, "rmse", 1, &d);
}

// agg_log_loss(state, probability, label) adds -ln of the probability of what happened, which is at least DBL_EPSILON.
RG_FUNCTION(agg_log_loss)
{
	double p = PG_GETARG_FLOAT8(1), y = label(fcinfo, 2, "log_loss"), loss;

	if (!(p >= 0 && p <= 1))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("log_loss: the probability %s is not in 0 to 1", float8out_internal(p))));
	p = Min(Max(p, DBL_EPSILON), 1 - DBL_EPSILON);
	loss = y == 1 ? -log(p) : -log1p(-p);
	return add(fcinfo, "log_loss", 1, &loss);
}

// agg_f1(state, predicted, actual) adds twice the rows that are rightly predicted to be 1, and the rows that are 1 of
// either.
RG_FUNCTION(agg_f1)
{
	double p = label(fcinfo, 1, "f1"), y = label(fcinfo, 2, "f1"), x[2] = {2 * p * y, p + y};

	return add(fcinfo, "f1", 2, x);
}

RG_FUNCTION(agg_f1_value)
{
	RgState s;

	if (!rg_read_state(PG_GETARG_ARRAYTYPE_P(0), &s))
		PG_RETURN_NULL();
	if (s.chunk.size != 2)
		rg_broken_state();
	PG_RETURN_FLOAT8(rg_elements(&s)[1] > 0 ? rg_elements(&s)[0] / rg_elements(&s)[1] : 0);
}

RG_FUNCTION(agg_root)
{
	RgState s;

	if (!rg_read_state(PG_GETARG_ARRAYTYPE_P(0), &s))
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(sqrt(rg_elements(&s)[0] / s.x[ROWS]));
}

// read_pairs reads a state of pairs. It returns false for the state of no rows.
static bool
read_pairs(ArrayType *a, RgState *s)
{
	if (!rg_read_state(a, s))
		return false;
	if (s->chunk.ndim != 1 || !(s->x[ROWS] >= 0 && PAIRS + 2 * s->x[ROWS] <= s->chunk.size))
		rg_broken_state();
	return true;
}

// make_room makes s a state with room for n pairs more, twice as many as it has, so that each pair is moved about once.
static void
make_room(RgState *s, int64 n)
{
	int64 rows = (int64) s->x[ROWS];
	int dims[1];
	RgState more;

	if (PAIRS + 2 * (rows + n) <= s->chunk.size)
		return;
	n = Max(rows + n, 2 * rows);
	dims[0] = (int) Min(PAIRS + 2 * n, (int64) RG_MAX_ELEMENTS);
	rg_new_state(1, dims, &more);
	rg_clear(rg_elements(&more), more.chunk.size * sizeof(double));
	rg_copy(rg_elements(&more), rg_elements(s), (PAIRS + 2 * rows) * sizeof(double));
	more.x[ROWS] = rows;
	*s = more;
}

static void
same_k(double a, double b)
{
	if (a != b)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("ndcg: k is %.0f and %.0f in one group", a, b)));
}

static Datum
add_pair(FunctionCallInfo fcinfo, double k, double x, double y)
{
	static int dims[1] = {PAIRS + 2 * FIRST_PAIRS};
	double *pair;
	RgState s;

	if (!read_pairs(rg_own_state(fcinfo), &s)) {
		rg_new_state(1, dims, &s);
		rg_clear(rg_elements(&s), s.chunk.size * sizeof(double));
		rg_elements(&s)[K] = k;
	}
	same_k(rg_elements(&s)[K], k);
	make_room(&s, 1);
	pair = rg_elements(&s) + PAIRS + 2 * (int64) s.x[ROWS]++;
	pair[0] = x;
	pair[1] = y;
	PG_RETURN_ARRAYTYPE_P(s.array);
}

static double
score(FunctionCallInfo fcinfo, const char *metric)
{
	double x = PG_GETARG_FLOAT8(1);

	if (isnan(x))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("%s: the score is NaN", metric)));
	return x;
}

RG_FUNCTION(agg_auc)
{
	return add_pair(fcinfo, 0, score(fcinfo, "auc"), label(fcinfo, 2, "auc"));
}

// agg_ndcg(state, score, relevance[, k]) keeps k as 0 where it is not given.
RG_FUNCTION(agg_ndcg)
{
	double y = PG_GETARG_FLOAT8(2);
	int64 k = PG_NARGS() > 3 ? PG_GETARG_INT64(3) : 0;

	if (!(y >= 0) || isinf(y))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("ndcg: the relevance %s is not a finite number of at least 0", float8out_internal(y))));
	if (PG_NARGS() > 3 && k < 1)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("ndcg: k is %lld, not at least 1", (long long) k)));
	return add_pair(fcinfo, (double) k, score(fcinfo, "ndcg"), y);
}

RG_FUNCTION(agg_pairs_combine)
{
	RgState s, t;
	int64 n;

	if (!read_pairs(PG_GETARG_ARRAYTYPE_P(1), &t))
		return PG_GETARG_DATUM(0);
	if (!read_pairs(rg_own_state(fcinfo), &s))
		PG_RETURN_ARRAYTYPE_P(t.array);
	same_k(rg_elements(&s)[K], rg_elements(&t)[K]);
	n = (int64) t.x[ROWS];
	make_room(&s, n);
	rg_copy(rg_elements(&s) + PAIRS + 2 * (int64) s.x[ROWS], rg_elements(&t) + PAIRS, 2 * n * sizeof(double));
	s.x[ROWS] += n;
	PG_RETURN_ARRAYTYPE_P(s.array);
}

// Pairs by falling score, and by falling relevance alone.
static int
by_score(const void *a, const void *b)
{
	double x = ((const double *) a)[0], y = ((const double *) b)[0];

	CHECK_FOR_INTERRUPTS();
	return (x < y) - (x > y);
}

static int
by_relevance(const void *a, const void *b)
{
	return by_score((const double *) a + 1, (const double *) b + 1);
}

// sorted_pairs is a sorted copy of a state's pairs.
static double *
sorted_pairs(const RgState *s, int (*order)(const void *, const void *))
{
	int64 n = (int64) s->x[ROWS];
	double *x = palloc(Max(n, 1) * 2 * sizeof(double));

	rg_copy(x, rg_elements(s) + PAIRS, n * 2 * sizeof(double));
	qsort(x, n, 2 * sizeof(double), order);
	return x;
}

// ties is how many of n sorted pairs from the first have one score.
static int64
ties(const double *x, int64 n)
{
	int64 m = 1;

	while (m < n && x[2 * m] == x[0])
		m++;
	return m;
}

// agg_auc_value is the share of the pairs of a 1 and a 0 in which the 1 has the greater score; half of those with one
// score.
RG_FUNCTION(agg_auc_value)
{
	double wins = 0, ones = 0, *x; // wins counts halves, and all are whole numbers
	RgState s;
	int64 n;

	if (!read_pairs(PG_GETARG_ARRAYTYPE_P(0), &s))
		PG_RETURN_NULL();
	n = (int64) s.x[ROWS];
	x = sorted_pairs(&s, by_score);
	for (int64 i = 0, m; i < n; i += m) {
		double here = 0;

		m = ties(x + 2 * i, n - i);
		for (int64 j = i; j < i + m; j++) {
			RG_LOOK(j);
			here += x[2 * j + 1];
		}
		wins += (m - here) * (2 * ones + here);
		ones += here;
	}
	if (ones == 0 || ones == n)
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(wins / (2 * ones * (n - ones)));
}

// gain sums relevance over log2(1 + place), of at most k places. Pairs of one score, if ties share, have their mean
// relevance.
static double
gain(const double *x, int64 n, int64 k, bool share)
{
	double sum = 0;

	for (int64 i = 0, m; i < Min(n, k); i += m) {
		double relevance = 0, discount = 0;

		m = share ? ties(x + 2 * i, n - i) : 1;
		for (int64 j = i; j < i + m; j++) {
			RG_LOOK(j);
			relevance += x[2 * j + 1];
			discount += j < k ? 1 / log2(j + 2.0) : 0;
		}
		sum += relevance / m * discount;
	}
	return sum;
}

// agg_ndcg_value is the gain in the order of the scores over the greatest possible one; 0 where nothing is relevant.
RG_FUNCTION(agg_ndcg_value)
{
	double best;
	RgState s;
	int64 n, k;

	if (!read_pairs(PG_GETARG_ARRAYTYPE_P(0), &s))
		PG_RETURN_NULL();
	n = (int64) s.x[ROWS];
	k = rg_elements(&s)[K] >= 1 && rg_elements(&s)[K] < n ? (int64) rg_elements(&s)[K] : n;
	best = gain(sorted_pairs(&s, by_relevance), n, k, false);
	PG_RETURN_FLOAT8(best > 0 ? gain(sorted_pairs(&s, by_score), n, k, true) / best : 0);
}
