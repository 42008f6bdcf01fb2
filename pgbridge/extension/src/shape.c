// Kernels that move elements or make chunks.
#include "chunk.h"

RG_FUNCTION(transpose)
{
	RgOperand x;
	int dims[MAXDIM], rows, cols;
	RgChunk out;

	rg_operand(fcinfo, 0, "transpose", &x);
	if (x.ndim < 2)
		rg_wrong_type("transpose", &x, 1, "The argument must have at least two dimensions.");
	memcpy(dims, x.dims, x.ndim * sizeof(int));
	rows = dims[x.ndim - 2];
	cols = dims[x.ndim - 1];
	dims[x.ndim - 2] = cols;
	dims[x.ndim - 1] = rows;
	out = rg_new_chunk("transpose", x.single, x.ndim, dims);
	for (int64 o = 0; o < x.size; o += (int64) rows * cols)
		for (int64 r = 0; r < rows; r++)
			for (int64 c = 0; c < cols; c++) {
				RG_LOOK(r * cols + c);
				rg_put(&out, o + c * rows + r, rg_at(&x, o + r * cols + c));
			}
	PG_RETURN_ARRAYTYPE_P(out.array);
}

RG_FUNCTION(reshape)
{
	RgOperand x;
	int dims[MAXDIM], ndim;
	RgChunk out;

	rg_operand(fcinfo, 0, "reshape", &x);
	ndim = rg_shape_arg(fcinfo, 1, "reshape", dims);
	if (rg_product(ndim, dims) != x.size)
		ereport(ERROR, (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
						errmsg("shape %s has %lld elements, shape %s has %lld", rg_shape(x.ndim, x.dims),
							   (long long) x.size, rg_shape(ndim, dims), (long long) rg_product(ndim, dims))));
	out = rg_new_chunk("reshape", x.single, ndim, dims);
	rg_copy(out.data, x.data, x.size * rg_width(x.single));
	PG_RETURN_ARRAYTYPE_P(out.array);
}

RG_FUNCTION(concat_axis)
{
	RgOperand x[2];
	int dims[MAXDIM], axis, a, b;
	bool fits;
	int64 inner, outer, done = 0;
	size_t na, nb, w;
	RgChunk out;
	char *p;

	rg_operands(fcinfo, "concat_axis", 2, x);
	axis = rg_axis_arg(fcinfo, 2, "concat_axis", &x[0]);
	fits = x[0].ndim == x[1].ndim;
	for (int i = 0; fits && i < x[0].ndim; i++)
		fits = i == axis || x[0].dims[i] == x[1].dims[i];
	if (!fits)
		ereport(ERROR, (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
						errmsg("different shapes %s and %s in concat_axis along axis %d",
							   rg_shape(x[0].ndim, x[0].dims), rg_shape(x[1].ndim, x[1].dims), axis + 1)));
	a = x[0].dims[axis];
	b = x[1].dims[axis];
	memcpy(dims, x[0].dims, x[0].ndim * sizeof(int));
	dims[axis] = a + b;
	out = rg_new_chunk("concat_axis", x[0].single, x[0].ndim, dims);
	w = rg_width(out.single);
	inner = rg_product(x[0].ndim - axis - 1, dims + axis + 1);
	outer = rg_product(axis, dims);
	na = a * inner * w;
	nb = b * inner * w;
	p = out.data;
	for (int64 i = 0; i < outer; i++) {
		RG_TELL(done, (a + b) * inner);
		rg_copy(p, (const char *) x[0].data + i * na, na);
		rg_copy(p + na, (const char *) x[1].data + i * nb, nb);
		p += na + nb;
	}
	PG_RETURN_ARRAYTYPE_P(out.array);
}

static Datum
full(FunctionCallInfo fcinfo, const char *kernel, double value)
{
	int dims[MAXDIM], ndim = rg_shape_arg(fcinfo, 0, kernel, dims);
	RgChunk out = rg_new_chunk(kernel, false, ndim, dims);

	for (int64 i = 0; i < out.size; i++) {
		RG_LOOK(i);
		rg_put(&out, i, value);
	}
	PG_RETURN_ARRAYTYPE_P(out.array);
}

RG_FUNCTION(zeros)
{
	return full(fcinfo, "zeros", 0);
}

RG_FUNCTION(full)
{
	return full(fcinfo, "full", PG_GETARG_FLOAT8(1));
}

RG_FUNCTION(one_hot)
{
	int64 label = PG_GETARG_INT64(0), n = PG_GETARG_INT64(1);
	int dims[1];
	RgChunk out;

	if (n < 1 || n > RG_MAX_ELEMENTS)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("the size of one_hot is %lld, not in 1 to %lld", (long long) n,
							   (long long) RG_MAX_ELEMENTS)));
	if (label < 0 || label >= n)
		ereport(ERROR, (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
						errmsg("label %lld of one_hot is not in 0 to %lld", (long long) label, (long long) n - 1)));
	dims[0] = (int) n;
	out = rg_new_chunk("one_hot", false, 1, dims);
	rg_clear(out.data, n * sizeof(double));
	rg_put(&out, label, 1);
	PG_RETURN_ARRAYTYPE_P(out.array);
}

// itself returns argument 0, checked if it is a chunk.
static Datum
itself(FunctionCallInfo fcinfo, const char *kernel)
{
	RgOperand x;

	if (!rg_is_chunk(rg_call(fcinfo)->arg[0]))
		return PG_GETARG_DATUM(0);
	rg_operand(fcinfo, 0, kernel, &x);
	return PG_GETARG_DATUM(0);
}

RG_FUNCTION(stop_gradient)
{
	return itself(fcinfo, "stop_gradient");
}

// Outside of a loss, dropout drops nothing.
RG_FUNCTION(dropout)
{
	double p = PG_GETARG_FLOAT8(1);

	if (!(p >= 0 && p < 1))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("dropout probability %g is not in [0,1)", p)));
	return itself(fcinfo, "dropout");
}
