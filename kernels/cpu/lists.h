#ifndef RELGRAD_LISTS_H
#define RELGRAD_LISTS_H
#include <stdint.h>

// rg_list tells how the next LIST rows of an index go on: all the same, one after the other, or otherwise.
#define LIST 16
enum { OTHERWISE, SAME, ASCEND };
static inline int rg_list(const int32_t *at) {
	uint32_t first = (uint32_t)at[0], step = (uint32_t)at[LIST - 1] == first + (LIST - 1), other = 0;
	if (!step && at[LIST - 1] != at[0])
		return OTHERWISE;
	for (uint32_t i = 1; i < LIST - 1; i++)
		other |= (uint32_t)at[i] ^ (first + i * step);
	return other ? OTHERWISE : step ? ASCEND : SAME;
}
#endif
