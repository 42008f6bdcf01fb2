// Products: matmul and outer. einsum has its own file.
#include "chunk.h"

#include "miscadmin.h"

#include "blas.h"
#include "cpu.h"

// From this number of multiplications on a library is worth its call.
#define BLAS_FROM 4096

// PANEL bounds the multiplications between two looks for a cancel request: about a tenth of a second.
#define PANEL ((int64) 1 << 30)

// A batch of products [m,k]·[k,n].
typedef struct Sizes {
	int64 batch;
	int m, k, n;
	int ndim, dims[MAXDIM]; // of the result
} Sizes;

static void
mismatch(const RgOperand *x)
{
	ereport(ERROR, (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
					errmsg("different shapes %s and %s in matmul", rg_shape(x[0].ndim, x[0].dims), rg_shape(x[1].ndim, x[1].dims)),
					errhint("The last axis of a and the last but one of b (the only one of a vector) must be equal, leading axes too.")));
}

static Sizes
sizes(const RgOperand *x)
{
	const RgOperand *a = &x[0], *b = &x[1];
	Sizes s = {.batch = 1, .m = 1, .n = 1, .k = a->dims[a->ndim - 1]};
	int bk = b->dims[0];

	if (a->ndim > 2 || b->ndim > 2) {
		int lead = a->ndim - 2;

		if (a->ndim != b->ndim || memcmp(a->dims, b->dims, lead * sizeof(int)) != 0)
			mismatch(x);
		s.batch = rg_product(lead, a->dims);
		s.m = a->dims[lead];
		bk = b->dims[lead];
		s.n = b->dims[lead + 1];
		s.ndim = a->ndim;
		memcpy(s.dims, a->dims, a->ndim * sizeof(int));
		s.dims[lead + 1] = s.n;
	} else {
		if (a->ndim == 2)
			s.dims[s.ndim++] = s.m = a->dims[0];
		if (b->ndim == 2)
			s.dims[s.ndim++] = s.n = b->dims[1];
	}
	if (bk != s.k)
		mismatch(x);
	return s;
}

// plain multiplies without a library; sums of real run in double precision.
static void
plain(bool single, int64 batch, int m, int k, int n, const void *a, const void *b, void *c)
{
	const float *p = a, *q = b;
	double *acc;

	if (!single) {
		rg_products_f64(batch, m, k, n, a, (long) m * k, b, (long) k * n, c, (long) m * n);
		return;
	}
	acc = palloc_extended(n * sizeof(double), MCXT_ALLOC_HUGE);
	for (int64 r = 0; r < batch * m; r++) {
		const float *rhs = q + r / m * k * n;

		memset(acc, 0, n * sizeof(double));
		for (int64 i = 0; i < k; i++)
			for (int64 j = 0; j < n; j++)
				acc[j] += (double) p[r * k + i] * rhs[i * n + j];
		for (int64 j = 0; j < n; j++)
			((float *) c)[r * n + j] = (float) acc[j];
	}
	pfree(acc);
}

// multiply goes in panels of rows, so that a cancel request is seen.
static void
multiply(const Sizes *s, const RgOperand *x, RgChunk *out)
{
	size_t w = rg_width(out->single);
	int panel = (int) Max(1, Min(s->m, PANEL / ((int64) s->k * s->n)));

	if ((int64) s->m * s->k * s->n < BLAS_FROM) { // small ones, many at a time
		int64 step = Max(1, PANEL / ((int64) s->m * s->k * s->n));

		for (int64 t = 0; t < s->batch; t += step) {
			CHECK_FOR_INTERRUPTS();
			plain(out->single, Min(step, s->batch - t), s->m, s->k, s->n, (const char *) x[0].data + t * s->m * s->k * w,
				  (const char *) x[1].data + t * s->k * s->n * w, (char *) out->data + t * s->m * s->n * w);
		}
		return;
	}
	for (int64 t = 0; t < s->batch; t++)
		for (int lo = 0; lo < s->m; lo += panel) {
			int m = Min(panel, s->m - lo);
			const char *a = (const char *) x[0].data + (t * s->m + lo) * s->k * w, *b = (const char *) x[1].data + t * s->k * s->n * w;
			char *c = (char *) out->data + (t * s->m + lo) * s->n * w;

			CHECK_FOR_INTERRUPTS();
			if (!rg_gemm(out->single, m, s->n, s->k, a, b, c))
				plain(out->single, 1, m, s->k, s->n, a, b, c);
		}
}

RG_FUNCTION(matmul)
{
	RgOperand x[2];
	Sizes s;
	RgChunk out;

	rg_operands(fcinfo, "matmul", 2, x);
	s = sizes(x);
	if (s.ndim == 0)
		ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH), errmsg("matmul of arguments of this rank is a scalar, not an array"),
						errdetail("The arguments have the shapes %s and %s.", rg_shape(x[0].ndim, x[0].dims), rg_shape(x[1].ndim, x[1].dims)),
						errhint("Use dot(a, b) for two vectors.")));
	out = rg_new_chunk("matmul", x[0].single, s.ndim, s.dims);
	multiply(&s, x, &out);
	PG_RETURN_ARRAYTYPE_P(out.array);
}

RG_FUNCTION(outer)
{
	RgOperand x[2];
	int dims[2];
	RgChunk out;

	rg_operands(fcinfo, "outer", 2, x);
	if (x[0].ndim != 1 || x[1].ndim != 1)
		rg_wrong_type("outer", x, 2, "Both arguments must be vectors.");
	dims[0] = x[0].dims[0];
	dims[1] = x[1].dims[0];
	out = rg_new_chunk("outer", x[0].single, 2, dims);
	for (int64 i = 0; i < dims[0]; i++)
		for (int64 j = 0; j < dims[1]; j++)
			rg_put(&out, i * dims[1] + j, rg_at(&x[0], i) * rg_at(&x[1], j));
	PG_RETURN_ARRAYTYPE_P(out.array);
}
