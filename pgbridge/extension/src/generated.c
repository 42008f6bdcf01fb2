// Functions that only generated SQL calls, as package sqlgen writes it for Postgres. gen_<kernel> is the kernel of that
// name, with its attributes as arguments. Those that draw are in random.c, element-wise ones in elementwise.c.
#include "chunk.h"

#include <math.h>
#include <stdlib.h>

#include "common/hashfn.h"
#include "storage/itemptr.h"
#include "utils/builtins.h"

// A Walk goes through the elements of a shape in row-major order. off is the offset in another chunk.
typedef struct Walk {
	int ndim;
	const int *dims;
	int64 stride[MAXDIM];
	int idx[MAXDIM];
	int64 off;
} Walk;

static void
next(Walk *w)
{
	for (int d = w->ndim - 1; d >= 0; d--) {
		w->off += w->stride[d];
		if (++w->idx[d] < w->dims[d])
			return;
		w->off -= w->stride[d] * w->dims[d];
		w->idx[d] = 0;
	}
}

// repeated walks through the shape dims beside a chunk of shape small, which is broadcast to it. It returns false if
// that is not possible.
static bool
repeated(int ndim, const int *dims, int n, const int *small, Walk *w)
{
	int64 step = 1;

	*w = (Walk) {.ndim = ndim, .dims = dims};
	if (n > ndim)
		return false;
	for (int i = n - 1; i >= 0; i--) {
		int d = ndim - n + i;

		if (small[i] != dims[d] && small[i] != 1)
			return false;
		w->stride[d] = small[i] == 1 ? 0 : step;
		step *= small[i];
	}
	return true;
}

// gen_sum_to(x, shape) sums in double precision over the axes that have length 1 in the shape or are not in it.
RG_FUNCTION(gen_sum_to)
{
	RgOperand x;
	int dims[MAXDIM], ndim;
	RgChunk out;
	Walk w;
	double *sum;

	rg_operand(fcinfo, 0, "sum_to", &x);
	ndim = rg_shape_arg(fcinfo, 1, "sum_to", dims);
	if (!repeated(x.ndim, x.dims, ndim, dims, &w))
		ereport(ERROR, (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
						errmsg("shape %s is not a sum of shape %s", rg_shape(ndim, dims), rg_shape(x.ndim, x.dims))));
	out = rg_new_chunk("sum_to", x.single, ndim, dims);
	sum = palloc_extended(out.size * sizeof(double), MCXT_ALLOC_HUGE);
	rg_clear(sum, out.size * sizeof(double));
	for (int64 i = 0; i < x.size; i++, next(&w)) {
		RG_LOOK(i);
		sum[w.off] += rg_at(&x, i);
	}
	for (int64 i = 0; i < out.size; i++) {
		RG_LOOK(i);
		rg_put(&out, i, sum[i]);
	}
	PG_RETURN_ARRAYTYPE_P(out.array);
}

// gen_expand_to(x, shape) repeats a chunk or a number so that it has the shape.
RG_FUNCTION(gen_expand_to)
{
	RgOperand x;
	int dims[MAXDIM], ndim;
	RgChunk out;
	Walk w;

	rg_operand(fcinfo, 0, "expand_to", &x);
	ndim = rg_shape_arg(fcinfo, 1, "expand_to", dims);
	if (!repeated(ndim, dims, x.ndim, x.dims, &w))
		ereport(ERROR, (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
						errmsg("shape %s does not expand to shape %s", rg_shape(x.ndim, x.dims),
							   rg_shape(ndim, dims))));
	out = rg_new_chunk("expand_to", x.single, ndim, dims);
	for (int64 i = 0; i < out.size; i++, next(&w)) {
		RG_LOOK(i);
		rg_put(&out, i, rg_at(&x, w.off));
	}
	PG_RETURN_ARRAYTYPE_P(out.array);
}

// gen_pad(x, shape, start) is zeros of the shape with x at start, which counts from 1.
RG_FUNCTION(gen_pad)
{
	RgOperand x;
	int dims[MAXDIM], ndim, n;
	int64 *start, step = 1;
	bool inside;
	RgChunk out;
	Walk w;

	rg_operand(fcinfo, 0, "pad", &x);
	ndim = rg_shape_arg(fcinfo, 1, "pad", dims);
	start = rg_bigints(fcinfo, 2, "pad", "start", &n);
	w = (Walk) {.ndim = x.ndim, .dims = x.dims};
	inside = n == ndim && x.ndim == ndim;
	for (int d = ndim - 1; inside && d >= 0; d--) {
		inside = start[d] >= 1 && start[d] - 1 + x.dims[d] <= dims[d];
		w.stride[d] = step;
		w.off += (start[d] - 1) * step;
		step *= dims[d];
	}
	if (!inside)
		ereport(ERROR, (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
						errmsg("a box of shape %s is not inside shape %s", rg_shape(x.ndim, x.dims),
							   rg_shape(ndim, dims))));
	out = rg_new_chunk("pad", x.single, ndim, dims);
	rg_clear(out.data, out.size * rg_width(out.single));
	for (int64 i = 0; i < x.size; i++, next(&w)) {
		RG_LOOK(i);
		rg_put(&out, w.off, rg_at(&x, i));
	}
	PG_RETURN_ARRAYTYPE_P(out.array);
}

// gen_put(g, shape, index) is zeros of the shape with g at the index, which counts from 1; all zeros if it is outside.
RG_FUNCTION(gen_put)
{
	int dims[MAXDIM], ndim = rg_shape_arg(fcinfo, 1, "put", dims), n;
	int64 *index = rg_bigints(fcinfo, 2, "put", "index", &n), off = 0;
	RgChunk out = rg_new_chunk("put", false, ndim, dims);
	bool inside = true;

	if (n != ndim)
		ereport(ERROR, (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
						errmsg("%d subscripts of shape %s", n, rg_shape(ndim, dims))));
	for (int d = 0; d < ndim; d++) {
		inside = inside && index[d] >= 1 && index[d] <= dims[d];
		off = inside ? off * dims[d] + index[d] - 1 : 0;
	}
	rg_clear(out.data, out.size * sizeof(double));
	if (inside)
		rg_put(&out, off, PG_GETARG_FLOAT8(0));
	PG_RETURN_ARRAYTYPE_P(out.array);
}

// gen_to_real(x) rounds to real by IEEE 754: a number that is too large becomes infinite. Postgres's cast raises an
// error.
RG_FUNCTION(gen_to_real)
{
	RgOperand x;
	RgChunk out;

	rg_operand(fcinfo, 0, "to_real", &x);
	if (x.ndim == 0)
		PG_RETURN_FLOAT4((float) x.number);
	out = rg_new_chunk("to_real", true, x.ndim, x.dims);
	for (int64 i = 0; i < x.size; i++) {
		RG_LOOK(i);
		rg_put(&out, i, rg_at(&x, i));
	}
	PG_RETURN_ARRAYTYPE_P(out.array);
}

// gen_decimal(x) rounds to 15 significant decimal digits.
RG_FUNCTION(gen_decimal)
{
	double x = PG_GETARG_FLOAT8(0);
	char text[32];

	if (isnan(x) || isinf(x))
		PG_RETURN_FLOAT8(x);
	snprintf(text, sizeof(text), "%.14e", x);
	PG_RETURN_FLOAT8(strtod(text, NULL));
}

// gen_stack_row(place, rows, missing, expected) is the position of a row in the array that array_agg stacks.
RG_FUNCTION(gen_stack_row)
{
	int64 rows = PG_GETARG_INT64(1), expected = PG_GETARG_INT64(3);

	if (PG_GETARG_BOOL(2))
		ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("array_agg cannot collect NULL"),
						errhint("Give it a value, such as coalesce(x, 0).")));
	if (rows != expected)
		ereport(ERROR, (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
						errmsg("array_agg: a group has %lld rows, others have %lld", (long long) rows,
							   (long long) expected),
						errhint("Chunks of a column have one shape: choose groups of one size.")));
	PG_RETURN_INT64(PG_GETARG_INT64(0));
}

// gen_changed(what) raises an error with the text what, which says what another session has changed since a text was
// planned. It is NULL for NULL: nothing has changed.
RG_FUNCTION(gen_changed)
{
	ereport(ERROR, (errcode(ERRCODE_T_R_SERIALIZATION_FAILURE), errmsg("%s", text_to_cstring(PG_GETARG_TEXT_PP(0))),
					errdetail("Another session has changed it since the loss was planned."),
					errhint("Run the statement again: it is planned for what is there now.")));
}

// gen_shaped(x, shape) tells whether a chunk has the shape. It reads only the array's header.
RG_FUNCTION(gen_shaped)
{
	ArrayType *head = (ArrayType *) PG_DETOAST_DATUM_SLICE(PG_GETARG_DATUM(0), 0, ARR_OVERHEAD_NONULLS(MAXDIM));
	ArrayType *shape = PG_GETARG_ARRAYTYPE_P(1);
	int64 *want = (int64 *) ARR_DATA_PTR(shape);
	bool same = ARR_NDIM(head) == ArrayGetNItems(ARR_NDIM(shape), ARR_DIMS(shape));

	for (int i = 0; same && i < ARR_NDIM(head); i++)
		same = ARR_DIMS(head)[i] == want[i];
	PG_RETURN_BOOL(same);
}

// gen_row_id(ctid) turns a row's place into a number, in the order of the table's file.
RG_FUNCTION(gen_row_id)
{
	ItemPointer p = (ItemPointer) PG_GETARG_POINTER(0);

	PG_RETURN_INT64((int64) ItemPointerGetBlockNumberNoCheck(p) << 16 | ItemPointerGetOffsetNumberNoCheck(p));
}

// gen_place(tableoid, ctid, xmin, cmin) is a hash of a row's place and of who wrote it. By the hashes of all rows the
// engine sees whether a table's content has changed.
RG_FUNCTION(gen_place)
{
	ItemPointer p = (ItemPointer) PG_GETARG_POINTER(1);
	uint32 key[] = {PG_GETARG_OID(0), ItemPointerGetBlockNumberNoCheck(p), ItemPointerGetOffsetNumberNoCheck(p),
					PG_GETARG_TRANSACTIONID(2), DatumGetCommandId(PG_GETARG_DATUM(3))};

	PG_RETURN_INT64((int64) hash_bytes_extended((const unsigned char *) key, sizeof key, 0));
}
