// einsum. Two operands that share labels are multiplied as a batch of matrix products, after their axes are put in
// order. Anything else goes through all values of all labels, in row-major order of their first appearance.
#include "chunk.h"

#include "mb/pg_wchar.h"
#include "utils/builtins.h"

#include "product.h"

#define MAX_OPERANDS (RG_MAX_ARGS - 1)
#define LETTERS 52
#define MAX_LABELS (MAX_OPERANDS * MAXDIM)

typedef struct Spec {
	char *text; // as given
	char *in[MAX_OPERANDS];
	char *out;
} Spec;

static void RG_NORETURN
bad_spec(const char *text, const char *what)
{
	ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("einsum spec \"%s\"%s", text, what),
					errhint("A spec looks like 'ij,jk->ik': one letter for each dimension of each operand.")));
}

// letter numbers the labels in ASCII order: A to Z, a to z.
static int
letter(const Spec *s, const char *c)
{
	if (*c >= 'A' && *c <= 'Z')
		return *c - 'A';
	if (*c >= 'a' && *c <= 'z')
		return 26 + *c - 'a';
	bad_spec(s->text, psprintf(" has '%.*s', which is no letter", pg_mblen(c), c));
}

// implicit returns the labels that occur once, sorted.
static char *
implicit(const int *count)
{
	char *out = palloc0(LETTERS + 1);
	int n = 0;

	for (int l = 0; l < LETTERS; l++)
		if (count[l] == 1)
			out[n++] = l < 26 ? 'A' + l : 'a' + l - 26;
	return out;
}

static Spec
parse(const char *text, int operands)
{
	Spec s = {.text = pstrdup(text)};
	char *t = palloc(strlen(text) + 1), *arrow, *rest;
	int n = 0, len = 0, count[LETTERS] = {0};

	for (const char *c = text; *c; c++)
		if (*c != ' ')
			t[len++] = *c;
	t[len] = 0;
	if (strstr(t, "...") != NULL)
		ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("einsum spec \"%s\" has an ellipsis", text),
						errhint("Write a letter for each dimension; shapes are fixed.")));
	arrow = strstr(t, "->");
	if (arrow != NULL)
		*arrow = 0;
	for (char *p = rest = t; p != NULL; p = rest) {
		rest = strchr(p, ',');
		if (rest != NULL)
			*rest++ = 0;
		if (n < operands)
			s.in[n] = p;
		n++;
	}
	if (n != operands)
		bad_spec(text, psprintf(" has %d operands, not %d", n, operands));
	for (int i = 0; i < n; i++)
		for (char *c = s.in[i]; *c; c++)
			count[letter(&s, c)]++;
	s.out = arrow ? arrow + 2 : implicit(count);
	for (char *c = s.out; *c; c++)
		if (count[letter(&s, c)] == 0)
			bad_spec(text, psprintf(": no operand has the label '%c' of the result", *c));
	return s;
}

// lengths checks the operands' shapes and gives every label its length.
static void
lengths(const Spec *s, int n, const RgOperand *x, int *length)
{
	for (int i = 0; i < n; i++) {
		if (x[i].ndim != (int) strlen(s->in[i]))
			ereport(ERROR, (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
							errmsg("einsum \"%s\": operand %d has shape %s, not %d dimensions", s->text, i + 1,
								   rg_shape(x[i].ndim, x[i].dims), (int) strlen(s->in[i]))));
		for (int d = 0; d < x[i].ndim; d++) {
			int l = letter(s, &s->in[i][d]);

			if (length[l] != 0 && length[l] != x[i].dims[d])
				ereport(ERROR, (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
								errmsg("einsum \"%s\": label '%c' has the lengths %d and %d", s->text, s->in[i][d],
									   length[l], x[i].dims[d])));
			length[l] = x[i].dims[d];
		}
	}
}

// A walk over all indices: the labels' lengths and, for each operand and the result, their strides.
typedef struct Walk {
	int labels, length[MAX_LABELS];
	int64 stride[MAX_OPERANDS + 1][MAX_LABELS];
} Walk;

// stride_of adds the strides of a repeated label, which goes along the diagonal.
static void
stride_of(const char *labels, int ndim, const int *dims, const char *all, int64 *stride)
{
	int64 step = 1;

	for (int d = ndim - 1; d >= 0; d--) {
		stride[strchr(all, labels[d]) - all] += step;
		step *= dims[d];
	}
}

static void
contract(const Walk *w, int n, const RgOperand *x, double *sum)
{
	int idx[MAX_LABELS] = {0};
	int64 off[MAX_OPERANDS + 1] = {0};

	for (uint64 steps = 0;; steps++) {
		double p = 1;
		int d = w->labels - 1;

		for (int i = 0; i < n; i++)
			p *= rg_at(&x[i], off[i]);
		sum[off[n]] += p;
		RG_LOOK(steps);
		for (; d >= 0; d--) {
			bool more = ++idx[d] < w->length[d];

			for (int i = 0; i <= n; i++)
				off[i] += more ? w->stride[i][d] : -w->stride[i][d] * (w->length[d] - 1);
			if (more)
				break;
			idx[d] = 0;
		}
		if (d < 0)
			return;
	}
}

// Some labels in an order, as one axis.
typedef struct Order {
	int n, label[MAX_LABELS];
	int64 size; // the product of their lengths
} Order;

static void
append(Order *o, const Order *p)
{
	memcpy(o->label + o->n, p->label, p->n * sizeof(int));
	o->n += p->n;
	o->size *= p->size;
}

// gather copies the elements at the given strides to a dense array with its axes in an order (to_dense), or back.
static void
gather(const Walk *w, const Order *o, const int64 *stride, void *strided, void *dense, bool single, bool to_dense)
{
	int idx[MAX_LABELS] = {0};
	int64 off = 0;

	for (int64 i = 0; i < o->size; i++) {
		if (single && to_dense)
			((float *) dense)[i] = ((float *) strided)[off];
		else if (single)
			((float *) strided)[off] = ((float *) dense)[i];
		else if (to_dense)
			((double *) dense)[i] = ((double *) strided)[off];
		else
			((double *) strided)[off] = ((double *) dense)[i];
		RG_LOOK(i);
		for (int d = o->n - 1; d >= 0; d--) {
			int l = o->label[d];
			bool more = ++idx[d] < w->length[l];

			off += more ? stride[l] : -stride[l] * (w->length[l] - 1);
			if (more)
				break;
			idx[d] = 0;
		}
	}
}

// in_order reports whether an array with these strides is already dense in that order.
static bool
in_order(const Walk *w, const Order *o, const int64 *stride)
{
	int64 step = 1;

	for (int d = o->n - 1; d >= 0; d--) {
		if (stride[o->label[d]] != step)
			return false;
		step *= w->length[o->label[d]];
	}
	return true;
}

// ordered returns an operand with its axes in an order.
static const void *
ordered(const Walk *w, const Order *o, const int64 *stride, const RgOperand *x)
{
	void *dense;

	if (in_order(w, o, stride))
		return x->data;
	dense = palloc_extended(o->size * rg_width(x->single), MCXT_ALLOC_HUGE);
	gather(w, o, stride, (void *) x->data, dense, x->single, true);
	return dense;
}

// as_product computes a large contraction of two operands as matrix products. It returns false if a label repeats in
// one operand or in the result, or if only one operand has it and the result does not.
static bool
as_product(const Walk *w, const Spec *s, const RgOperand *x, RgChunk *out)
{
	enum { BATCH, LEFT, RIGHT, INNER };
	Order group[4] = {{.size = 1}, {.size = 1}, {.size = 1}, {.size = 1}}, a = {.size = 1}, b = {.size = 1},
		c = {.size = 1};
	int seen[3] = {0};
	void *dense = out->data;

	for (int l = 0; l < w->labels; l++) {
		bool in[3];
		int g;

		for (int i = 0; i < 3; i++) {
			in[i] = w->stride[i][l] != 0;
			seen[i] += in[i];
		}
		if (in[0] + in[1] + in[2] < 2)
			return false;
		g = !in[2] ? INNER : !in[1] ? LEFT : !in[0] ? RIGHT : BATCH;
		group[g].label[group[g].n++] = l;
		group[g].size *= w->length[l];
	}
	for (int i = 0; i < 3; i++)
		if (seen[i] != (int) strlen(i == 2 ? s->out : s->in[i]))
			return false;
	if (x[0].single != x[1].single || x[0].ndim == 0 || x[1].ndim == 0 || group[LEFT].size > PG_INT32_MAX ||
		group[RIGHT].size > PG_INT32_MAX || group[INNER].size > PG_INT32_MAX ||
		(double) group[BATCH].size * group[LEFT].size * group[RIGHT].size * group[INNER].size < RG_BLAS_FROM)
		return false;
	append(&a, &group[BATCH]);
	append(&a, &group[LEFT]);
	append(&a, &group[INNER]);
	append(&b, &group[BATCH]);
	append(&b, &group[INNER]);
	append(&b, &group[RIGHT]);
	append(&c, &group[BATCH]);
	append(&c, &group[LEFT]);
	append(&c, &group[RIGHT]);
	if (!in_order(w, &c, w->stride[2]))
		dense = palloc_extended(c.size * rg_width(out->single), MCXT_ALLOC_HUGE);
	rg_multiply(out->single, group[BATCH].size, (int) group[LEFT].size, (int) group[INNER].size,
				(int) group[RIGHT].size,
				ordered(w, &a, w->stride[0], &x[0]), ordered(w, &b, w->stride[1], &x[1]), dense);
	if (dense != out->data)
		gather(w, &c, w->stride[2], out->data, dense, out->single, false);
	return true;
}

// rg_einsum computes the spec over n operands into a chunk, of real if single is set.
static ArrayType *
rg_einsum(const char *text, int n, const RgOperand *x, bool single)
{
	Spec s = parse(text, n);
	int length[LETTERS] = {0}, dims[MAXDIM], ndim = strlen(s.out);
	char all[MAX_LABELS + 1] = "";
	Walk w = {0};
	double *sum;
	RgChunk out;

	lengths(&s, n, x, length);
	if (ndim == 0)
		ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
						errmsg("einsum \"%s\" of these arguments is a scalar, not an array", text),
						errhint("Use dot(a, b) or sum_elements(einsum(…)) for a sum over all labels.")));
	if (ndim > MAXDIM)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("einsum \"%s\": the result has %d dimensions, at most %d are possible", text, ndim,
							   MAXDIM)));
	for (int i = 0; i < n; i++)
		for (char *c = s.in[i]; *c; c++)
			if (strchr(all, *c) == NULL) {
				w.length[w.labels] = length[letter(&s, c)];
				all[w.labels++] = *c;
			}
	for (int d = 0; d < ndim; d++)
		dims[d] = length[letter(&s, &s.out[d])];
	for (int i = 0; i < n; i++)
		stride_of(s.in[i], x[i].ndim, x[i].dims, all, w.stride[i]);
	stride_of(s.out, ndim, dims, all, w.stride[n]);
	out = rg_new_chunk("einsum", single, ndim, dims);
	if (n == 2 && as_product(&w, &s, x, &out))
		return out.array;
	sum = single ? palloc_extended(out.size * sizeof(double), MCXT_ALLOC_HUGE) : out.data;
	rg_clear(sum, out.size * sizeof(double));
	contract(&w, n, x, sum);
	if (single)
		for (int64 i = 0; i < out.size; i++) {
			RG_LOOK(i);
			rg_put(&out, i, sum[i]);
		}
	return out.array;
}

// of_numbers is einsum of numbers only: their product.
static double
of_numbers(const char *text, int n, const RgOperand *x)
{
	Spec s = parse(text, n);
	int length[LETTERS] = {0};
	double p = 1;

	lengths(&s, n, x, length);
	for (int i = 0; i < n; i++)
		p *= x[i].number;
	return p;
}

RG_FUNCTION(einsum)
{
	RgOperand x[MAX_OPERANDS];
	int n = PG_NARGS() - 1;

	for (int i = 0; i < n; i++)
		rg_operand(fcinfo, i + 1, "einsum", &x[i]);
	if (rg_call(fcinfo)->result == FLOAT8OID)
		PG_RETURN_FLOAT8(of_numbers(text_to_cstring(PG_GETARG_TEXT_PP(0)), n, x));
	PG_RETURN_ARRAYTYPE_P(rg_einsum(text_to_cstring(PG_GETARG_TEXT_PP(0)), n, x,
									rg_call(fcinfo)->result == FLOAT4ARRAYOID));
}

RG_FUNCTION(diag)
{
	RgOperand x;
	bool matrix;

	rg_operand(fcinfo, 0, "diag", &x);
	matrix = x.ndim == 2 && x.dims[0] == x.dims[1];
	if (x.ndim != 1 && !matrix)
		rg_wrong_type("diag", &x, 1, "The argument must be a vector or a square matrix.");
	PG_RETURN_ARRAYTYPE_P(rg_einsum(matrix ? "ii->i" : "i->ii", 1, &x, x.single));
}
