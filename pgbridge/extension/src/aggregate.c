// Aggregates. Their state is a double precision[]: the number of rows, the rank, the lengths, then the elements (rank 0
// for numbers); {} before the first row. So a partial aggregate is an ordinary value that a parallel worker,
// postgres_fdw or Citus can send, and a combine function merges two of them.
#include "aggregate.h"

#include <math.h>

#include "cpu.h"

#define LINE 64 // bytes of a line of cache

void
rg_broken_state(void)
{
	ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("malformed state of an aggregate"),
					errhint("Functions named agg_… are parts of aggregates and not called by themselves.")));
}

// rg_read_state reads a state. It returns false for the state of no rows.
bool
rg_read_state(ArrayType *a, RgState *s)
{
	int64 n = ARR_NDIM(a) == 0 ? 0 : ARR_DIMS(a)[0], size = 1;
	int rank;

	s->array = a;
	if (n == 0)
		return false;
	s->x = (double *) ARR_DATA_PTR(a);
	if (ARR_NDIM(a) != 1 || ARR_HASNULL(a) || n < DIMS + 1 || !(s->x[RANK] >= 0 && s->x[RANK] <= MAXDIM))
		rg_broken_state();
	rank = (int) s->x[RANK];
	if (n < DIMS + rank + 1)
		rg_broken_state();
	for (int i = 0; i < rank; i++) {
		double d = s->x[DIMS + i];

		if (!(d >= 1 && d <= (double) n))
			rg_broken_state();
		s->dims[i] = (int) d;
		size *= s->dims[i];
		if (size > n)
			rg_broken_state();
	}
	if (size != n - DIMS - rank)
		rg_broken_state();
	s->chunk = (RgOperand) {.ndim = rank, .dims = s->dims, .size = size, .data = s->x + DIMS + rank};
	return true;
}

// rg_new_state makes a state of 0 rows for chunks of a shape. Its elements are not set.
void
rg_new_state(int ndim, const int *dims, RgState *s)
{
	int n[1];
	int64 size = rg_product(ndim, dims);
	RgChunk c;

	if (size > RG_MAX_ELEMENTS - DIMS - MAXDIM)
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						errmsg("chunks of shape %s are too large to be aggregated", rg_shape(ndim, dims)),
						errdetail("The state holds %lld double precision numbers at most.",
								  (long long) RG_MAX_ELEMENTS)));
	n[0] = (int) size + DIMS + ndim;
	c = rg_new_chunk("an aggregate", false, 1, n);
	s->array = c.array;
	s->x = c.data;
	s->x[ROWS] = 0;
	s->x[RANK] = ndim;
	for (int i = 0; i < ndim; i++) {
		s->x[DIMS + i] = dims[i];
		s->dims[i] = dims[i];
	}
	s->chunk = (RgOperand) {.ndim = ndim, .dims = s->dims, .size = size, .data = s->x + DIMS + ndim};
}

// state_of reads a state for rows of x's shape. It returns false if the array is no such state; rg_read_state then says
// why. It runs for every row, so it only compares the state with the row.
static inline bool
state_of(ArrayType *a, const RgOperand *x, RgState *s)
{
	if (ARR_NDIM(a) != 1 || ARR_HASNULL(a) || ARR_DIMS(a)[0] != DIMS + x->ndim + x->size)
		return false;
	s->array = a;
	s->x = (double *) ARR_DATA_PTR(a);
	if (s->x[RANK] != x->ndim)
		return false;
	for (int i = 0; i < x->ndim; i++)
		if (s->x[DIMS + i] != x->dims[i])
			return false;
	s->chunk = (RgOperand) {.ndim = x->ndim, .dims = x->dims, .size = x->size, .data = s->x + DIMS + x->ndim};
	return true;
}

// rg_own_state is argument 0 as a state that may be changed: the array itself in an aggregate, else a copy.
ArrayType *
rg_own_state(FunctionCallInfo fcinfo)
{
	ArrayType *a = PG_GETARG_ARRAYTYPE_P(0), *own;

	if (AggCheckCallContext(fcinfo, NULL))
		return a;
	own = palloc(VARSIZE(a));
	rg_copy(own, a, VARSIZE(a));
	return own;
}

void
rg_same_rows(const char *aggregate, const RgState *s, const RgOperand *x)
{
	if (!rg_same_shape(&s->chunk, x))
		ereport(ERROR, (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
						errmsg("%s: chunks of shapes %s and %s cannot be combined", aggregate,
							   rg_shape(s->chunk.ndim, s->chunk.dims), rg_shape(x->ndim, x->dims))));
}

// rg_fold_add adds a row's elements to the state's.
void
rg_fold_add(RgState *s, const RgOperand *x)
{
	for (int64 lo = 0; lo < x->size; lo += RG_PIECE) {
		int64 n = Min(RG_PIECE, x->size - lo);

		if (lo > 0)
			CHECK_FOR_INTERRUPTS();
		if (x->single)
			rg_add_rows_f32(1, n, (const float *) x->data + lo, rg_elements(s) + lo);
		else
			rg_add_rows_f64(1, n, (const double *) x->data + lo, rg_elements(s) + lo);
	}
}

// fold_max keeps the larger elements. NaN is above all numbers, as in Postgres's max.
static void
fold_max(RgState *s, const RgOperand *x)
{
	double *m = rg_elements(s);

	for (int64 i = 0; i < x->size; i++) {
		double y = rg_at(x, i);

		RG_LOOK(i);
		m[i] = y > m[i] || y != y ? y : m[i];
	}
}

static void
fold_min(RgState *s, const RgOperand *x)
{
	double *m = rg_elements(s);

	for (int64 i = 0; i < x->size; i++) {
		double y = rg_at(x, i);

		RG_LOOK(i);
		m[i] = y < m[i] || m[i] != m[i] ? y : m[i];
	}
}

typedef void (*Fold)(RgState *s, const RgOperand *x);

// prefetch_page loads the chunk that is one page further in memory, while the executor goes on. The buffers of a table
// that was read or written in order are in order too, so that chunk is used some rows later: late enough for the load,
// also for the first rows of a page. If the chunk is not used, or x is a copy, the lines are loaded in vain; a prefetch
// never faults. The function must be inlined: gcc drops calls of a function that only prefetches, because it seems to
// have no effect.
static pg_attribute_always_inline void
prefetch_page(const RgOperand *x)
{
	const char *start = (const char *) x->data + BLCKSZ;
	Size bytes = x->size * rg_width(x->single) + LINE;

	if (x->ndim > 0 && bytes <= BLCKSZ / 2)
		for (Size i = 0; i < bytes; i += LINE)
			__builtin_prefetch(start + i);
}

// step adds one row, a chunk or a number, to the state.
static inline Datum
step(FunctionCallInfo fcinfo, const char *aggregate, Fold fold)
{
	ArrayType *a;
	RgState s;
	RgOperand x;

	rg_operand(fcinfo, 1, aggregate, &x);
	prefetch_page(&x);
	a = rg_own_state(fcinfo);
	if (state_of(a, &x, &s))
		fold(&s, &x);
	else if (rg_read_state(a, &s)) {
		rg_same_rows(aggregate, &s, &x);
		fold(&s, &x);
	} else {
		rg_new_state(x.ndim, x.dims, &s);
		for (int64 i = 0; i < x.size; i++) {
			RG_LOOK(i);
			rg_elements(&s)[i] = rg_at(&x, i);
		}
	}
	s.x[ROWS]++;
	PG_RETURN_ARRAYTYPE_P(s.array);
}

// combine merges the state of argument 1 into that of argument 0.
static Datum
combine(FunctionCallInfo fcinfo, const char *aggregate, Fold fold)
{
	RgState s, t;

	if (!rg_read_state(PG_GETARG_ARRAYTYPE_P(1), &t))
		return PG_GETARG_DATUM(0);
	if (!rg_read_state(rg_own_state(fcinfo), &s))
		PG_RETURN_ARRAYTYPE_P(t.array);
	rg_same_rows(aggregate, &s, &t.chunk);
	fold(&s, &t.chunk);
	s.x[ROWS] += t.x[ROWS];
	PG_RETURN_ARRAYTYPE_P(s.array);
}

RG_FUNCTION(agg_add)
{
	return step(fcinfo, "sum", rg_fold_add);
}

RG_FUNCTION(agg_max)
{
	return step(fcinfo, "max_agg", fold_max);
}

RG_FUNCTION(agg_min)
{
	return step(fcinfo, "min_agg", fold_min);
}

RG_FUNCTION(agg_add_combine)
{
	return combine(fcinfo, "sum", rg_fold_add);
}

RG_FUNCTION(agg_max_combine)
{
	return combine(fcinfo, "max_agg", fold_max);
}

RG_FUNCTION(agg_min_combine)
{
	return combine(fcinfo, "min_agg", fold_min);
}

// agg_scatter(state, index, value, size) adds a row to vector_agg. It is not strict: a row whose index or value is NULL
// adds nothing, but its size decides the length of the vector.
RG_FUNCTION(agg_scatter)
{
	RgState s;
	bool has;

	if (PG_ARGISNULL(0))
		rg_broken_state();
	has = rg_read_state(rg_own_state(fcinfo), &s);
	if (!has && (PG_ARGISNULL(3) || PG_GETARG_INT64(3) < 1 || PG_GETARG_INT64(3) > RG_MAX_ELEMENTS - DIMS - MAXDIM))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						PG_ARGISNULL(3) ? errmsg("vector_agg: the size is NULL")
										: errmsg("vector_agg: size %lld is not in 1 to %lld",
												 (long long) PG_GETARG_INT64(3),
												 (long long) RG_MAX_ELEMENTS - DIMS - MAXDIM)));
	if (!has) {
		int dims[1] = {(int) PG_GETARG_INT64(3)};

		rg_new_state(1, dims, &s);
		rg_clear(rg_elements(&s), s.chunk.size * sizeof(double));
	}
	if (!PG_ARGISNULL(3) && PG_GETARG_INT64(3) != s.chunk.size)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("vector_agg: sizes %lld and %lld in one group", (long long) s.chunk.size,
							   (long long) PG_GETARG_INT64(3))));
	if (!PG_ARGISNULL(1) && !PG_ARGISNULL(2)) {
		int64 i = PG_GETARG_INT64(1);
		double y = rg_call(fcinfo)->arg[2] == FLOAT4OID ? (double) PG_GETARG_FLOAT4(2) : PG_GETARG_FLOAT8(2);

		if (i < 0 || i >= s.chunk.size)
			ereport(ERROR, (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
							errmsg("vector_agg: index %lld is outside 0 … %lld", (long long) i,
								   (long long) s.chunk.size - 1),
							errhint("Indices count from 0.")));
		rg_elements(&s)[i] += y;
	}
	s.x[ROWS]++;
	PG_RETURN_ARRAYTYPE_P(s.array);
}

RG_FUNCTION(agg_scatter_combine)
{
	return combine(fcinfo, "vector_agg", rg_fold_add);
}

// finish returns the aggregate's value, for a mean divided by the number of rows; NULL for no rows.
static Datum
finish(FunctionCallInfo fcinfo, bool mean)
{
	Oid result = rg_call(fcinfo)->result;
	RgState s;
	RgChunk out;
	double by;

	if (!rg_read_state(PG_GETARG_ARRAYTYPE_P(0), &s))
		PG_RETURN_NULL();
	by = mean ? s.x[ROWS] : 1;
	if (rg_is_chunk(result) != (s.chunk.ndim > 0))
		rg_broken_state();
	if (result == FLOAT4OID)
		PG_RETURN_FLOAT4((float) (rg_elements(&s)[0] / by));
	if (result == FLOAT8OID)
		PG_RETURN_FLOAT8(rg_elements(&s)[0] / by);
	out = rg_new_chunk("an aggregate", result == FLOAT4ARRAYOID, s.chunk.ndim, s.chunk.dims);
	for (int64 i = 0; i < out.size; i++) {
		RG_LOOK(i);
		rg_put(&out, i, rg_elements(&s)[i] / by);
	}
	PG_RETURN_ARRAYTYPE_P(out.array);
}

RG_FUNCTION(agg_value)
{
	return finish(fcinfo, false);
}

RG_FUNCTION(agg_mean)
{
	return finish(fcinfo, true);
}
