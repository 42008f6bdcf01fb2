// Checks of arguments, with messages that show the shapes; results.
#include "chunk.h"

#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

void
rg_copy(void *to, const void *from, size_t bytes)
{
	for (size_t lo = 0; lo < bytes; lo += RG_PIECE) {
		if (lo > 0)
			CHECK_FOR_INTERRUPTS();
		memcpy((char *) to + lo, (const char *) from + lo, Min((size_t) RG_PIECE, bytes - lo));
	}
}

void
rg_clear(void *at, size_t bytes)
{
	for (size_t lo = 0; lo < bytes; lo += RG_PIECE) {
		if (lo > 0)
			CHECK_FOR_INTERRUPTS();
		memset((char *) at + lo, 0, Min((size_t) RG_PIECE, bytes - lo));
	}
}

// rg_look_up looks up the types of the called overload, once for each place that calls it. It asks the catalogue, not
// the expression tree: aggregates and foreign servers call functions without one.
const RgCall *
rg_look_up(FunctionCallInfo fcinfo)
{
	FmgrInfo *f = fcinfo->flinfo;
	RgCall *c;
	Oid *types;
	int n;

	c = MemoryContextAllocZero(f->fn_mcxt, sizeof(RgCall));
	c->result = get_func_signature(f->fn_oid, &types, &n);
	if (n > RG_MAX_ARGS || n != PG_NARGS())
		elog(ERROR, "function %u has %d arguments, not %d", f->fn_oid, n, PG_NARGS());
	memcpy(c->arg, types, n * sizeof(Oid));
	c->nargs = n;
	f->fn_extra = c;
	return c;
}

char *
rg_shape(int ndim, const int *dims)
{
	StringInfoData s;

	initStringInfo(&s);
	for (int i = 0; i < ndim; i++)
		appendStringInfo(&s, "%s%d", i > 0 ? "," : "[", dims[i]);
	appendStringInfoString(&s, ndim > 0 ? "]" : "[]");
	return s.data;
}

char *
rg_type(const RgOperand *x)
{
	return psprintf("%s%s", x->single ? "real" : "double precision", x->ndim > 0 ? rg_shape(x->ndim, x->dims) : "");
}

// rg_wrong_type raises the error that a kernel does not take operands of these ranks.
void
rg_wrong_type(const char *kernel, const RgOperand *x, int n, const char *hint)
{
	StringInfoData s;

	initStringInfo(&s);
	for (int i = 0; i < n; i++)
		appendStringInfo(&s, "%s%s", i > 0 ? ", " : "", rg_type(&x[i]));
	ereport(ERROR, (errcode(ERRCODE_UNDEFINED_FUNCTION), errmsg("%s(%s) does not exist", kernel, s.data),
					errhint("%s", hint)));
}

// rg_chunk reads an array, which must be of rank 1 to 6, with lower bounds 1, without NULL.
void
rg_chunk(ArrayType *a, const char *kernel, RgOperand *x)
{
	x->single = ARR_ELEMTYPE(a) == FLOAT4OID;
	x->ndim = ARR_NDIM(a);
	x->dims = ARR_DIMS(a);
	x->size = rg_product(x->ndim, x->dims);
	x->data = ARR_DATA_PTR(a);
	x->number = 0;
	if (x->ndim == 0 || x->size == 0)
		ereport(ERROR, (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR), errmsg("the chunk given to %s is empty", kernel),
						errhint("A chunk has at least one element.")));
	for (int i = 0; i < x->ndim; i++)
		if (ARR_LBOUND(a)[i] != 1)
			ereport(ERROR, (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
							errmsg("the chunk of shape %s given to %s has lower bound %d in dimension %d, not 1",
								   rg_shape(x->ndim, x->dims), kernel, ARR_LBOUND(a)[i], i + 1),
							errhint("The slice v[:] of an array v has lower bounds 1.")));
	if (ARR_HASNULL(a) && array_contains_nulls(a))
		ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
						errmsg("the chunk of shape %s given to %s has NULL elements", rg_shape(x->ndim, x->dims),
							   kernel),
						errhint("A chunk is dense: use 0, or leave the row out.")));
}

// rg_operand reads argument i: a chunk or a number.
void
rg_operand(FunctionCallInfo fcinfo, int i, const char *kernel, RgOperand *x)
{
	Oid type = rg_call(fcinfo)->arg[i];

	if (rg_is_chunk(type)) {
		rg_chunk(PG_GETARG_ARRAYTYPE_P(i), kernel, x);
		return;
	}
	x->single = false;
	x->ndim = 0;
	x->dims = NULL;
	x->size = 1;
	x->data = &x->number;
	x->number = type == FLOAT4OID ? (double) PG_GETARG_FLOAT4(i) : PG_GETARG_FLOAT8(i);
}

void
rg_operands(FunctionCallInfo fcinfo, const char *kernel, int n, RgOperand *x)
{
	for (int i = 0; i < n; i++)
		rg_operand(fcinfo, i, kernel, &x[i]);
}

// rg_new_chunk makes a result. The caller must fill all of its elements.
RgChunk
rg_new_chunk(const char *kernel, bool single, int ndim, const int *dims)
{
	RgChunk x = {.single = single, .size = 1};
	int64 most = (int64) ((MaxAllocSize - 256) / rg_width(single));
	size_t bytes;

	if (ndim > MAXDIM)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("the result of %s has %d dimensions, at most %d are possible", kernel, ndim, MAXDIM)));
	for (int i = 0; i < ndim; i++) {
		if (dims[i] > most / x.size)
			ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
							errmsg("the result of %s has the shape %s, at most %lld elements are possible", kernel,
								   rg_shape(ndim, dims), (long long) most)));
		x.size *= dims[i];
	}
	bytes = ARR_OVERHEAD_NONULLS(ndim) + x.size * rg_width(single);
	x.array = palloc(bytes);
	SET_VARSIZE(x.array, bytes);
	x.array->ndim = ndim;
	x.array->dataoffset = 0;
	x.array->elemtype = single ? FLOAT4OID : FLOAT8OID;
	for (int i = 0; i < ndim; i++) {
		ARR_DIMS(x.array)[i] = dims[i];
		ARR_LBOUND(x.array)[i] = 1;
	}
	x.data = ARR_DATA_PTR(x.array);
	return x;
}

// rg_bigints reads argument i, a bigint[] that messages about the kernel call what.
int64 *
rg_bigints(FunctionCallInfo fcinfo, int i, const char *kernel, const char *what, int *n)
{
	ArrayType *a = PG_GETARG_ARRAYTYPE_P(i);

	if (ARR_NDIM(a) > 1)
		ereport(ERROR, (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
						errmsg("the %s of %s is an array of shape %s, not a list", what, kernel,
							   rg_shape(ARR_NDIM(a), ARR_DIMS(a)))));
	if (ARR_HASNULL(a) && array_contains_nulls(a))
		ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
						errmsg("the %s of %s has NULL elements", what, kernel)));
	*n = ARR_NDIM(a) == 0 ? 0 : ARR_DIMS(a)[0];
	return (int64 *) ARR_DATA_PTR(a);
}

// rg_shape_arg reads argument i as a shape into dims and returns its rank.
int
rg_shape_arg(FunctionCallInfo fcinfo, int i, const char *kernel, int *dims)
{
	int n;
	int64 *list = rg_bigints(fcinfo, i, kernel, "shape", &n), size = 1;

	if (n < 1 || n > MAXDIM)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("the shape of %s has %d dimensions, 1 to %d are possible", kernel, n, MAXDIM)));
	for (int d = 0; d < n; d++) {
		if (list[d] < 1 || list[d] > RG_MAX_ELEMENTS / size) {
			StringInfoData s;

			initStringInfo(&s);
			for (int k = 0; k < n; k++)
				appendStringInfo(&s, "%s%lld", k > 0 ? "," : "", (long long) list[k]);
			ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
							errmsg("shape ARRAY[%s] of %s: every length must be at least 1, the size at most %lld",
								   s.data, kernel, (long long) RG_MAX_ELEMENTS)));
		}
		dims[d] = (int) list[d];
		size *= list[d];
	}
	return n;
}

// rg_axis_arg reads argument i, an axis of x that counts from 1, and returns it from 0.
int
rg_axis_arg(FunctionCallInfo fcinfo, int i, const char *kernel, const RgOperand *x)
{
	int64 axis = PG_GETARG_INT64(i);

	if (axis < 1 || axis > x->ndim)
		ereport(ERROR, (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
						errmsg("axis %lld of %s is not in 1 to %d", (long long) axis, kernel, x->ndim),
						errdetail("The argument has shape %s.", rg_shape(x->ndim, x->dims))));
	return (int) axis - 1;
}
