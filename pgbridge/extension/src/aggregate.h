// States of aggregates (aggregate.c), for those that other files have.
#ifndef RELGRAD_AGGREGATE_H
#define RELGRAD_AGGREGATE_H
#include "chunk.h"

// Where a state's numbers lie; the elements follow the lengths.
#define ROWS 0
#define RANK 1
#define DIMS 2

typedef struct RgState {
	ArrayType *array;
	double *x;        // rows, rank, lengths
	RgOperand chunk;  // the elements
	int dims[MAXDIM];
} RgState;

static inline double *
rg_elements(const RgState *s)
{
	return (double *) s->chunk.data;
}

void rg_broken_state(void) RG_NORETURN;
bool rg_read_state(ArrayType *a, RgState *s);
void rg_new_state(int ndim, const int *dims, RgState *s);
ArrayType *rg_own_state(FunctionCallInfo fcinfo);
void rg_same_rows(const char *aggregate, const RgState *s, const RgOperand *x);
void rg_fold_add(RgState *s, const RgOperand *x);

#endif
