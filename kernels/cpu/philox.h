// Philox4x32-10 (Salmon et al., SC 2011), several counters at a time. 32-bit words are held in 64-bit lanes;
// N(wide) multiplies their low halves, which no C operator says directly.
typedef uint64_t N(words) __attribute__((vector_size(VB)));
#define LANES (VB / 8)
#define CHAINS 4 // independent vectors, to fill the multipliers' latency

static inline __attribute__((always_inline)) N(words) N(wide)(N(words) a, uint32_t b) {
#if VB == 64
	return (N(words))_mm512_mul_epu32((__m512i)a, _mm512_set1_epi64(b));
#elif VB == 32
	return (N(words))_mm256_mul_epu32((__m256i)a, _mm256_set1_epi64x(b));
#else
	return (a & 0xFFFFFFFFu) * b;
#endif
}

// N(draw) fills u with the 53 random bits of CHAINS*LANES draws: counters i of the streams key.
static inline __attribute__((always_inline)) void N(draw)(uint64_t seed, const uint64_t *i, const uint64_t *key, uint64_t *u) {
	N(words) c0[CHAINS], c1[CHAINS], c2[CHAINS], c3[CHAINS];
	const uint64_t low = 0xFFFFFFFFu;
	uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
	for (int l = 0; l < CHAINS; l++) {
		memcpy(&c0[l], i + l * LANES, VB);
		memcpy(&c2[l], key + l * LANES, VB);
		c1[l] = c0[l] >> 32;
		c3[l] = c2[l] >> 32;
	}
	// The upper halves of the words hold rubbish between rounds; N(wide) does not look at them.
	for (int round = 0; round < 10; round++) {
		for (int l = 0; l < CHAINS; l++) {
			N(words) p0 = N(wide)(c0[l], 0xD2511F53u), p1 = N(wide)(c2[l], 0xCD9E8D57u);
			c0[l] = (p1 >> 32) ^ c1[l] ^ k0;
			c2[l] = (p0 >> 32) ^ c3[l] ^ k1;
			c1[l] = p1;
			c3[l] = p0;
		}
		k0 += 0x9E3779B9u;
		k1 += 0xBB67AE85u;
	}
	for (int l = 0; l < CHAINS; l++) {
		N(words) bits = (c0[l] << 32 | (c1[l] & low)) >> 11;
		memcpy(u + l * LANES, &bits, VB);
	}
}

#define DRAWS (CHAINS * LANES)

// N(next) gives the counters i and streams k of the next draws, of element *c of row *r on, n being left: their number.
static inline __attribute__((always_inline)) long N(next)(long size, const uint64_t *key, long n, long *r, long *c, uint64_t *i, uint64_t *k) {
	long m = n < DRAWS ? n : DRAWS;
	if (*c + DRAWS <= size) {
		for (long l = 0; l < DRAWS; l++)
			i[l] = *c + l, k[l] = key[*r];
		if ((*c += DRAWS) == size)
			*c = 0, ++*r;
	} else if (size == 1 && m == DRAWS) {
		for (long l = 0; l < DRAWS; l++)
			i[l] = 0, k[l] = key[*r + l];
		*r += DRAWS;
	} else {
		for (long l = 0; l < m; l++) {
			i[l] = *c, k[l] = key[*r];
			if (++*c == size)
				*c = 0, ++*r;
		}
		for (long l = m; l < DRAWS; l++)
			i[l] = k[l] = 0;
	}
	return m;
}

static void N(rg_drop_mask)(long rows, long size, uint64_t seed, const uint64_t *key, uint64_t limit, T keep, T *out) {
	uint64_t i[DRAWS], k[DRAWS], u[DRAWS];
	long r = 0, c = 0;
	for (long o = 0, m, n = rows * size; o < n; o += m) {
		m = N(next)(size, key, n - o, &r, &c, i, k);
		N(draw)(seed, i, k, u);
		for (long l = 0; l < m; l++)
			out[o + l] = u[l] >= limit ? keep : 0;
	}
}

#if !SINGLE
static void N(rg_uniform)(long rows, long size, uint64_t seed, const uint64_t *key, double *out) {
	uint64_t i[DRAWS], k[DRAWS], u[DRAWS];
	long r = 0, c = 0;
	for (long o = 0, m, n = rows * size; o < n; o += m) {
		m = N(next)(size, key, n - o, &r, &c, i, k);
		N(draw)(seed, i, k, u);
		for (long l = 0; l < m; l++)
			out[o + l] = (double)(int64_t)u[l] * 0x1p-53;
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
#undef DRAWS
#undef LANES
#undef CHAINS
