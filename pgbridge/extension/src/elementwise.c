// Element-wise kernels and operators: broadcasting, vector loops of kernels/cpu where they fit, else the
// reference code in double precision.
#include "chunk.h"

#include <math.h>

#include "cpu.h"

// The operations of kernels/cpu (ref.go there lists them).
enum { ADD, SUB, MUL, DIV, MAXIMUM, MINIMUM, GREATER, BCE_SLOPE = 9 };
enum { NEG, ABS, SQUARE, SQRT, RELU, EXP = 6, LN, TANH, SIGMOID, SILU = 11, SECH2, SIGMOID_SLOPE, GAUSS, NORMAL_PDF };
#define NONE (-1)

typedef struct Kernel {
	const char *name;
	const char *infix;               // the operator's sign in messages; NULL if it is none
	double (*of)(const double *x);   // one element
	int unary, binary;               // the vector loop, or NONE
	double absent;                   // the second argument of calls with one argument
} Kernel;

// How the vector loops go through an operand, as rows of elements: the distances between rows and between elements.
typedef struct Layout {
	long row;
	int elem;
} Layout;

#define BLOCK 1024

// layout_of returns false if an operand is repeated inside a row. size is the length of a row.
static bool
layout_of(const RgOperand *x, int64 total, int64 size, Layout *l)
{
	if (x->size == total)
		*l = (Layout) {.row = size, .elem = 1};
	else if (x->size == 1)
		*l = (Layout) {.row = 0, .elem = 0};
	else if (x->size == size)
		*l = (Layout) {.row = 0, .elem = 1};
	else
		return false;
	return true;
}

// suffix reports whether x, without leading axes of length 1, has the last axes of the shape dims.
static bool
suffix(const RgOperand *x, int ndim, const int *dims)
{
	int lead = 0;

	while (lead < x->ndim && x->dims[lead] == 1)
		lead++;
	for (int i = lead; i < x->ndim; i++)
		if (x->dims[i] != dims[ndim - x->ndim + i])
			return false;
	return true;
}

static void
load(const RgOperand *x, int64 from, int64 n, double *out)
{
	for (int64 i = 0; i < n; i++)
		out[i] = rg_at(x, from + i);
}

// widened runs a binary loop in double precision, block by block, for operands and results of different types.
static void
widened(int op, int64 rows, int64 size, const RgOperand *x, const Layout *l, RgChunk *out)
{
	double a[BLOCK], b[BLOCK], y[BLOCK];
	int64 done = 0;

	for (int64 r = 0; r < rows; r++)
		for (int64 lo = 0; lo < size; lo += BLOCK) {
			int64 n = Min(BLOCK, size - lo);

			RG_TELL(done, 16 * n); // powers take as long as so many sums
			load(&x[0], r * l[0].row + lo * l[0].elem, l[0].elem ? n : 1, a);
			load(&x[1], r * l[1].row + lo * l[1].elem, l[1].elem ? n : 1, b);
			rg_binary_f64(op, 1, n, a, 0, l[0].elem, b, 0, l[1].elem, y);
			for (int64 i = 0; i < n; i++)
				rg_put(out, r * size + lo + i, y[i]);
		}
}

// in_pieces runs a binary loop over a piece of the rows, or of a row, at a time.
static void
in_pieces(int op, bool single, int64 rows, int64 size, const void *a, Layout la, const void *b, Layout lb, void *out)
{
	size_t w = rg_width(single);
	int64 width = Min(size, RG_PIECE), high = Max(1, RG_PIECE / size);

	for (int64 r = 0; r < rows; r += high)
		for (int64 lo = 0; lo < size; lo += width) {
			int64 n = Min(width, size - lo), m = Min(high, rows - r);
			const void *p = (const char *) a + (r * la.row + lo * la.elem) * w,
				*q = (const char *) b + (r * lb.row + lo * lb.elem) * w;
			void *o = (char *) out + (r * size + lo) * w;

			CHECK_FOR_INTERRUPTS();
			if (single)
				rg_binary_f32(op, m, n, p, la.row, la.elem, q, lb.row, lb.elem, o);
			else
				rg_binary_f64(op, m, n, p, la.row, la.elem, q, lb.row, lb.elem, o);
		}
}

static bool
binary_loop(int op, const RgOperand *x, int ndim, const int *dims, RgChunk *out)
{
	int64 size = out->size, rows;
	Layout l[2];
	float number[2];
	const float *p[2];
	bool direct = true;

	for (int i = 0; i < 2; i++) {
		if (!suffix(&x[i], ndim, dims))
			return false;
		if (x[i].size > 1 && x[i].size < size)
			size = x[i].size;
	}
	if (!layout_of(&x[0], out->size, size, &l[0]) || !layout_of(&x[1], out->size, size, &l[1]))
		return false;
	rows = out->size / size;
	if (!out->single) {
		if (x[0].single || x[1].single)
			widened(op, rows, size, x, l, out);
		else
			in_pieces(op, false, rows, size, x[0].data, l[0], x[1].data, l[1], out->data);
		return true;
	}
	for (int i = 0; i < 2; i++) { // a number that real holds exactly is passed as real
		p[i] = x[i].data;
		if (x[i].single)
			continue;
		number[i] = (float) rg_at(&x[i], 0);
		p[i] = &number[i];
		direct = direct && x[i].size == 1 && (double) number[i] == rg_at(&x[i], 0);
	}
	if (direct)
		in_pieces(op, true, rows, size, p[0], l[0], p[1], l[1], out->data);
	else
		widened(op, rows, size, x, l, out);
	return true;
}

static bool
unary_loop(int op, const RgOperand *x, RgChunk *out)
{
	if (x->single != out->single)
		return false;
	for (int64 lo = 0; lo < out->size; lo += RG_PIECE) {
		int64 n = Min(RG_PIECE, out->size - lo);

		CHECK_FOR_INTERRUPTS();
		if (!(out->single ? rg_unary_f32(op, n, (const float *) x->data + lo, (float *) out->data + lo)
						  : rg_unary_f64(op, n, (const double *) x->data + lo, (double *) out->data + lo)))
			return false;
	}
	return true;
}

// each computes every element with the reference code, for all forms of broadcasting.
static void
each(const Kernel *k, const RgOperand *x, int n, int ndim, const int *dims, RgChunk *out)
{
	int64 stride[RG_MAX_ARGS][MAXDIM] = {{0}}, off[RG_MAX_ARGS] = {0};
	int idx[MAXDIM] = {0};
	double v[RG_MAX_ARGS] = {0, k->absent};

	for (int i = 0; i < n; i++) {
		int64 step = 1;

		for (int d = x[i].ndim - 1; d >= 0; d--) {
			if (x[i].dims[d] != 1)
				stride[i][ndim - x[i].ndim + d] = step;
			step *= x[i].dims[d];
		}
	}
	for (int64 o = 0; o < out->size; o++) {
		for (int i = 0; i < n; i++)
			v[i] = rg_at(&x[i], off[i]);
		rg_put(out, o, k->of(v));
		RG_LOOK(o);
		for (int d = ndim - 1; d >= 0; d--) {
			bool more = ++idx[d] < dims[d];

			for (int i = 0; i < n; i++)
				off[i] += more ? stride[i][d] : -stride[i][d] * (dims[d] - 1);
			if (more)
				break;
			idx[d] = 0;
		}
	}
}

// broadcast extends dims by x's shape. Shapes are aligned at the right; lengths must be equal or 1.
static int
broadcast(const Kernel *k, const RgOperand *x, int ndim, int *dims)
{
	int old[MAXDIM], n = Max(ndim, x->ndim);

	memcpy(old, dims, ndim * sizeof(int));
	for (int i = 0; i < n; i++) {
		int a = i < n - ndim ? 1 : old[i - (n - ndim)], b = i < n - x->ndim ? 1 : x->dims[i - (n - x->ndim)];

		if (a != b && a != 1 && b != 1)
			ereport(ERROR,
					(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
					 k->infix ? errmsg("different shapes %s %s %s", rg_shape(ndim, old), k->infix,
									   rg_shape(x->ndim, x->dims))
							  : errmsg("different shapes %s and %s in %s", rg_shape(ndim, old),
									   rg_shape(x->ndim, x->dims), k->name),
					 errhint("Shapes are aligned at the right; lengths must be equal or 1.")));
		dims[i] = a == 1 ? b : a;
	}
	return n;
}

static Datum
elementwise(FunctionCallInfo fcinfo, const Kernel *k)
{
	const RgCall *call = rg_call(fcinfo);
	RgOperand x[RG_MAX_ARGS];
	int ndim = 0, dims[MAXDIM], n = call->nargs;
	RgChunk out;

	rg_operands(fcinfo, k->name, n, x);
	if (!rg_is_chunk(call->result)) {
		double v[RG_MAX_ARGS] = {0, k->absent}, y;

		for (int i = 0; i < n; i++)
			v[i] = x[i].number;
		y = k->of(v);
		if (call->result == FLOAT4OID)
			PG_RETURN_FLOAT4((float) y);
		PG_RETURN_FLOAT8(y);
	}
	for (int i = 0; i < n; i++)
		ndim = broadcast(k, &x[i], ndim, dims);
	out = rg_new_chunk(k->name, call->result == FLOAT4ARRAYOID, ndim, dims);
	if (!(n == 1 && k->unary != NONE && unary_loop(k->unary, x, &out)) &&
		!(n == 2 && k->binary != NONE && binary_loop(k->binary, x, ndim, dims, &out)))
		each(k, x, n, ndim, dims, &out);
	PG_RETURN_ARRAYTYPE_P(out.array);
}

// KERNEL defines a kernel; E is its element in terms of x, y, z.
#define KERNEL(NAME, TEXT, INFIX, UNARY, BINARY, ABSENT, E)                                              \
	static double of_##NAME(const double *v)                                                             \
	{                                                                                                    \
		double x = v[0], y pg_attribute_unused() = v[1], z pg_attribute_unused() = v[2];                 \
		return E;                                                                                        \
	}                                                                                                    \
	RG_FUNCTION(NAME)                                                                                    \
	{                                                                                                    \
		static const Kernel k = {TEXT, INFIX, of_##NAME, UNARY, BINARY, ABSENT};                         \
		return elementwise(fcinfo, &k);                                                                  \
	}
#define MAP(NAME, E) KERNEL(NAME, #NAME, NULL, NONE, NONE, 0, E)
#define MAP_LOOP(NAME, LOOP, E) KERNEL(NAME, #NAME, NULL, LOOP, NONE, 0, E)
#define ZIP_LOOP(NAME, LOOP, E) KERNEL(NAME, #NAME, NULL, NONE, LOOP, 0, E)
#define OPERATOR(NAME, SIGN, LOOP, E) KERNEL(NAME, "operator " SIGN, SIGN, NONE, LOOP, 0, E)

static inline double
sigmoid(double x)
{
	double e = exp(x < 0 ? x : -x);

	return x < 0 ? e / (1 + e) : 1 / (1 + e);
}

static inline double
larger(double x, double y)
{
	return x > y || x != x ? x : y;
}

static inline double
smaller(double x, double y)
{
	return x < y || x != x ? x : y;
}

static inline double
huber(double x, double delta)
{
	double a = fabs(x);

	return a > delta ? delta * (a - delta / 2) : x * x / 2;
}

// slope is the derivative of sigmoid.
static inline double
slope(double x)
{
	double e = exp(-fabs(x));

	return e / (1 + e) / (1 + e);
}

static inline double
bce(double z, double y)
{
	return z > 0 ? z * (1 - y) + log1p(exp(-z)) : log1p(exp(z)) - z * y;
}

// bce_slope is sigmoid(z) - y, written with factors that are exact for y = 0 and y = 1.
static inline double
bce_slope(double z, double y)
{
	double e = exp(-fabs(z));

	return (z < 0 ? (1 - y) * e - y : 1 - y - y * e) / (1 + e);
}

// bell is e^(-c·x²), c = 1 or 0.5. x is split in two parts: the square of its upper half of bits is exact.
static inline double
bell(double x, double c)
{
	double hi;
	uint64 half;

	x = fabs(x) > 64 ? 64 : fabs(x);
	memcpy(&half, &x, sizeof half);
	half &= ~(((uint64) 1 << 27) - 1);
	memcpy(&hi, &half, sizeof half);
	return exp(-c * hi * hi) * exp(-c * (x - hi) * (x + hi));
}

// normal_cdf is erfc(-x/√2) / 2. The quotient is computed in two parts.
static inline double
normal_cdf(double x)
{
	double z = -x * M_SQRT1_2, low = fma(-x, M_SQRT1_2, -z) + x * 4.833646656726457e-17, y = erfc(z) / 2;

	return fabs(x) < 40 ? y - bell(z, 1) * low * (0.5 * M_2_SQRTPI) : y;
}

static inline double
atan_slope(double x)
{
	double q = fabs(x) > 1 ? 1 / x : x;

	return (fabs(x) > 1 ? q * q : 1) / (1 + q * q);
}

OPERATOR(chunk_add, "+", ADD, x + y)
OPERATOR(chunk_sub, "-", SUB, x - y)
OPERATOR(chunk_mul, "*", MUL, x *y)
OPERATOR(chunk_div, "/", DIV, x / y)
KERNEL(chunk_neg, "operator -", "-", NEG, NONE, 0, -x)
KERNEL(power, "power", "^", NONE, NONE, 0, pow(x, y))

MAP_LOOP(abs, ABS, fabs(x))
MAP_LOOP(square, SQUARE, x *x)
MAP_LOOP(sqrt, SQRT, sqrt(x))
MAP_LOOP(relu, RELU, x <= 0 ? 0 : x)
MAP_LOOP(exp, EXP, exp(x))
MAP_LOOP(ln, LN, log(x))
MAP_LOOP(tanh, TANH, tanh(x))
MAP_LOOP(sigmoid, SIGMOID, sigmoid(x))
MAP_LOOP(silu, SILU, x *sigmoid(x))
MAP(log, log10(x))
MAP(sin, sin(x))
MAP(cos, cos(x))
MAP(tan, tan(x))
MAP(sinh, sinh(x))
MAP(cosh, cosh(x))
MAP(asin, asin(x))
MAP(acos, acos(x))
MAP(atan, atan(x))
MAP(erf, erf(x))
MAP(erfc, erfc(x))
MAP(log1p, log1p(x))
MAP(expm1, expm1(x))
MAP(elu, x > 0 ? x : expm1(x))
MAP(gelu, x *normal_cdf(x))
MAP(softplus, larger(x, 0) + log1p(exp(-fabs(x))))
MAP(softsign, isinf(x) ? copysign(1, x) : x / (1 + fabs(x)))
MAP(sign, x > 0 ? 1 : x < 0 ? -1 : x)

KERNEL(gen_eq_mask, "eq_mask", NULL, NONE, NONE, 0, x == y)
KERNEL(gen_select, "select", NULL, NONE, NONE, 0, x != 0 ? y : z)

// Derivatives, which only generated SQL calls.
#define SLOPE(NAME, TEXT, UNARY, BINARY, E) KERNEL(NAME, TEXT, NULL, UNARY, BINARY, 0, E)
SLOPE(gen_sech2, "sech2", SECH2, NONE, 4 * slope(2 * x))
SLOPE(gen_sigmoid_slope, "sigmoid_slope", SIGMOID_SLOPE, NONE, slope(x))
SLOPE(gen_asin_slope, "asin_slope", NONE, NONE, 1 / sqrt((1 - x) * (1 + x)))
SLOPE(gen_atan_slope, "atan_slope", NONE, NONE, atan_slope(x))
SLOPE(gen_gauss, "gauss", GAUSS, NONE, bell(x, 1))
SLOPE(gen_normal_pdf, "normal_pdf", NORMAL_PDF, NONE, bell(x, 0.5) * 0.3989422804014327)
SLOPE(gen_normal_cdf, "normal_cdf", NONE, NONE, normal_cdf(x))
SLOPE(gen_bce_slope, "bce_slope", NONE, BCE_SLOPE, bce_slope(x, y))

ZIP_LOOP(maximum, MAXIMUM, larger(x, y))
ZIP_LOOP(minimum, MINIMUM, smaller(x, y))
ZIP_LOOP(greater, GREATER, x > y)
MAP(bce_with_logits, bce(x, y))
MAP(huber, huber(x, y))
MAP(clip, smaller(larger(x, y), z))
KERNEL(leaky_relu, "leaky_relu", NULL, NONE, NONE, 0.01, x > 0 ? x : y * x)
