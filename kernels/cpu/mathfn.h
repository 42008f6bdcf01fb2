// Branch-free exponentials and logarithms over T that the compiler can vectorise; included by BODY files.

// N(rexp): e^x by argument reduction to |r| ≤ ln2/2 and the Taylor polynomial; 2^n in two factors, so that
// overflow gives infinity and results below the normal range are rounded once.
static inline T N(rexp)(T x) {
#if SINGLE
	x = x > 89.0f ? 89.0f : x;
	x = x < -104.0f ? -104.0f : x;
	float m = x * 1.44269504f + 12582912.0f;
	int32_t n;
	memcpy(&n, &m, 4);
	n -= 0x4B400000;
	float k = m - 12582912.0f;
	float r = x - k * 0.693359375f;
	r = r + k * 2.12194440e-4f;
	float p = 1.0f / 5040;
	p = p * r + 1.0f / 720;
	p = p * r + 1.0f / 120;
	p = p * r + 1.0f / 24;
	p = p * r + 1.0f / 6;
	p = p * r + 0.5f;
	p = p * r + 1.0f;
	p = p * r + 1.0f;
	int32_t h = n >> 1, a = (h + 127) << 23, b = (n - h + 127) << 23;
	float s, t;
	memcpy(&s, &a, 4);
	memcpy(&t, &b, 4);
	return p * s * t;
#else
	x = x > 710.0 ? 710.0 : x;
	x = x < -746.0 ? -746.0 : x;
	double m = x * 1.4426950408889634 + 6755399441055744.0;
	int64_t n;
	memcpy(&n, &m, 8);
	n -= 0x4338000000000000;
	double k = m - 6755399441055744.0;
	double r = x - k * 6.93147180369123816490e-01;
	r = r - k * 1.90821492927058770002e-10;
	double p = 1.0 / 6227020800.0;
	p = p * r + 1.0 / 479001600;
	p = p * r + 1.0 / 39916800;
	p = p * r + 1.0 / 3628800;
	p = p * r + 1.0 / 362880;
	p = p * r + 1.0 / 40320;
	p = p * r + 1.0 / 5040;
	p = p * r + 1.0 / 720;
	p = p * r + 1.0 / 120;
	p = p * r + 1.0 / 24;
	p = p * r + 1.0 / 6;
	p = p * r + 0.5;
	p = p * r + 1.0;
	p = p * r + 1.0;
	int64_t h = (n + 4096) / 2 - 2048, a = (h + 1023) << 52, b = (n - h + 1023) << 52;
	double s, t;
	memcpy(&s, &a, 8);
	memcpy(&t, &b, 8);
	return p * s * t;
#endif
}

// N(rsigmoid): 1 / (1 + e^-x), exact for large |x|.
static inline T N(rsigmoid)(T x) {
	T e = N(rexp)(x < 0 ? x : -x), y = 1 / (1 + e);
	return x < 0 ? e * y : y;
}

// N(rslope): the derivative of the sigmoid, e / (1 + e)², e = e^-|x|.
static inline T N(rslope)(T x) {
	T e = N(rexp)(x < 0 ? x : -x), y = 1 / (1 + e);
	return e * y * y;
}

// N(rbceslope): sigmoid(x) - y, in factors that are exact where y is 0 or 1.
static inline T N(rbceslope)(T x, T y) {
	T e = N(rexp)(x < 0 ? x : -x), a = 1 - y;
	return (x < 0 ? a * e - y : a - y * e) / (1 + e);
}

// N(rbell): e^(-c·x²), c = 1 or ½. The square of x in two parts, of which that of the upper half of its bits is exact: rounded as a
// whole it would cost as many digits as it has.
static inline T N(rbell)(T x, T c) {
	x = x < 0 ? -x : x;
	x = x > 64 ? 64 : x;
	T hi = x;
#if SINGLE
	int32_t half;
	memcpy(&half, &hi, 4);
	half &= ~0xFFF;
	memcpy(&hi, &half, 4);
#else
	int64_t half;
	memcpy(&half, &hi, 8);
	half &= ~0x7FFFFFFLL;
	memcpy(&hi, &half, 8);
#endif
	return N(rexp)(-c * hi * hi) * N(rexp)(-c * (x - hi) * (x + hi));
}

// N(rsoftplus): ln(1 + e^x) = max(x, 0) + ln(1 + e), e = e^-|x|, with ln(1 + e) = 2 artanh(s), s = e / (2 + e) ≤ 1/3, as its series.
static inline T N(rsoftplus)(T x) {
	T e = N(rexp)(x < 0 ? x : -x), s = e / (2 + e), z = s * s, y = 0;
#if SINGLE
	const int last = 15;
#else
	const int last = 35;
#endif
#pragma GCC unroll 20
	for (int k = last; k >= 3; k -= 2)
		y = (y + (T)1 / k) * z;
	T top = x > 0 ? x : 0;
	return x != x ? x : top + 2 * (s + s * y);
}

#if SINGLE
// N(rlog): ln x after Cephes' logf (Moshier): x = 2^e·m, m in [√½, √2), and a polynomial in m-1.
static inline float N(rlog)(float x) {
	float scaled = x < 1.17549435e-38f ? x * 8388608.0f : x;
	float shift = x < 1.17549435e-38f ? -23.0f : 0.0f;
	int32_t i;
	memcpy(&i, &scaled, 4);
	float e = (float)((i >> 23) - 126) + shift;
	i = (i & 0x007fffff) | 0x3f000000;
	float m;
	memcpy(&m, &i, 4);
	e = m < 0.707106781f ? e - 1.0f : e;
	m = m < 0.707106781f ? m + m - 1.0f : m - 1.0f;
	float z = m * m, y = 7.0376836292e-2f;
	y = y * m - 1.1514610310e-1f;
	y = y * m + 1.1676998740e-1f;
	y = y * m - 1.2420140846e-1f;
	y = y * m + 1.4249322787e-1f;
	y = y * m - 1.6668057665e-1f;
	y = y * m + 2.0000714765e-1f;
	y = y * m - 2.4999993993e-1f;
	y = y * m + 3.3333331174e-1f;
	y = y * m * z;
	y += e * -2.12194440e-4f - 0.5f * z;
	y = m + y + e * 0.693359375f;
	y = x == 0 ? -INFINITY : y;
	y = x < 0 ? NAN : y;
	return x == INFINITY || x != x ? x : y;
}

// N(rtanh) after Cephes' tanhf: a polynomial near 0, the exponential beyond.
static inline float N(rtanh)(float x) {
	float a = x < 0 ? -x : x, z = x * x;
	float y = -5.70498872745e-3f;
	y = y * z + 2.06390887954e-2f;
	y = y * z - 5.37397155531e-2f;
	y = y * z + 1.33314422036e-1f;
	y = y * z - 3.33332819422e-1f;
	y = y * z * x + x;
	float big = 1.0f - 2.0f / (N(rexp)(a + a) + 1.0f);
	big = x < 0 ? -big : big;
	return a < 0.625f ? y : big;
}
#endif
