// Functions that both reductions and maps of lanes use.
#ifndef RELGRAD_LANE_H
#define RELGRAD_LANE_H
#include "chunk.h"

void rg_pair(FunctionCallInfo fcinfo, const char *kernel, RgOperand *x); // reads two chunks of one shape
double rg_largest(int64 n, const double *x);
// rg_in_double returns x's elements in double precision: n elements, the first at from, stride apart. buf has room for
// them.
const double *rg_in_double(const RgOperand *x, int64 from, int64 stride, int64 n, double *buf);
double rg_scaled_length(int64 n, const double *x); // the Euclidean norm, without overflow
// rg_log_sum_exp_parts returns ln Σ eˣ in two parts: the largest element, and in more what the others add to it.
double rg_log_sum_exp_parts(int64 n, const double *x, double *more);

#endif
