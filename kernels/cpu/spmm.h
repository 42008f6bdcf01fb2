// Sums of weighted rows, or of weighted differences of rows, by group; copies of rows. Accumulators stay in registers across up to 16 vectors
// of the width; the rows of some edges ahead are prefetched where they are far, also those of the groups that follow.
typedef T N(vec) __attribute__((vector_size(VB)));
#define V (VB / (long)sizeof(T))
#define AHEAD 24
#define CHAIN 256 // edges that are summed in T before the sum goes to double
#define INLINE static inline __attribute__((always_inline))

// N(terms) are the rows: w[e]·x[at[e]], or w[e]·(x[at[e]] - y[yt[e]]) where y is given. Without at or yt, edge e has row e + base.
typedef struct {
	long base, size, last; // last: the edges of all groups
	long held;             // the row of y that all edges of the group have; -1: yt tells
	int far, yfar;         // the rows of x, of y are not in the second-level cache
	const T *w, *x, *y;
	const int32_t *at, *yt;
} N(terms);

// N(fetch) prefetches into the second level: the first has too few places for lines on their way to fetch some rows ahead.
INLINE void N(fetch)(const T *row, long bytes) {
	for (long j = 0; j < bytes; j += 64)
		__builtin_prefetch((const char *)row + j, 0, 2);
}

// Forms of a term: one row, the difference of two, and that where x, or y, is the same row for all edges of a group: it is loaded once
// and stays in registers, as far as there are. The first is 0.
enum { N(ONE), N(BOTH), N(HOLD_X), N(HOLD_Y) };

// N(tile) adds the edges lo…hi over NV vectors from column c on, the last one from column last on, and writes them to out. Columns of
// two vectors are the same sums twice.
#define TILE(NV)                                                                                                                           \
	INLINE void N(tile##NV)(const N(terms) *t, int form, long lo, long hi, long c, long last, T *out) {                                    \
		N(vec) acc[NV], held[NV], v, u;                                                                                                    \
		const T *x = t->x + c, *y = form == N(ONE) ? 0 : t->y + c;                                                                         \
		long rest = last - c, bytes = rest * (long)sizeof(T) + VB;                                                                         \
		for (int j = 0; j < NV; j++) {                                                                                                     \
			acc[j] = (N(vec)){0};                                                                                                          \
			if (form > N(BOTH))                                                                                                            \
				memcpy(&held[j], (form == N(HOLD_X) ? x + t->at[lo] * t->size : y + (t->held < 0 ? t->yt[lo] : t->held) * t->size) + (j < NV - 1 ? j * V : rest), VB); \
		}                                                                                                                                  \
		for (long e = lo; e < hi; e++) {                                                                                                   \
			const T *p = x, *q = y;                                                                                                        \
			if (form != N(HOLD_X))                                                                                                         \
				p += (t->at ? (long)t->at[e] : e + t->base) * t->size;                                                                     \
			if (form == N(BOTH) || form == N(HOLD_X))                                                                                      \
				q += (t->yt ? (long)t->yt[e] : e + t->base) * t->size;                                                                     \
			if (t->far && e + AHEAD < t->last && (form != N(HOLD_X) || t->at[e + AHEAD] != t->at[e + AHEAD - 1]))                          \
				N(fetch)(x + (long)t->at[e + AHEAD] * t->size, bytes);                                                                     \
			if (form != N(ONE) && t->yfar && e + AHEAD < t->last && (form != N(HOLD_Y) || t->yt[e + AHEAD] != t->yt[e + AHEAD - 1]))       \
				N(fetch)(y + (long)t->yt[e + AHEAD] * t->size, bytes);                                                                     \
			T f = t->w ? t->w[e] : 1;                                                                                                      \
			for (int j = 0; j < NV; j++) {                                                                                                 \
				long at = j < NV - 1 ? j * V : rest;                                                                                       \
				if (form != N(HOLD_X))                                                                                                     \
					memcpy(&v, p + at, VB);                                                                                                \
				if (form == N(BOTH) || form == N(HOLD_X))                                                                                  \
					memcpy(&u, q + at, VB);                                                                                                \
				if (form != N(ONE))                                                                                                        \
					v = (form == N(HOLD_X) ? held[j] : v) - (form == N(HOLD_Y) ? held[j] : u);                                             \
				acc[j] += f * v;                                                                                                           \
			}                                                                                                                              \
		}                                                                                                                                  \
		for (int j = 0; j < NV; j++)                                                                                                       \
			memcpy(out + (j < NV - 1 ? c + j * V : last), &acc[j], VB);                                                                    \
	}
#if VB == 64
TILE(16)
#endif
TILE(8)
TILE(7)
TILE(6)
TILE(5)
TILE(4)
TILE(3)
TILE(2)
TILE(1)

// N(edges) sums at most CHAIN edges over the columns from…end.
INLINE void N(edges)(const N(terms) *t, int form, long lo, long hi, long from, long end, T *out) {
	long c = from;
	out -= from;
#if VB == 64
	for (; c + 16 * V <= end; c += 16 * V)
		N(tile16)(t, form, lo, hi, c, c + 15 * V, out);
#endif
	for (; c + 8 * V <= end; c += 8 * V)
		N(tile8)(t, form, lo, hi, c, c + 7 * V, out);
	if (c == end)
		return;
	if (end - from >= V) {
		long last = end - V;
		switch ((end - c + V - 1) / V) {
#define CASE(NV)                                      \
	case NV:                                          \
		N(tile##NV)(t, form, lo, hi, c, last, out);    \
		return;
			CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8)
#undef CASE
		}
	}
	T acc[V];
	long n = end - c;
	for (long j = 0; j < n; j++)
		acc[j] = 0;
	for (long e = lo; e < hi; e++) {
		const T *x = t->x + (t->at ? (long)t->at[e] : e + t->base) * t->size + c;
		const T *y = form ? t->y + (t->held >= 0 ? t->held : t->yt ? (long)t->yt[e] : e + t->base) * t->size + c : 0;
		T f = t->w ? t->w[e] : 1;
		for (long j = 0; j < n; j++)
			acc[j] += f * (form ? x[j] - y[j] : x[j]);
	}
	memcpy(out + c, acc, n * sizeof(T));
}

#define STRIP (16 * V)

INLINE void N(group)(const N(terms) *t, int form, long lo, long hi, T *out) {
	if (hi - lo <= CHAIN || !SINGLE) {
		N(edges)(t, form, lo, hi, 0, t->size, out);
		return;
	}
	// a long group: sums of CHAIN edges, added up in double over strips of columns
	for (long c = 0; c < t->size; c += STRIP) {
		long n = t->size - c < STRIP ? t->size - c : STRIP;
		double sum[STRIP] = {0};
		for (long a = lo; a < hi; a += CHAIN) {
			T part[STRIP];
			N(edges)(t, form, a, a + CHAIN < hi ? a + CHAIN : hi, c, c + n, part);
			for (long j = 0; j < n; j++)
				sum[j] += part[j];
		}
		for (long j = 0; j < n; j++)
			out[c + j] = (T)sum[j];
	}
}

// N(same) is whether the edges lo…hi have one row.
INLINE int N(same)(const int32_t *at, long lo, long hi) {
	int32_t other = 0;
	if (!at || lo == hi || at[lo] != at[hi - 1])
		return 0;
	for (long e = lo; e < hi; e++)
		other |= at[e] ^ at[lo];
	return !other;
}

static void N(rg_spmm)(long groups, const int32_t *start, long base, const T *w, const T *x, const int32_t *at, int far, const T *y, const int32_t *yt,
	int yfar, int held, long size, T *out) {
	N(terms) t = {base, size, start[groups] - base, -1, at && far, yt && yfar && !held, w, x, y, at, yt};
	for (long g = 0; g < groups; g++, out += size) {
		long lo = start[g] - base, hi = start[g + 1] - base;
		if (!y)
			N(group)(&t, N(ONE), lo, hi, out);
		else if (held) {
			t.held = yt[g];
			N(group)(&t, N(HOLD_Y), lo, hi, out);
		} else if (N(same)(yt, lo, hi))
			N(group)(&t, N(HOLD_Y), lo, hi, out);
		else if (N(same)(at, lo, hi))
			N(group)(&t, N(HOLD_X), lo, hi, out);
		else
			N(group)(&t, N(BOTH), lo, hi, out);
	}
}

// N(rg_gather) copies rows of x, with some rows ahead on their way to the cache; a negative row is zero.
static void N(rg_gather)(long rows, long size, const T *x, const int32_t *at, T *out) {
	if (size == 1) {
		long r = 0;
		for (; r + LIST <= rows; r += LIST) {
			int how = rg_list(at + r);
			if (at[r] >= 0 && how == ASCEND)
				memcpy(out + r, x + at[r], LIST * sizeof(T));
			else if (at[r] >= 0 && how == SAME)
				for (int i = 0; i < LIST; i++)
					out[r + i] = x[at[r]];
			else
				for (int i = 0; i < LIST; i++) {
					T v = x[at[r + i] < 0 ? 0 : at[r + i]];
					out[r + i] = at[r + i] < 0 ? 0 : v;
				}
		}
		for (; r < rows; r++) {
			T v = x[at[r] < 0 ? 0 : at[r]];
			out[r] = at[r] < 0 ? 0 : v;
		}
		return;
	}
	long ahead = size * (long)sizeof(T) < 1024 ? size * (long)sizeof(T) : 1024;
	for (long r = 0; r < rows; r++, out += size) {
		const T *from = x + (long)at[r] * size;
		if (r + AHEAD < rows && at[r + AHEAD] >= 0 && at[r + AHEAD] != at[r + AHEAD - 1])
			N(fetch)(x + (long)at[r + AHEAD] * size, ahead);
		if (at[r] < 0) {
			memset(out, 0, size * sizeof(T));
			continue;
		}
		if (size < V) {
			for (long j = 0; j < size; j++)
				out[j] = from[j];
			continue;
		}
		for (long j = 0; j + V <= size; j += V)
			memcpy(out + j, from + j, VB);
		memcpy(out + size - V, from + size - V, VB);
	}
}
// N(rg_add_at) adds row at[i] of x to row to[i] of sum; the rows some pairs ahead are prefetched.
static void N(rg_add_at)(long n, const int32_t *to, const int32_t *at, long size, const T *restrict x, T *restrict sum) {
	for (long i = 0; i < n; i++) {
		if (i + AHEAD / 2 < n) {
			N(fetch)(sum + (long)to[i + AHEAD / 2] * size, size * (long)sizeof(T));
			N(fetch)(x + (long)at[i + AHEAD / 2] * size, size * (long)sizeof(T));
		}
		T *s = sum + (long)to[i] * size;
		const T *a = x + (long)at[i] * size;
		for (long j = 0; j < size; j++)
			s[j] += a[j];
	}
}
#undef V
#undef AHEAD
#undef CHAIN
#undef TILE
#undef INLINE
#undef STRIP
