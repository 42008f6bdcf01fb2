// What the extension's kernels could cost at best on a server: the same work without any of relgrad's code.
// bench/postgres_test.go compiles it and declares the functions.
#include "postgres.h"

#include <dlfcn.h>

#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "utils/array.h"
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

PG_MODULE_MAGIC;

// bench_scan(state, a) is the step of an aggregate that detoasts and adds up the lengths of the values.
PG_FUNCTION_INFO_V1(bench_scan);
Datum
bench_scan(PG_FUNCTION_ARGS)
{
	ArrayType *a = PG_GETARG_ARRAYTYPE_P(1);

	PG_RETURN_INT64(PG_GETARG_INT64(0) + VARSIZE(a));
}

// bench_touch(state, a) also reads one element of each line of the cache: what any function pays that needs the elements.
PG_FUNCTION_INFO_V1(bench_touch);
Datum
bench_touch(PG_FUNCTION_ARGS)
{
	ArrayType *a = PG_GETARG_ARRAYTYPE_P(1);
	const int32 *x = (const int32 *) ARR_DATA_PTR(a);
	int n = ArrayGetNItems(ARR_NDIM(a), ARR_DIMS(a));
	int32 bits = 0;

	for (int i = 0; i < n; i += 16)
		bits ^= x[i];
	PG_RETURN_INT64(PG_GETARG_INT64(0) + bits);
}

// bench_read(state, a) reads all the elements.
PG_FUNCTION_INFO_V1(bench_read);
Datum
bench_read(PG_FUNCTION_ARGS)
{
	ArrayType *a = PG_GETARG_ARRAYTYPE_P(1);
	const int32 *x = (const int32 *) ARR_DATA_PTR(a);
	int n = ArrayGetNItems(ARR_NDIM(a), ARR_DIMS(a));
	int32 bits = 0;

	for (int i = 0; i < n; i++)
		bits ^= x[i];
	PG_RETURN_INT64(PG_GETARG_INT64(0) + bits);
}

typedef void (*Sgemm)(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *, int);

// library finds the OpenBLAS that relgrad's first large product has loaded in this backend.
static Sgemm
library(void)
{
	static Sgemm sgemm;
	void *lib;

	if (sgemm != NULL)
		return sgemm;
	lib = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_NOLOAD);
	sgemm = lib ? (Sgemm) dlsym(lib, "cblas_sgemm") : NULL;
	if (sgemm == NULL)
		ereport(ERROR, (errmsg("no libopenblas.so.0 is loaded")));
	return sgemm;
}

static ArrayType *
square(int n)
{
	Size bytes = ARR_OVERHEAD_NONULLS(2) + sizeof(float) * n * n;
	ArrayType *c = palloc(bytes);

	SET_VARSIZE(c, bytes);
	c->ndim = 2;
	c->dataoffset = 0;
	c->elemtype = FLOAT4OID;
	ARR_DIMS(c)[0] = ARR_DIMS(c)[1] = n;
	ARR_LBOUND(c)[0] = ARR_LBOUND(c)[1] = 1;
	return c;
}

// bench_product(a, b) multiplies two square matrices of one size, which it does not check: two detoasted arguments, one
// allocation, one call of the library.
PG_FUNCTION_INFO_V1(bench_product);
Datum
bench_product(PG_FUNCTION_ARGS)
{
	ArrayType *a = PG_GETARG_ARRAYTYPE_P(0), *b = PG_GETARG_ARRAYTYPE_P(1);
	int n = ARR_DIMS(a)[0];
	ArrayType *c = square(n);

	library()(101, 111, 111, n, n, n, 1, (float *) ARR_DATA_PTR(a), n, (float *) ARR_DATA_PTR(b), n, 0, (float *) ARR_DATA_PTR(c), n);
	PG_RETURN_ARRAYTYPE_P(c);
}

// bench_sgemm(a, times) only calls the library, on the same memory each time.
PG_FUNCTION_INFO_V1(bench_sgemm);
Datum
bench_sgemm(PG_FUNCTION_ARGS)
{
	ArrayType *a = PG_GETARG_ARRAYTYPE_P(0);
	int n = ARR_DIMS(a)[0];
	ArrayType *c = square(n);

	for (int64 i = 0; i < PG_GETARG_INT64(1); i++)
		library()(101, 111, 111, n, n, n, 1, (float *) ARR_DATA_PTR(a), n, (float *) ARR_DATA_PTR(a), n, 0, (float *) ARR_DATA_PTR(c), n);
	PG_RETURN_INT64(PG_GETARG_INT64(1));
}

// bench_allocate(n, i) makes a result of n × n and returns its size. i, which is not used, keeps the planner from calling
// it once.
PG_FUNCTION_INFO_V1(bench_allocate);
Datum
bench_allocate(PG_FUNCTION_ARGS)
{
	ArrayType *c = square(PG_GETARG_INT32(0));

	memset(ARR_DATA_PTR(c), 0, 1);
	PG_RETURN_INT64(VARSIZE(c));
}
