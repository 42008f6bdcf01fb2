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
	int ndim = 0, dims[MAXDIM] = {0}, n = call->nargs;
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

// Angles in degrees, as Postgres computes them: exact at multiples of 30 and 45.
#define RADIAN 0.017453292519943295

static inline double
sind30(double x)
{
	return sin(x * RADIAN) / sin(30 * RADIAN) / 2;
}

static inline double
cosd60(double x)
{
	return 1 - (1 - cos(x * RADIAN)) / (1 - cos(60 * RADIAN)) / 2;
}

static inline double
sind90(double x)
{
	return x <= 30 ? sind30(x) : cosd60(90 - x);
}

static inline double
cosd90(double x)
{
	return x <= 60 ? cosd60(x) : sind30(90 - x);
}

// quarter turns x into an angle from 0 to 90 degrees, and says which signs sine and cosine have there.
static inline double
quarter(double x, double *sine, double *cosine)
{
	*sine = *cosine = 1;
	x = fmod(x, 360);
	if (x < 0)
		x = -x, *sine = -1;
	if (x > 180)
		x = 360 - x, *sine = -*sine;
	if (x > 90)
		x = 180 - x, *cosine = -1;
	return x;
}

// in_degrees is the function of degrees of that letter: sine, cosine, tangent or cotangent (o).
static double
in_degrees(char f, double x)
{
	double s, c, a = quarter(x, &s, &c);

	switch (f) {
	case 's':
		return s * sind90(a);
	case 'c':
		return c * cosd90(a);
	case 't':
		return s * c * (sind90(a) / cosd90(a) / (sind90(45) / cosd90(45)));
	}
	return s * c * (cosd90(a) / sind90(a) / (cosd90(45) / sind90(45)));
}

// hypot_slope is x / hypot(x, y).
static inline double
hypot_slope(double x, double y)
{
	double a = fabs(x), b = fabs(y), r = a >= b ? b / a : x / b;

	if (a == 0 && b == 0)
		return 0;
	return (a >= b ? copysign(1, x) : r) / sqrt(1 + r * r);
}

// The derivatives of lgamma; gamma.go in package kernels says how.
static const double bernoulli[] = {1.0 / 6, -1.0 / 30, 1.0 / 42, -1.0 / 30, 5.0 / 66, -691.0 / 2730, 7.0 / 6,
	-3617.0 / 510, 43867.0 / 798, -174611.0 / 330, 854513.0 / 138, -236364091.0 / 2730};

static inline double
cot_pi(double x)
{
	double r = x - rint(x);

	return fabs(r) > 0.25 ? copysign(tan(M_PI * (0.5 - fabs(r))), r) : 1 / tan(M_PI * r);
}

static double
digamma(double x)
{
	static const double p[] = {0.25479851061131551, -0.32555031186804491, -0.65031853770896507, -0.28919126444774784,
		-0.045251321448739056, -0.0020713321167745952},
		q[] = {1, 2.0767117023730469, 1.4606242909763515, 0.43593529692665969, 0.054151797245674225,
		0.0021284987017821144, -0.55789841321675513e-6};
	double shift = 0, a = 0, b = 0, d;

	if (x <= 0 && x == trunc(x))
		return NAN;
	if (x < 0)
		return digamma(1 - x) - M_PI * cot_pi(x);
	if (!(x < 10)) {
		double z = 1 / x / x;

		for (int k = 11; k >= 0; k--)
			shift = (shift + bernoulli[k] / (2 * k + 2)) * z;
		return log(x) - 1 / (2 * x) - shift;
	}
	for (; x > 2; x--)
		shift += 1 / (x - 1);
	if (x < 1) {
		shift = -1 / x;
		x += 1;
	}
	d = x - 1569415565.0 / 1073741824 - 381566830.0 / 1073741824 / 1073741824 - 0.9016312093258695918615325266959189453125e-19;
	for (int k = 5; k >= 0; k--)
		a = a * (x - 1) + p[k];
	for (int k = 6; k >= 0; k--)
		b = b * (x - 1) + q[k];
	return shift + (d * 0.99558162689208984375 + d * (a / b));
}

#define MOST_ORDER 30

// cot_derivative is the n-th derivative of pi * cot(pi * x), of which c is the cotangent.
static double
cot_derivative(int n, double c)
{
	double p[MOST_ORDER + 3] = {0, 1}, y;

	for (int i = 0; i < n; i++) {
		double next[MOST_ORDER + 3] = {0};

		for (int k = 1; k <= i + 1; k++) {
			next[k - 1] -= k * p[k];
			next[k + 1] -= k * p[k];
		}
		memcpy(p, next, sizeof p);
	}
	y = p[n + 1]; // c may be infinite
	for (int k = n; k >= 0; k--)
		y = y * c + p[k];
	return y * pow(M_PI, n + 1);
}

// polygamma is the n-th derivative of digamma, n from 1 to MOST_ORDER.
static double
polygamma(int n, double x)
{
	double sum = 0, factor = tgamma(n), steps = fmax(0, ceil(15 + n - x)), from = x + steps, p, z, series = 0, term, y;

	if (x <= 0 && x == trunc(x) && n % 2)
		return INFINITY; // from both sides
	if (n < 1 || n > MOST_ORDER || (x <= 0 && x == trunc(x)))
		return NAN;
	if (x < 0)
		return (n % 2 ? -1 : 1) * polygamma(n, 1 - x) - cot_derivative(n, cot_pi(x));
	for (double i = steps; i >= 1; i--)
		sum += pow(1 / (x + (i - 1)), n + 1);
	p = pow(1 / from, n);
	z = 1 / from / from;
	term = factor * n * (n + 1) / 2 * p;
	for (int k = 0; k < 12; k++) {
		double m = 2 * k + 2;

		term *= z;
		series += bernoulli[k] * term;
		term *= (m + n) * (m + n + 1) / ((m + 1) * (m + 2));
	}
	y = sum * factor * n + (factor * p + (factor * n / 2 * p / from + series));
	return n % 2 ? y : -y;
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
MAP(log2, log2(x))
MAP(log10, log10(x))
MAP(cbrt, cbrt(x))
MAP(asinh, asinh(x))
MAP(acosh, acosh(x))
MAP(atanh, atanh(x))
MAP(atan2, atan2(x, y))
MAP(hypot, hypot(x, y))
MAP(cot, 1 / tan(x))
MAP(degrees, x / RADIAN)
MAP(radians, x *RADIAN)
MAP(sind, in_degrees('s', x))
MAP(cosd, in_degrees('c', x))
MAP(tand, in_degrees('t', x))
MAP(cotd, in_degrees('o', x))
MAP(lgamma, lgamma(x))
MAP(digamma, digamma(x))
MAP(logsigmoid, -(larger(-x, 0) + log1p(exp(-fabs(x)))))
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
SLOPE(gen_asinh_slope, "asinh_slope", NONE, NONE, hypot_slope(1, x))
SLOPE(gen_acosh_slope, "acosh_slope", NONE, NONE, 1 / sqrt(x - 1) / sqrt(x + 1))
SLOPE(gen_atanh_slope, "atanh_slope", NONE, NONE, 1 / ((1 - x) * (1 + x)))
SLOPE(gen_hypot_slope, "hypot_slope", NONE, NONE, hypot_slope(x, y))
SLOPE(gen_polygamma, "polygamma", NONE, NONE, polygamma((int) x, y))
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
