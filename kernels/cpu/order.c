// Loops over whole numbers: codes that are counted and put in order, indexes that are read through indexes.
#include "cpu.h"

// rg_tally adds to count how often each code occurs, and reports whether one is less than the one before it, the first one than last.
int rg_tally(long n, const int32_t *codes, int32_t last, int32_t *count) {
	int32_t falls = 0;
	for (long i = 0, to; i < n; i = to) { // equal neighbours are frequent: the rows of one partner in a join
		int32_t k = codes[i];
		for (to = i + 1; to < n && codes[to] == k; to++)
			;
		count[k] += (int32_t)(to - i);
		falls |= k < last;
		last = k;
	}
	return falls;
}

// rg_place writes the numbers first, first + 1, … of the codes to the places at[code], which count on.
void rg_place(long n, const int32_t *codes, int32_t first, int32_t *at, int32_t *order) {
	for (long i = 0, to; i < n; i = to) {
		int32_t k = codes[i], o = at[k];
		for (to = i + 1; to < n && codes[to] == k; to++)
			;
		at[k] = o + (int32_t)(to - i);
		for (long j = i; j < to; j++)
			order[o++] = first + (int32_t)j;
	}
}

// rg_through is out[i] = b[a[i]], -1 where a[i] is negative; out may be a.
void rg_through(long n, const int32_t *a, const int32_t *b, int32_t *out) {
	for (long i = 0; i < n; i++) {
		int32_t r = a[i];
		out[i] = r < 0 ? -1 : b[r];
	}
}
