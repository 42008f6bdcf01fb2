// What a step of training does to a parameter's elements.

static int N(rg_finite)(long n, const T *x) {
	const long chains = 64;
	T s[64] = {0};
	long i = 0;
	for (; i + chains <= n; i += chains)
		for (long j = 0; j < chains; j++)
			s[j] += x[i + j] * 0; // NaN for NaN and infinity
	T sum = 0;
	for (long j = 0; j < chains; j++)
		sum += s[j];
	for (; i < n; i++)
		sum += x[i] * 0;
	return sum == 0;
}

static void N(rg_sgd)(long n, T lr, T decay, T scale, const T *restrict g, T *restrict p) {
	for (long i = 0; i < n; i++)
		p[i] -= lr * (scale * g[i] + decay * p[i]);
}

// The mean of gradients of an element that has none for long decays to subnormal numbers, and stays at the least of
// them: with each, processors of Intel take some hundred cycles. It ends at zero instead. So does that of squares, where
// epsilon is so large that it cannot be seen.
static void N(rg_adam)(long n, T rate, T correct, T b1, T b2, T eps, T decay, T scale, const T *restrict g, T *restrict m, T *restrict s, T *restrict p) {
#if SINGLE
	const T least = 0x1p-126f;
#else
	const T least = 0x1p-1022;
#endif
	const T ends = eps > (T)1e-15 ? least : 0;
	for (long i = 0; i < n; i++) {
		T d = scale * g[i] + decay * p[i], mean = b1 * m[i] + (1 - b1) * d, square = b2 * s[i] + (1 - b2) * d * d;
		m[i] = mean < least && mean > -least ? 0 : mean;
		s[i] = square < ends ? 0 : square;
#if SINGLE
		T root = __builtin_sqrtf(s[i] * correct) + eps, x = rate * m[i];
#else
		T root = __builtin_sqrt(s[i] * correct) + eps, x = rate * m[i];
#endif
		T y = x / root;
		p[i] -= x == 0 ? 0 : y; // 0/0 where epsilon is 0 and all gradients were
	}
}
