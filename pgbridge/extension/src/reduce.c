// Kernels that reduce: sums, norms, softmax and others made of these. Sums run in double precision.
#include "chunk.h"

#include <math.h>

#include "cpu.h"
#include "lane.h"

// PAIRS sums E over the elements a of x and b of y. It has eight partial sums, so that the compiler can vectorise the
// loop.
#define PAIRS(T, E)                                     \
	do {                                                \
		const T *p = x, *q = y;                         \
		int64 i = 0;                                    \
		for (; i + 8 <= n; i += 8)                      \
			for (int j = 0; j < 8; j++) {               \
				double a = p[i + j], b = q[i + j];      \
				s[j] += E;                              \
			}                                           \
		for (; i < n; i++) {                            \
			double a = p[i], b = q[i];                  \
			s[0] += E;                                  \
		}                                               \
	} while (0)
#define CHAINS_SUM (((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7])))

static double
dot_piece(bool single, int64 n, const void *x, const void *y)
{
	double s[8] = {0};

	if (single)
		PAIRS(float, a * b);
	else
		PAIRS(double, a * b);
	return CHAINS_SUM;
}

static double
distance_piece(bool single, int64 n, const void *x, const void *y)
{
	double s[8] = {0};

	if (single)
		PAIRS(float, (a - b) * (a - b));
	else
		PAIRS(double, (a - b) * (a - b));
	return CHAINS_SUM;
}

// pieces computes a sum over two chunks piece by piece, so that a cancel request is noticed.
static double
pieces(double (*piece)(bool, int64, const void *, const void *), bool single, int64 n, const void *x, const void *y)
{
	double s = 0;
	size_t w = rg_width(single);

	for (int64 lo = 0; lo < n; lo += RG_PIECE) {
		CHECK_FOR_INTERRUPTS();
		s += piece(single, Min(RG_PIECE, n - lo), (const char *) x + lo * w, (const char *) y + lo * w);
	}
	return s;
}

static double
dot(bool single, int64 n, const void *x, const void *y)
{
	return pieces(dot_piece, single, n, x, y);
}

static double
square_distance(bool single, int64 n, const void *x, const void *y)
{
	return pieces(distance_piece, single, n, x, y);
}

// add_rows adds rows rows of size elements to acc.
static void
add_rows(bool single, int64 rows, int64 size, const void *x, double *acc)
{
	size_t w = rg_width(single);
	int64 width = Min(size, RG_PIECE), high = Max(1, RG_PIECE / size);

	for (int64 r = 0; r < rows; r += high)
		for (int64 lo = 0; lo < size; lo += width) {
			const void *from = (const char *) x + (r * size + lo) * w;
			int64 n = Min(width, size - lo), m = Min(high, rows - r);

			CHECK_FOR_INTERRUPTS();
			if (single)
				rg_add_rows_f32(m, n, from, acc + lo);
			else
				rg_add_rows_f64(m, n, from, acc + lo);
		}
}

RG_FUNCTION(dot)
{
	RgOperand x[2];

	rg_pair(fcinfo, "dot", x);
	PG_RETURN_FLOAT8(dot(x[0].single, x[0].size, x[0].data, x[1].data));
}

RG_FUNCTION(mse)
{
	RgOperand x[2];

	rg_pair(fcinfo, "mse", x);
	PG_RETURN_FLOAT8(square_distance(x[0].single, x[0].size, x[0].data, x[1].data) / x[0].size);
}

RG_FUNCTION(sqnorm)
{
	RgOperand x;

	rg_operand(fcinfo, 0, "sqnorm", &x);
	PG_RETURN_FLOAT8(dot(x.single, x.size, x.data, x.data));
}

RG_FUNCTION(norm)
{
	RgOperand x;
	double s;

	rg_operand(fcinfo, 0, "norm", &x);
	s = dot(x.single, x.size, x.data, x.data);
	if (!x.single && !(s > 1e-270 && s < 1e300)) // squares of reals stay in range
		PG_RETURN_FLOAT8(rg_scaled_length(x.size, x.data));
	PG_RETURN_FLOAT8(sqrt(s));
}

// A reduction of a lane of n elements to a number.
typedef double (*Lane)(int64 n, const double *x);

static double
log_sum_exp(int64 n, const double *x)
{
	double more, m = rg_log_sum_exp_parts(n, x, &more);

	return m + more;
}

static double
sum(int64 n, const double *x)
{
	double s = 0;

	add_rows(false, n, 1, x, &s);
	return s;
}

static double
mean(int64 n, const double *x)
{
	return sum(n, x) / n;
}

// reduce applies a reduction to all elements, or along an axis that a second argument gives.
static Datum
reduce(FunctionCallInfo fcinfo, const char *kernel, Lane lane)
{
	RgOperand x;
	RgChunk out;
	int axis, dims[MAXDIM];
	int64 n, inner;
	double *buf;

	rg_operand(fcinfo, 0, kernel, &x);
	if (PG_NARGS() == 1) {
		buf = x.single ? palloc_extended(x.size * sizeof(double), MCXT_ALLOC_HUGE) : NULL;
		PG_RETURN_FLOAT8(lane(x.size, rg_in_double(&x, 0, 1, x.size, buf)));
	}
	axis = rg_axis_arg(fcinfo, 1, kernel, &x);
	memcpy(dims, x.dims, x.ndim * sizeof(int));
	n = dims[axis];
	inner = rg_product(x.ndim - axis - 1, dims + axis + 1);
	dims[axis] = 1;
	out = rg_new_chunk(kernel, x.single, x.ndim, dims);
	buf = palloc_extended(n * sizeof(double), MCXT_ALLOC_HUGE);
	for (int64 i = 0; i < out.size; i++) {
		RG_LOOK(i);
		rg_put(&out, i, lane(n, rg_in_double(&x, i / inner * inner * n + i % inner, inner, n, buf)));
	}
	PG_RETURN_ARRAYTYPE_P(out.array);
}

// reduce_sum is reduce for sums, without copies.
static Datum
reduce_sum(FunctionCallInfo fcinfo, const char *kernel, Lane lane, bool average)
{
	RgOperand x;
	RgChunk out;
	int axis, dims[MAXDIM];
	int64 n, inner;
	double *acc;

	rg_operand(fcinfo, 0, kernel, &x);
	if (PG_NARGS() == 1) {
		double s = 0;

		add_rows(x.single, x.size, 1, x.data, &s);
		PG_RETURN_FLOAT8(average ? s / x.size : s);
	}
	axis = rg_axis_arg(fcinfo, 1, kernel, &x);
	inner = rg_product(x.ndim - axis - 1, x.dims + axis + 1);
	if (inner == 1)
		return reduce(fcinfo, kernel, lane);
	memcpy(dims, x.dims, x.ndim * sizeof(int));
	n = dims[axis];
	dims[axis] = 1;
	out = rg_new_chunk(kernel, x.single, x.ndim, dims);
	acc = palloc_extended(inner * sizeof(double), MCXT_ALLOC_HUGE);
	for (int64 o = 0; o < out.size; o += inner) {
		rg_clear(acc, inner * sizeof(double));
		add_rows(x.single, n, inner, (const char *) x.data + o * n * rg_width(x.single), acc);
		for (int64 i = 0; i < inner; i++) {
			RG_LOOK(i);
			rg_put(&out, o + i, average ? acc[i] / n : acc[i]);
		}
	}
	PG_RETURN_ARRAYTYPE_P(out.array);
}

RG_FUNCTION(sum_elements)
{
	return reduce_sum(fcinfo, "sum_elements", sum, false);
}

RG_FUNCTION(mean_elements)
{
	return reduce_sum(fcinfo, "mean_elements", mean, true);
}

RG_FUNCTION(max_elements)
{
	return reduce(fcinfo, "max_elements", rg_largest);
}

static double
least(int64 n, const double *x)
{
	double m = x[0];

	for (int64 i = 1; i < n; i++) {
		RG_LOOK(i);
		m = m < x[i] || m != m ? m : x[i];
	}
	return m;
}

RG_FUNCTION(min_elements)
{
	return reduce(fcinfo, "min_elements", least);
}

RG_FUNCTION(logsumexp)
{
	return reduce(fcinfo, "logsumexp", log_sum_exp);
}

static Datum
position(FunctionCallInfo fcinfo, const char *kernel, double sign)
{
	RgOperand x;
	int64 best = 0;

	rg_operand(fcinfo, 0, kernel, &x);
	if (x.ndim != 1)
		rg_wrong_type(kernel, &x, 1, "The argument must be a vector.");
	for (int64 i = 0; i < x.size; i++) {
		double v = rg_at(&x, i);

		RG_LOOK(i);
		if (v != v)
			PG_RETURN_INT64(i);
		if (sign * v > sign * rg_at(&x, best))
			best = i;
	}
	PG_RETURN_INT64(best);
}

RG_FUNCTION(argmax)
{
	return position(fcinfo, "argmax", 1);
}

RG_FUNCTION(argmin)
{
	return position(fcinfo, "argmin", -1);
}

RG_FUNCTION(cross_entropy)
{
	RgOperand z;
	int64 label = PG_GETARG_INT64(1);
	double *buf, m, more;

	rg_operand(fcinfo, 0, "cross_entropy", &z);
	if (z.ndim != 1)
		rg_wrong_type("cross_entropy", &z, 1, "The arguments must be a vector of logits and a bigint label.");
	if (label < 0 || label >= z.size)
		ereport(ERROR, (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
						errmsg("label %lld of cross_entropy is not in 0 to %lld", (long long) label,
							   (long long) z.size - 1)));
	buf = z.single ? palloc_extended(z.size * sizeof(double), MCXT_ALLOC_HUGE) : NULL;
	m = rg_log_sum_exp_parts(z.size, rg_in_double(&z, 0, 1, z.size, buf), &more);
	PG_RETURN_FLOAT8(m - rg_at(&z, label) + more);
}
