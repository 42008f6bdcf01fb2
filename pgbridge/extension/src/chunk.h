// Chunks (real[] and double precision[] of a fixed shape) as arguments and results of SQL functions.
#ifndef RELGRAD_CHUNK_H
#define RELGRAD_CHUNK_H
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/memutils.h"
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

#define RG_NORETURN __attribute__((noreturn)) // version 18 changed the server's own name for it

#define RG_MAX_ARGS 5

// A cancel request must be noticed within 50 ms. RG_LOOK checks for one at every 16,384th element of a loop. Loops of
// kernels/cpu are called for RG_PIECE numbers at a time.
#define RG_LOOK(i)                        \
	do {                                  \
		if (((i) & 0x3FFF) == 0)          \
			CHECK_FOR_INTERRUPTS();       \
	} while (0)
#define RG_PIECE ((int64) 1 << 20)

// RG_TELL counts n more numbers in done, and checks after each RG_PIECE of them.
#define RG_TELL(done, n)                  \
	do {                                  \
		if (((done) += (n)) > RG_PIECE) { \
			CHECK_FOR_INTERRUPTS();       \
			(done) = 0;                   \
		}                                 \
	} while (0)

// rg_copy and rg_clear are memcpy and memset that check after each piece.
void rg_copy(void *to, const void *from, size_t bytes);
void rg_clear(void *at, size_t bytes);

// The largest size of a double precision chunk: Postgres holds no value of 1 GB or more.
#define RG_MAX_ELEMENTS ((int64)((MaxAllocSize - 256) / sizeof(double)))

// The types of the SQL function that is being called: one C function serves all overloads of a name.
typedef struct RgCall {
	int nargs;
	Oid arg[RG_MAX_ARGS];
	Oid result;
} RgCall;

// An operand of a kernel: a chunk, or a number (ndim 0, always held in double precision).
typedef struct RgOperand {
	bool single; // the elements are real
	int ndim;
	const int *dims;
	int64 size; // elements
	const void *data;
	double number;
} RgOperand;

// A result that is being filled.
typedef struct RgChunk {
	bool single;
	int64 size;
	void *data;
	ArrayType *array;
} RgChunk;

const RgCall *rg_look_up(FunctionCallInfo fcinfo);
void rg_chunk(ArrayType *a, const char *kernel, RgOperand *x);
void rg_operand(FunctionCallInfo fcinfo, int i, const char *kernel, RgOperand *x);
void rg_operands(FunctionCallInfo fcinfo, const char *kernel, int n, RgOperand *x);
RgChunk rg_new_chunk(const char *kernel, bool single, int ndim, const int *dims);
int64 *rg_bigints(FunctionCallInfo fcinfo, int i, const char *kernel, const char *what, int *n);
int rg_shape_arg(FunctionCallInfo fcinfo, int i, const char *kernel, int *dims);
int rg_axis_arg(FunctionCallInfo fcinfo, int i, const char *kernel, const RgOperand *x);

char *rg_shape(int ndim, const int *dims);
char *rg_type(const RgOperand *x);
void rg_wrong_type(const char *kernel, const RgOperand *x, int n, const char *hint) RG_NORETURN;

// rg_call returns the types of the called overload.
static inline const RgCall *
rg_call(FunctionCallInfo fcinfo)
{
	const RgCall *c = fcinfo->flinfo->fn_extra;

	return c != NULL ? c : rg_look_up(fcinfo);
}

static inline bool
rg_same_shape(const RgOperand *a, const RgOperand *b)
{
	if (a->ndim != b->ndim)
		return false;
	for (int i = 0; i < a->ndim; i++)
		if (a->dims[i] != b->dims[i])
			return false;
	return true;
}

static inline bool
rg_is_chunk(Oid type)
{
	return type == FLOAT4ARRAYOID || type == FLOAT8ARRAYOID;
}

static inline double
rg_at(const RgOperand *x, int64 i)
{
	return x->single ? (double) ((const float *) x->data)[i] : ((const double *) x->data)[i];
}

static inline void
rg_put(RgChunk *x, int64 i, double y)
{
	if (x->single)
		((float *) x->data)[i] = (float) y;
	else
		((double *) x->data)[i] = y;
}

static inline size_t
rg_width(bool single)
{
	return single ? sizeof(float) : sizeof(double);
}

static inline int64
rg_product(int ndim, const int *dims)
{
	int64 n = 1;

	for (int i = 0; i < ndim; i++)
		n *= dims[i];
	return n;
}

// A function that all overloads of an SQL name share.
#define RG_FUNCTION(name)                      \
	PG_FUNCTION_INFO_V1(relgrad_##name);       \
	Datum relgrad_##name(PG_FUNCTION_ARGS)

#endif
