// Sums of weighted rows, or of weighted differences of rows, by group. Accumulators stay in registers across up to 16 vectors
// of the width; the rows of some edges ahead are prefetched, also those of the groups that follow.
typedef T N(vec) __attribute__((vector_size(VB)));
#define V (VB / (long)sizeof(T))
#define AHEAD 12
#define CHAIN 256 // edges that are summed in T before the sum goes to double
#define INLINE static inline __attribute__((always_inline))

// N(terms) are the rows: w[e]·x[at[e]], or w[e]·(x[at[e]] - y[yt[e]]) where y is given. Without at or yt, edge e has row e + base.
typedef struct {
	long base, size, last; // last: the edges of all groups
	const T *w, *x, *y;
	const int32_t *at, *yt;
} N(terms);

INLINE void N(fetch)(const T *row, long bytes) {
	for (long j = 0; j < bytes; j += 64)
		__builtin_prefetch((const char *)row + j);
}

// N(tile) adds the edges lo…hi over NV vectors from column c on and writes them to out.
#define TILE(NV)                                                                                                   \
	INLINE void N(tile##NV)(const N(terms) *t, int two, long lo, long hi, long c, T *out) {                        \
		N(vec) acc[NV], v, u;                                                                                      \
		for (int j = 0; j < NV; j++)                                                                               \
			acc[j] = (N(vec)){0};                                                                                  \
		for (long e = lo; e < hi; e++) {                                                                           \
			const T *x = t->x + (t->at ? (long)t->at[e] : e + t->base) * t->size + c, *y = 0;                      \
			if (t->at && e + AHEAD < t->last)                                                                      \
				N(fetch)(t->x + (long)t->at[e + AHEAD] * t->size + c, NV * VB);                                    \
			if (two) {                                                                                             \
				y = t->y + (t->yt ? (long)t->yt[e] : e + t->base) * t->size + c;                                   \
				if (t->yt && e + AHEAD < t->last)                                                                  \
					N(fetch)(t->y + (long)t->yt[e + AHEAD] * t->size + c, NV * VB);                                \
			}                                                                                                      \
			T f = t->w ? t->w[e] : 1;                                                                              \
			for (int j = 0; j < NV; j++) {                                                                         \
				memcpy(&v, x + j * V, VB);                                                                         \
				if (two)                                                                                           \
					memcpy(&u, y + j * V, VB), v -= u;                                                             \
				acc[j] += f * v;                                                                                   \
			}                                                                                                      \
		}                                                                                                          \
		for (int j = 0; j < NV; j++)                                                                               \
			memcpy(out + j * V, &acc[j], VB);                                                                      \
	}
#if VB == 64
TILE(16)
#endif
TILE(8)
TILE(4)
TILE(2)
TILE(1)

// N(edges) sums at most CHAIN edges over the columns c…end.
INLINE void N(edges)(const N(terms) *t, int two, long lo, long hi, long c, long end, T *out) {
	out -= c;
#if VB == 64
	for (; c + 16 * V <= end; c += 16 * V)
		N(tile16)(t, two, lo, hi, c, out + c);
#endif
	for (; c + 8 * V <= end; c += 8 * V)
		N(tile8)(t, two, lo, hi, c, out + c);
	if (c + 4 * V <= end)
		N(tile4)(t, two, lo, hi, c, out + c), c += 4 * V;
	if (c + 2 * V <= end)
		N(tile2)(t, two, lo, hi, c, out + c), c += 2 * V;
	if (c + V <= end)
		N(tile1)(t, two, lo, hi, c, out + c), c += V;
	if (c == end)
		return;
	T acc[V];
	long n = end - c;
	for (long j = 0; j < V; j++)
		acc[j] = 0;
	for (long e = lo; e < hi; e++) {
		const T *x = t->x + (t->at ? (long)t->at[e] : e + t->base) * t->size + c;
		const T *y = two ? t->y + (t->yt ? (long)t->yt[e] : e + t->base) * t->size + c : 0;
		T f = t->w ? t->w[e] : 1;
		for (long j = 0; j < n; j++)
			acc[j] += f * (two ? x[j] - y[j] : x[j]);
	}
	memcpy(out + c, acc, n * sizeof(T));
}

#define STRIP (16 * V)

INLINE void N(groups)(const N(terms) *t, int two, long groups, const int32_t *start, T *out) {
	for (long g = 0; g < groups; g++) {
		long lo = start[g] - t->base, hi = start[g + 1] - t->base;
		T *o = out + g * t->size;
		if (hi - lo <= CHAIN || !SINGLE) {
			N(edges)(t, two, lo, hi, 0, t->size, o);
			continue;
		}
		// a long group: sums of CHAIN edges, added up in double over strips of columns
		for (long c = 0; c < t->size; c += STRIP) {
			long n = t->size - c < STRIP ? t->size - c : STRIP;
			double sum[STRIP] = {0};
			for (long a = lo; a < hi; a += CHAIN) {
				T part[STRIP];
				N(edges)(t, two, a, a + CHAIN < hi ? a + CHAIN : hi, c, c + n, part);
				for (long j = 0; j < n; j++)
					sum[j] += part[j];
			}
			for (long j = 0; j < n; j++)
				o[c + j] = (T)sum[j];
		}
	}
}

static void N(rg_spmm)(long groups, const int32_t *start, long base, const T *w, const T *x, const int32_t *at, const T *y, const int32_t *yt, long size, T *out) {
	N(terms) t = {base, size, start[groups] - base, w, x, y, at, yt};
	if (y)
		N(groups)(&t, 1, groups, start, out);
	else
		N(groups)(&t, 0, groups, start, out);
}
#undef V
#undef AHEAD
#undef CHAIN
#undef TILE
#undef INLINE
#undef STRIP
