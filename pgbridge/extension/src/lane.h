// What reductions and maps of lanes share.
#ifndef RELGRAD_LANE_H
#define RELGRAD_LANE_H
#include "chunk.h"

void rg_pair(FunctionCallInfo fcinfo, const char *kernel, RgOperand *x); // two chunks of one shape
double rg_largest(int64 n, const double *x);
// rg_in_double gives x's elements from from on, stride apart, in double precision; buf has room for them.
const double *rg_in_double(const RgOperand *x, int64 from, int64 stride, int64 n, double *buf);
double rg_scaled_length(int64 n, const double *x); // the Euclidean norm of any numbers
// rg_log_sum_exp_parts gives ln Σ eˣ as the largest element and what the others add to it.
double rg_log_sum_exp_parts(int64 n, const double *x, double *more);

#endif
