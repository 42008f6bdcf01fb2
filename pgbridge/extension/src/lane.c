// Maps of lanes, which are the elements along a chunk's last axis, and functions that reductions use too. As in
// kernels/lane.go, sums leave the largest element out, and squares are of scaled numbers, so that no digits are lost.
#include "chunk.h"

#include <math.h>

#include "cpu.h"
#include "lane.h"

#define LAYER_NORM_EPS 1e-5 // as in kernels/lane.go

void
rg_pair(FunctionCallInfo fcinfo, const char *kernel, RgOperand *x)
{
	rg_operands(fcinfo, kernel, 2, x);
	if (!rg_same_shape(&x[0], &x[1]))
		ereport(ERROR, (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
						errmsg("different shapes %s and %s in %s", rg_shape(x[0].ndim, x[0].dims),
							   rg_shape(x[1].ndim, x[1].dims), kernel)));
}

double
rg_largest(int64 n, const double *x)
{
	double m = x[0];

	for (int64 i = 1; i < n; i++) {
		RG_LOOK(i);
		m = m > x[i] || m != m ? m : x[i];
	}
	return m;
}

// rg_in_double returns x's elements in double precision: n elements, the first at from, stride apart. buf has room for
// them.
const double *
rg_in_double(const RgOperand *x, int64 from, int64 stride, int64 n, double *buf)
{
	if (!x->single && stride == 1)
		return (const double *) x->data + from;
	for (int64 i = 0; i < n; i++) {
		RG_LOOK(i);
		buf[i] = rg_at(x, from + i * stride);
	}
	return buf;
}

// scale_of is a power of two that keeps squares of the scaled numbers in range; 1 for usual numbers.
static double
scale_of(int64 n, const double *x)
{
	double m = 0;

	for (int64 i = 0; i < n; i++) {
		RG_LOOK(i);
		m = fabs(x[i]) > m ? fabs(x[i]) : m;
	}
	return m > 1e150 ? 0x1p-540 : m < 1e-140 ? 0x1p540 : 1;
}

// rg_scaled_length is the Euclidean norm, also of numbers whose squares are out of range.
double
rg_scaled_length(int64 n, const double *x)
{
	double s = 0, scale = scale_of(n, x);

	for (int64 i = 0; i < n; i++) {
		double v = x[i] * scale;

		RG_LOOK(i);
		s += v * v;
	}
	return sqrt(s) / scale;
}

// largest_at is the index of the largest element, or of the first NaN.
static int64
largest_at(int64 n, const double *x)
{
	int64 m = 0;

	for (int64 i = 0; i < n; i++) {
		RG_LOOK(i);
		if (x[i] != x[i])
			return i;
		if (x[i] > x[m])
			m = i;
	}
	return m;
}

// rg_log_sum_exp_parts returns ln Σ eˣ in two parts: the largest element, and in more what the others add to it.
double
rg_log_sum_exp_parts(int64 n, const double *x, double *more)
{
	int64 at = largest_at(n, x);
	double m = x[at], s = 0;

	*more = 0;
	if (isinf(m) || isnan(m))
		return m;
	for (int64 i = 0; i < n; i++) {
		RG_LOOK(i);
		if (i != at)
			s += exp(x[i] - m);
	}
	*more = log1p(s);
	return m;
}

// A map from one lane of n elements, or two, to another lane.
typedef void (*Row)(int64 n, const double *x, const double *g, double *out);

// rows applies a map to every lane of the last axis of the arguments. If one is set, the result's last axis has length
// 1.
static Datum
rows(FunctionCallInfo fcinfo, const char *kernel, Row row, bool one)
{
	RgOperand x[2];
	RgChunk out;
	int dims[MAXDIM];
	int64 n, size;
	double *in[2], *res;

	if (PG_NARGS() == 2)
		rg_pair(fcinfo, kernel, x);
	else
		rg_operand(fcinfo, 0, kernel, &x[0]);
	memcpy(dims, x[0].dims, x[0].ndim * sizeof(int));
	n = dims[x[0].ndim - 1];
	size = one ? 1 : n;
	dims[x[0].ndim - 1] = (int) size;
	out = rg_new_chunk(kernel, x[0].single, x[0].ndim, dims);
	for (int i = 0; i < 2; i++)
		in[i] = palloc_extended(n * sizeof(double), MCXT_ALLOC_HUGE);
	res = palloc_extended(n * sizeof(double), MCXT_ALLOC_HUGE);
	for (int64 o = 0, to = 0; o < x[0].size; o += n, to += size) {
		CHECK_FOR_INTERRUPTS();
		row(n, rg_in_double(&x[0], o, 1, n, in[0]), PG_NARGS() == 2 ? rg_in_double(&x[1], o, 1, n, in[1]) : NULL, res);
		for (int64 i = 0; i < size; i++) {
			RG_LOOK(i);
			rg_put(&out, to + i, res[i]);
		}
	}
	PG_RETURN_ARRAYTYPE_P(out.array);
}

static void
softmax_row(int64 n, const double *x, const double *g pg_attribute_unused(), double *out)
{
	double m, s = 0;

	if (n <= RG_PIECE) {
		rg_softmax_f64(1, n, x, 1, out);
		return;
	}
	m = rg_largest(n, x);
	for (int64 i = 0; i < n; i++) {
		RG_LOOK(i);
		out[i] = exp(x[i] - m);
		s += out[i];
	}
	for (int64 i = 0; i < n; i++) {
		RG_LOOK(i);
		out[i] /= s;
	}
}

static void
log_softmax_row(int64 n, const double *x, const double *g pg_attribute_unused(), double *out)
{
	double more, m = rg_log_sum_exp_parts(n, x, &more);

	for (int64 i = 0; i < n; i++) {
		RG_LOOK(i);
		out[i] = (x[i] - m) - more;
	}
}

// softmax_center_row is g - Σ softmax(x)·g. To lose no digits, g[m] is first subtracted from all g, where x[m] is the
// largest.
static void
softmax_center_row(int64 n, const double *x, const double *g, double *out)
{
	int64 m = largest_at(n, x);
	double s = 0;

	softmax_row(n, x, NULL, out);
	for (int64 i = 0; i < n; i++) {
		RG_LOOK(i);
		s += out[i] * (g[i] - g[m]);
	}
	for (int64 i = 0; i < n; i++) {
		RG_LOOK(i);
		out[i] = (g[i] - g[m]) - s;
	}
}

// log_softmax_slope_row is g - softmax(x)·Σ g.
static void
log_softmax_slope_row(int64 n, const double *x, const double *g, double *out)
{
	int64 m = largest_at(n, x);
	double rest = 0, others = 0;

	softmax_row(n, x, NULL, out);
	for (int64 i = 0; i < n; i++) {
		RG_LOOK(i);
		if (i != m) {
			rest += out[i];
			others += g[i];
		}
	}
	for (int64 i = 0; i < n; i++) {
		RG_LOOK(i);
		out[i] = i == m ? g[m] * rest - out[i] * others : g[i] - out[i] * (others + g[m]);
	}
}

// unit writes x divided by its length to out and returns the length. If the length is 0, out is 0.
static double
unit(int64 n, const double *x, double *out)
{
	double scale = scale_of(n, x), s = 0;

	for (int64 i = 0; i < n; i++) {
		RG_LOOK(i);
		out[i] = x[i] * scale;
		s += out[i] * out[i];
	}
	s = sqrt(s);
	for (int64 i = 0; i < n; i++) {
		RG_LOOK(i);
		out[i] = s == 0 ? 0 : out[i] / s;
	}
	return s / scale;
}

static void
l2_normalize_row(int64 n, const double *x, const double *g pg_attribute_unused(), double *out)
{
	unit(n, x, out);
}

static void
l2_length_row(int64 n, const double *x, const double *g pg_attribute_unused(), double *out)
{
	out[0] = rg_scaled_length(n, x);
}

// l2_normalize_slope_row is (g - y·Σ y·g) / |x|. To lose no digits, the multiple of y that equals g at the largest |y|
// is first subtracted from g.
static void
l2_normalize_slope_row(int64 n, const double *x, const double *g, double *out)
{
	double length = unit(n, x, out), r, s = 0;
	int64 m = 0;

	if (length == 0)
		return;
	for (int64 i = 0; i < n; i++) {
		RG_LOOK(i);
		if (fabs(out[i]) > fabs(out[m]) || out[i] != out[i])
			m = i;
	}
	r = g[m] / out[m];
	for (int64 i = 0; i < n; i++) {
		RG_LOOK(i);
		if (i != m)
			s += out[i] * (g[i] - out[i] * r);
	}
	for (int64 i = 0; i < n; i++) {
		double h = i == m ? 0 : g[i] - out[i] * r;

		RG_LOOK(i);
		out[i] = (h - out[i] * s) / length;
	}
}

// centered writes x minus its mean, times a scale, to out. It returns the standard deviation of layer_norm times that
// scale.
static double
centered(int64 n, const double *x, double *out, double *scale)
{
	double m = 0, rest = 0, s = 0;

	for (int64 i = 0; i < n; i++) {
		RG_LOOK(i);
		m += x[i] / n;
	}
	for (int64 i = 0; i < n; i++) {
		RG_LOOK(i);
		rest += (x[i] - m) / n;
	}
	for (int64 i = 0; i < n; i++) {
		RG_LOOK(i);
		out[i] = x[i] - m - rest;
	}
	*scale = Min(1, scale_of(n, out));
	for (int64 i = 0; i < n; i++) {
		RG_LOOK(i);
		out[i] *= *scale;
		s += out[i] * out[i];
	}
	return sqrt(s / n + LAYER_NORM_EPS * *scale * *scale);
}

static void
layer_norm_row(int64 n, const double *x, const double *g pg_attribute_unused(), double *out)
{
	double scale, sd = centered(n, x, out, &scale);

	for (int64 i = 0; i < n; i++) {
		RG_LOOK(i);
		out[i] /= sd;
	}
}

static void
layer_norm_deviation_row(int64 n, const double *x, const double *g pg_attribute_unused(), double *out)
{
	double scale, sd = centered(n, x, out, &scale);

	out[0] = sd / scale;
}

// layer_norm_slope_row: see layerNormSlope of kernels/lane.go.
static void
layer_norm_slope_row(int64 n, const double *x, const double *g, double *out)
{
	double *y = palloc_extended(n * sizeof(double), MCXT_ALLOC_HUGE), scale, sd = centered(n, x, y, &scale);
	double c = 0, mean = 0, along = 0, left = 0, slope;
	int64 m = 0, k = 0;

	for (int64 i = 0; i < n; i++) {
		RG_LOOK(i);
		mean += g[i];
	}
	c = rg_scaled_length(n, y);
	mean /= n;
	for (int64 i = 0; i < n && c == 0; i++) {
		RG_LOOK(i);
		out[i] = (g[i] - mean) / sd * scale;
	}
	if (c == 0) {
		pfree(y);
		return;
	}
	for (int64 i = 0; i < n; i++) {
		RG_LOOK(i);
		y[i] /= c;
		if (fabs(y[i]) > fabs(y[m]))
			m = i;
	}
	for (int64 i = 0; i < n; i++) {
		RG_LOOK(i);
		if (fabs(y[i] - y[m]) > fabs(y[k] - y[m]))
			k = i;
	}
	slope = (g[m] - g[k]) / (y[m] - y[k]);
	mean = 0;
	for (int64 i = 0; i < n; i++) {
		double h = i == k || i == m ? 0 : (g[i] - g[m]) - slope * (y[i] - y[m]);

		RG_LOOK(i);
		along += y[i] * (g[i] - g[m]);
		out[i] = h;
		mean += h / n;
		left += h * y[i];
	}
	along *= LAYER_NORM_EPS * scale * scale / (sd * sd);
	for (int64 i = 0; i < n; i++) {
		RG_LOOK(i);
		out[i] = (out[i] - mean - y[i] * left + y[i] * along) / sd * scale;
	}
	pfree(y);
}

// ROWS defines a kernel of lanes.
#define ROWS(NAME, TEXT, ROW, ONE)                   \
	RG_FUNCTION(NAME)                                \
	{                                                \
		return rows(fcinfo, TEXT, ROW##_row, ONE);   \
	}
ROWS(softmax, "softmax", softmax, false)
ROWS(log_softmax, "log_softmax", log_softmax, false)
ROWS(l2_normalize, "l2_normalize", l2_normalize, false)
ROWS(layer_norm, "layer_norm", layer_norm, false)
ROWS(gen_softmax_center, "softmax_center", softmax_center, false)
ROWS(gen_log_softmax_slope, "log_softmax_slope", log_softmax_slope, false)
ROWS(gen_l2_normalize_slope, "l2_normalize_slope", l2_normalize_slope, false)
ROWS(gen_l2_length, "l2_length", l2_length, true)
ROWS(gen_layer_norm_slope, "layer_norm_slope", layer_norm_slope, false)
ROWS(gen_layer_norm_deviation, "layer_norm_deviation", layer_norm_deviation, true)

// gen_cross_entropy_slope(logits, label) is softmax(logits) less 1 at the label.
RG_FUNCTION(gen_cross_entropy_slope)
{
	RgOperand z;
	RgChunk out;
	int64 label = PG_GETARG_INT64(1);
	double *in, *res, others = 0;

	rg_operand(fcinfo, 0, "cross_entropy", &z);
	if (z.ndim != 1)
		rg_wrong_type("cross_entropy", &z, 1, "The arguments must be a vector of logits and a bigint label.");
	if (label < 0 || label >= z.size)
		ereport(ERROR, (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
						errmsg("label %lld of cross_entropy is not in 0 to %lld", (long long) label,
							   (long long) z.size - 1)));
	out = rg_new_chunk("cross_entropy", z.single, 1, z.dims);
	in = palloc_extended(z.size * sizeof(double), MCXT_ALLOC_HUGE);
	res = palloc_extended(z.size * sizeof(double), MCXT_ALLOC_HUGE);
	softmax_row(z.size, rg_in_double(&z, 0, 1, z.size, in), NULL, res);
	for (int64 i = 0; i < z.size; i++) {
		RG_LOOK(i);
		if (i != label)
			others += res[i];
		rg_put(&out, i, res[i]);
	}
	rg_put(&out, label, -others);
	PG_RETURN_ARRAYTYPE_P(out.array);
}
