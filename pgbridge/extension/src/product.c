// Products: matmul and outer. einsum has its own file.
#include "chunk.h"

#include "cpu.h"
#include "product.h"

// A check for a cancel request comes after this many multiplications (about 20 ms, with a library and without), and
// after this many numbers that are read or written.
#define PLAIN_PANEL ((int64) 1 << 25)
#define PANEL (rg_has_gemm() ? (int64) 1 << 28 : PLAIN_PANEL)
#define TRAFFIC ((int64) 1 << 22)

#define FEW 64

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
					errmsg("different shapes %s and %s in matmul", rg_shape(x[0].ndim, x[0].dims),
						   rg_shape(x[1].ndim, x[1].dims)),
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

// plain multiplies without a library. Sums of real run in double precision.
static void
plain(bool single, int64 batch, int m, int k, int n, const void *a, const void *b, void *c)
{
	const float *p = a, *q = b;
	double *acc;
	int64 done = 0;

	if (!single) {
		rg_products_f64(batch, m, k, n, a, (long) m * k, b, (long) k * n, c, (long) m * n);
		return;
	}
	acc = palloc_extended(n * sizeof(double), MCXT_ALLOC_HUGE);
	for (int64 r = 0; r < batch * m; r++) {
		const float *rhs = q + r / m * k * n;

		rg_clear(acc, n * sizeof(double));
		for (int64 i = 0; i < k; i++)
			for (int64 lo = 0; lo < n; lo += RG_PIECE) {
				int64 to = Min(n, lo + RG_PIECE);

				RG_TELL(done, to - lo);
				for (int64 j = lo; j < to; j++)
					acc[j] += (double) p[r * k + i] * rhs[i * n + j];
			}
		for (int64 j = 0; j < n; j++) {
			RG_LOOK(j);
			((float *) c)[r * n + j] = (float) acc[j];
		}
	}
	pfree(acc);
}

// one_row multiplies a row with a matrix that takes long to be read, where a library would not be faster.
static void
one_row(bool single, int k, int n, const void *a, const void *b, void *c)
{
	const double *p = a, *q = b;
	double *y = c, part[FEW];
	int64 done = 0, high = RG_PIECE / n;

	if (single) {
		plain(true, 1, 1, k, n, a, b, c);
		return;
	}
	rg_clear(c, n * sizeof(double));
	if (n <= FEW)
		for (int64 i = 0; i < k; i += high) {
			CHECK_FOR_INTERRUPTS();
			rg_products_f64(1, 1, Min(high, k - i), n, p + i, 0, q + i * n, 0, part, 0);
			for (int j = 0; j < n; j++)
				y[j] += part[j];
		}
	else
		for (int64 i = 0; i < k; i++)
			for (int64 lo = 0; lo < n; lo += RG_PIECE) {
				int64 to = Min(n, lo + RG_PIECE);

				RG_TELL(done, to - lo);
				for (int64 j = lo; j < to; j++)
					y[j] += p[i] * q[i * n + j];
			}
}

// rg_multiply multiplies a panel of rows at a time, so that a cancel request is noticed.
void
rg_multiply(bool single, int64 batch, int m, int k, int n, const void *a, const void *b, void *c)
{
	size_t w = rg_width(single), wa = (size_t) m * k * w, wb = (size_t) k * n * w, wc = (size_t) m * n * w;
	const char *pa = a, *pb = b;
	char *pc = c;
	double each = (double) m * k * n;
	double touched = (double) m * k + (double) k * n + (double) m * n;
	// many small products at a time
	int64 step = each < RG_BLAS_FROM ? (int64) Max(1, Min(PLAIN_PANEL / each, TRAFFIC / touched)) : 1;
	int panel = (int) Min(m, Max(1, Min(PANEL / ((double) k * n), TRAFFIC / ((double) k + n))));
	bool wide = panel == 1 && (double) k * n > TRAFFIC;

	for (int64 t = 0; t < batch; t += step, pa += step * wa, pb += step * wb, pc += step * wc) {
		if (each < RG_BLAS_FROM) {
			CHECK_FOR_INTERRUPTS();
			plain(single, Min(step, batch - t), m, k, n, pa, pb, pc);
			continue;
		}
		for (int64 lo = 0; lo < m; lo += panel) {
			int rows = (int) Min(panel, m - lo);
			const char *qa = pa + lo * k * w;
			char *qc = pc + lo * n * w;

			CHECK_FOR_INTERRUPTS();
			if (wide)
				one_row(single, k, n, qa, pb, qc);
			else if (!rg_gemm(single, rows, n, k, qa, pb, qc))
				plain(single, 1, rows, k, n, qa, pb, qc);
		}
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
		ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
						errmsg("matmul of arguments of this rank is a scalar, not an array"),
						errdetail("The arguments have the shapes %s and %s.", rg_shape(x[0].ndim, x[0].dims),
								  rg_shape(x[1].ndim, x[1].dims)),
						errhint("Use dot(a, b) for two vectors.")));
	out = rg_new_chunk("matmul", x[0].single, s.ndim, s.dims);
	rg_multiply(out.single, s.batch, s.m, s.k, s.n, x[0].data, x[1].data, out.data);
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
		for (int64 j = 0; j < dims[1]; j++) {
			RG_LOOK(i * dims[1] + j);
			rg_put(&out, i * dims[1] + j, rg_at(&x[0], i) * rg_at(&x[1], j));
		}
	PG_RETURN_ARRAYTYPE_P(out.array);
}
