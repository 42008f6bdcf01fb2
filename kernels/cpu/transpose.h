#include <string.h>

// Blocks of SIDE × SIDE numbers are turned in registers, by exchanging halves, quarters and so on between pairs of rows.
typedef T N(line) __attribute__((vector_size(32)));
#if SINGLE
#define SIDE 8
typedef int32_t N(lanes) __attribute__((vector_size(32)));
#else
#define SIDE 4
typedef int64_t N(lanes) __attribute__((vector_size(32)));
#endif

#define EXCHANGE(i, s, FIRST, SECOND)                                    \
	do {                                                                 \
		N(line) a = v[i], b = v[(i) + (s)];                              \
		v[i] = __builtin_shuffle(a, b, (N(lanes)){FIRST});               \
		v[(i) + (s)] = __builtin_shuffle(a, b, (N(lanes)){SECOND});      \
	} while (0)
#define JOIN(...) __VA_ARGS__

static inline __attribute__((always_inline)) void N(block)(const T *x, long ldx, T *out, long ldo) {
	N(line) v[SIDE];
	for (int i = 0; i < SIDE; i++)
		memcpy(&v[i], x + i * ldx, 32);
#if SINGLE
	for (int i = 0; i < 4; i++)
		EXCHANGE(i, 4, JOIN(0, 1, 2, 3, 8, 9, 10, 11), JOIN(4, 5, 6, 7, 12, 13, 14, 15));
	for (int i = 0; i < 8; i += 4)
		for (int j = i; j < i + 2; j++)
			EXCHANGE(j, 2, JOIN(0, 1, 8, 9, 4, 5, 12, 13), JOIN(2, 3, 10, 11, 6, 7, 14, 15));
	for (int i = 0; i < 8; i += 2)
		EXCHANGE(i, 1, JOIN(0, 8, 2, 10, 4, 12, 6, 14), JOIN(1, 9, 3, 11, 5, 13, 7, 15));
#else
	for (int i = 0; i < 2; i++)
		EXCHANGE(i, 2, JOIN(0, 1, 4, 5), JOIN(2, 3, 6, 7));
	for (int i = 0; i < 4; i += 2)
		EXCHANGE(i, 1, JOIN(0, 4, 2, 6), JOIN(1, 5, 3, 7));
#endif
	for (int i = 0; i < SIDE; i++)
		memcpy(out + i * ldo, &v[i], 32);
}

// N(rg_transpose) goes along the longer side, so that few lines of the cache are open at a time.
static void N(rg_transpose)(long rows, long cols, const T *restrict x, long ldx, T *restrict out, long ldo) {
	long m = rows / SIDE * SIDE, n = cols / SIDE * SIDE;
	if (cols > rows) {
		for (long r = 0; r < m; r += SIDE)
			for (long c = 0; c < n; c += SIDE)
				N(block)(x + r * ldx + c, ldx, out + c * ldo + r, ldo);
	} else {
		for (long c = 0; c < n; c += SIDE)
			for (long r = 0; r < m; r += SIDE)
				N(block)(x + r * ldx + c, ldx, out + c * ldo + r, ldo);
	}
	for (long r = 0; r < rows; r++)
		for (long c = r < m ? n : 0; c < cols; c++)
			out[c * ldo + r] = x[r * ldx + c];
}
#undef EXCHANGE
#undef JOIN
#undef SIDE
