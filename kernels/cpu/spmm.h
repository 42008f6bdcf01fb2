// Sums of weighted rows by group. Accumulators stay in registers across up to 16 vectors of the width; the
// rows of some edges ahead are prefetched.
typedef T N(vec) __attribute__((vector_size(VB)));
#define V (VB / (long)sizeof(T))
#define AHEAD 12
#define CHAIN 256 // edges that are summed in T before the sum goes to double

// N(tile) adds the edges lo…hi over NV vectors from column c on to out (from zero).
#define TILE(NV)                                                                                                   \
	static inline __attribute__((always_inline)) void N(tile##NV)(long lo, long hi, long base, const int32_t *at, const T *w, \
		const T *x, long size, long c, T *out) {                                                                   \
		N(vec) acc[NV], v;                                                                                         \
		for (int j = 0; j < NV; j++)                                                                               \
			acc[j] = (N(vec)){0};                                                                                  \
		for (long e = lo; e < hi; e++) {                                                                           \
			const T *row = x + (at ? (long)at[e] : e + base) * size + c;                                                  \
			if (at && e + AHEAD < hi) {                                                                            \
				const char *next = (const char *)(x + (long)at[e + AHEAD] * size + c);                             \
				for (int j = 0; j < NV * VB; j += 64)                                                              \
					__builtin_prefetch(next + j);                                                                  \
			}                                                                                                      \
			T f = w ? w[e] : 1;                                                                                    \
			for (int j = 0; j < NV; j++) {                                                                         \
				memcpy(&v, row + j * V, VB);                                                                       \
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

// N(edges) computes one group's row of at most CHAIN edges.
static inline void N(edges)(long lo, long hi, long base, const int32_t *at, const T *w, const T *x, long size, T *out) {
	long c = 0;
#if VB == 64
	for (; c + 16 * V <= size; c += 16 * V)
		N(tile16)(lo, hi, base, at, w, x, size, c, out + c);
#endif
	for (; c + 8 * V <= size; c += 8 * V)
		N(tile8)(lo, hi, base, at, w, x, size, c, out + c);
	if (c + 4 * V <= size)
		N(tile4)(lo, hi, base, at, w, x, size, c, out + c), c += 4 * V;
	if (c + 2 * V <= size)
		N(tile2)(lo, hi, base, at, w, x, size, c, out + c), c += 2 * V;
	if (c + V <= size)
		N(tile1)(lo, hi, base, at, w, x, size, c, out + c), c += V;
	if (c == size)
		return;
	T acc[V];
	long n = size - c;
	for (long j = 0; j < V; j++)
		acc[j] = 0;
	for (long e = lo; e < hi; e++) {
		const T *row = x + (at ? (long)at[e] : e + base) * size + c;
		T f = w ? w[e] : 1;
		for (long j = 0; j < n; j++)
			acc[j] += f * row[j];
	}
	memcpy(out + c, acc, n * sizeof(T));
}

static void N(rg_spmm)(long groups, const int32_t *start, long base, const int32_t *at, const T *w, const T *x, long size, T *out) {
	for (long g = 0; g < groups; g++) {
		long lo = start[g] - base, hi = start[g + 1] - base;
		T *o = out + g * size;
		if (hi - lo <= CHAIN || !SINGLE) {
			N(edges)(lo, hi, base, at, w, x, size, o);
			continue;
		}
		// a long group: sums of CHAIN edges, added up in double over strips of columns
		for (long c = 0; c < size; c += 64) {
			long n = size - c < 64 ? size - c : 64;
			double sum[64] = {0};
			for (long a = lo; a < hi; a += CHAIN) {
				long b = a + CHAIN < hi ? a + CHAIN : hi;
				T part[64] = {0};
				for (long e = a; e < b; e++) {
					const T *row = x + (at ? (long)at[e] : e + base) * size + c;
					T f = w ? w[e] : 1;
					for (long j = 0; j < n; j++)
						part[j] += f * row[j];
				}
				for (long j = 0; j < n; j++)
					sum[j] += part[j];
			}
			for (long j = 0; j < n; j++)
				o[c + j] = (T)sum[j];
		}
	}
}
#undef V
#undef AHEAD
#undef CHAIN
#undef TILE
