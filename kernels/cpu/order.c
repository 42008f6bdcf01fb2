// Loops over whole numbers: codes that are counted and put in order, indexes that are read through indexes.
#include "lists.h"
#define BODY "order.h"
#include "targets.h"

int rg_places(long n, const int64_t *x, int64_t low, uint64_t count, int32_t first, int32_t *p) {
	return PICK(rg_places_f64, (n, x, low, count, first, p));
}

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

// rg_offsets goes on from counts of the codes below span, one list of span counts for each of so many pieces of the rows, one after the
// other: in place of each count stands where the piece's rows of the code begin in the order of the codes. start[g] is where those of
// group g begin, and the end is start[groups]; it returns the number of groups, and in *most the rows of the largest. Where rank is not
// NULL, codes that do not occur are no groups: rank[k] is the group of code k, -1 where it has none, and the lists hold the groups' places.
long rg_offsets(long span, long pieces, int32_t *count, int32_t *start, int32_t *rank, int32_t *most) {
	int32_t at = 0, top = 0, g = 0;
	for (long k = 0; k < span; k++) {
		int32_t from = at;
		for (long p = 0; p < pieces; p++) {
			int32_t n = count[p * span + k];
			count[p * span + g] = at;
			at += n;
		}
		start[g] = from;
		top = top > at - from ? top : at - from;
		int32_t is = rank == 0 || at > from;
		if (rank)
			rank[k] = is ? g : -1;
		g += is;
	}
	start[g] = at;
	*most = top;
	return g;
}

// rg_cross writes for the rows lo to lo + n of a product of relations, of which the second has so many rows, which row of either it is.
void rg_cross(long lo, long n, long each, int32_t *first, int32_t *second) {
	int32_t c = (int32_t)(lo / each), r = (int32_t)(lo % each);
	for (long i = 0; i < n; c++, r = 0) {
		long m = each - r < n - i ? each - r : n - i;
		for (long j = 0; j < m; j++)
			first[i + j] = c;
		for (long j = 0; j < m; j++)
			second[i + j] = r + (int32_t)j;
		i += m;
	}
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

// rg_through is out[i] = b[a[i]], -1 where a[i] is negative; out may be a. Rows of one partner in a join follow each other, as do all the
// partners of one row: they are met LIST at a time.
void rg_through(long n, const int32_t *a, const int32_t *b, int32_t *out) {
	long i = 0;
	for (; i + LIST <= n; i += LIST) {
		int how = rg_list(a + i);
		int32_t r = a[i];
		if (r >= 0 && how == ASCEND)
			memmove(out + i, b + r, LIST * sizeof *out);
		else if (r >= 0 && how == SAME)
			for (int j = 0; j < LIST; j++)
				out[i + j] = b[r];
		else
			for (int j = 0; j < LIST; j++)
				out[i + j] = a[i + j] < 0 ? -1 : b[a[i + j]];
	}
	for (; i < n; i++)
		out[i] = a[i] < 0 ? -1 : b[a[i]];
}
