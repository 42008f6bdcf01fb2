// Philox4x32-10 (Salmon et al., SC 2011), several counters at a time. 32-bit words are held in 64-bit lanes;
// N(wide) multiplies their low halves, which no C operator says directly.
typedef uint64_t N(words) __attribute__((vector_size(VB)));
#define LANES (VB / 8)
// Independent vectors, to fill the multipliers' latency; AVX2 has registers for two.
#define CHAINS (VB == 32 ? 2 : 4)

static inline __attribute__((always_inline)) N(words) N(wide)(N(words) a, uint32_t b) {
#if VB == 64
	return (N(words))_mm512_mul_epu32((__m512i)a, _mm512_set1_epi64(b));
#elif VB == 32
	return (N(words))_mm256_mul_epu32((__m256i)a, _mm256_set1_epi64x(b));
#else
	return (a & 0xFFFFFFFFu) * b;
#endif
}

// N(philox) computes CHAINS*LANES blocks of four words: those of counters i in the streams key. Lane l of c[w] has word w of block l
// in its lower half, and rubbish in the upper one.
static inline __attribute__((always_inline)) void N(philox)(uint64_t seed, const uint64_t *i, const uint64_t *key, N(words) c[4][CHAINS]) {
	uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
	for (int l = 0; l < CHAINS; l++) {
		memcpy(&c[0][l], i + l * LANES, VB);
		memcpy(&c[2][l], key + l * LANES, VB);
		c[1][l] = c[0][l] >> 32;
		c[3][l] = c[2][l] >> 32;
	}
	// The rubbish comes in between rounds; N(wide) does not look at it.
	for (int round = 0; round < 10; round++) {
		for (int l = 0; l < CHAINS; l++) {
			N(words) p0 = N(wide)(c[0][l], 0xD2511F53u), p1 = N(wide)(c[2][l], 0xCD9E8D57u);
			c[0][l] = (p1 >> 32) ^ c[1][l] ^ k0;
			c[2][l] = (p0 >> 32) ^ c[3][l] ^ k1;
			c[1][l] = p1;
			c[3][l] = p0;
		}
		k0 += 0x9E3779B9u;
		k1 += 0xBB67AE85u;
	}
}

#define BLOCKS (CHAINS * LANES)
static const uint64_t N(low) = 0xFFFFFFFFu;

// N(next) gives the counters i and streams k of the next blocks, of block *c of row *r on, n being left: their number.
// A row has size blocks.
static inline __attribute__((always_inline)) long N(next)(long size, const uint64_t *key, long n, long *r, long *c, uint64_t *i, uint64_t *k) {
	long m = n < BLOCKS ? n : BLOCKS;
	if (*c + BLOCKS <= size) {
		for (long l = 0; l < BLOCKS; l++)
			i[l] = *c + l, k[l] = key[*r];
		if ((*c += BLOCKS) == size)
			*c = 0, ++*r;
	} else if (size == 1 && m == BLOCKS) {
		for (long l = 0; l < BLOCKS; l++)
			i[l] = 0, k[l] = key[*r + l];
		*r += BLOCKS;
	} else {
		for (long l = 0; l < m; l++) {
			i[l] = *c, k[l] = key[*r];
			if (++*c == size)
				*c = 0, ++*r;
		}
		for (long l = m; l < BLOCKS; l++)
			i[l] = k[l] = 0;
	}
	return m;
}

// N(drop) writes the mask's elements of blocks as N(philox) computes them: four for each.
static inline __attribute__((always_inline)) void N(drop)(N(words) c[4][CHAINS], uint32_t limit, T keep, T *out) {
	uint64_t a[BLOCKS], b[BLOCKS];
	union {
		uint64_t pairs[2 * BLOCKS];
		uint32_t words[4 * BLOCKS];
	} u;
	for (int l = 0; l < CHAINS; l++) {
		N(words) x = (c[0][l] & N(low)) | c[1][l] << 32, y = (c[2][l] & N(low)) | c[3][l] << 32;
		memcpy(a + l * LANES, &x, VB);
		memcpy(b + l * LANES, &y, VB);
	}
	for (int l = 0; l < BLOCKS; l++)
		u.pairs[2 * l] = a[l], u.pairs[2 * l + 1] = b[l];
	for (int l = 0; l < 4 * BLOCKS; l++)
		out[l] = u.words[l] >= limit ? keep : 0;
}

static void N(rg_drop_mask)(long rows, long size, uint64_t seed, const uint64_t *key, uint32_t limit, T keep, T *out) {
	uint64_t i[BLOCKS], k[BLOCKS];
	N(words) c[4][CHAINS];
	T mask[4 * BLOCKS], *end = out + rows * size;
	long row = 0, block = 0, blocks = (size + 3) / 4;
	for (long m, n = rows * blocks; n > 0; n -= m) {
		m = N(next)(blocks, key, n, &row, &block, i, k);
		N(philox)(seed, i, k, c);
		if (size == 1) {
			uint64_t first[BLOCKS];
			memcpy(first, c[0], sizeof first);
			for (long l = 0; l < m; l++)
				out[l] = (uint32_t)first[l] >= limit ? keep : 0;
			out += m;
		} else if (size % 4 == 0 && m == BLOCKS) {
			N(drop)(c, limit, keep, out);
			out += 4 * BLOCKS;
		} else {
			N(drop)(c, limit, keep, mask);
			for (long l = 0; l < m; l++) { // what a row's last block has too much is overwritten by the next row
				long left = size - 4 * (long)i[l], take = left < 4 ? left : 4;
				memcpy(out, mask + 4 * l, (end - out < 4 ? take : 4) * sizeof(T));
				out += take;
			}
		}
	}
}

#if !SINGLE
static void N(rg_uniform)(long rows, long size, uint64_t seed, const uint64_t *key, double *out) {
	uint64_t i[BLOCKS], k[BLOCKS], u[BLOCKS];
	long r = 0, c = 0;
	for (long o = 0, m, n = rows * size; o < n; o += m) {
		N(words) w[4][CHAINS];
		m = N(next)(size, key, n - o, &r, &c, i, k);
		N(philox)(seed, i, k, w);
		for (int l = 0; l < CHAINS; l++) {
			N(words) bits = (w[0][l] << 32 | (w[1][l] & N(low))) >> 11;
			memcpy(u + l * LANES, &bits, VB);
		}
		for (long l = 0; l < m; l++)
			out[o + l] = (double)(int64_t)u[l] * 0x1p-53;
	}
}

static void N(rg_below)(long n, int64_t below, const double *restrict u, int64_t *restrict out) {
	double f = (double)below;
	for (long i = 0; i < n; i++) {
		int64_t k = (int64_t)(f * u[i]);
		out[i] = k < below ? k : below - 1;
	}
}

// The finaliser of SplitMix64: see tensor.Mix.
static void N(rg_mix)(long n, const int64_t *x, uint64_t *key) {
	for (long i = 0; i < n; i++) {
		uint64_t h = (key[i] ^ (uint64_t)x[i]) + 0x9E3779B97F4A7C15u;
		h = (h ^ h >> 30) * 0xBF58476D1CE4E5B9u;
		h = (h ^ h >> 27) * 0x94D049BB133111EBu;
		key[i] = h ^ h >> 31;
	}
}
#endif
#undef BLOCKS
#undef LANES
#undef CHAINS
