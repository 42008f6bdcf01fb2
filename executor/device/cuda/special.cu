// Angles in degrees and the gamma function: what element-wise kernels call besides prelude.cu.

// Angles in degrees, as package kernels computes them.
__device__ double k_sind30(double x) { return sinpi(x / 180) / sinpi(30.0 / 180) / 2; }
__device__ double k_cosd60(double x) { return 1 - (1 - cospi(x / 180)) / (1 - cospi(60.0 / 180)) / 2; }
__device__ double k_sind90(double x) { return x <= 30 ? k_sind30(x) : k_cosd60(90 - x); }
__device__ double k_cosd90(double x) { return x <= 60 ? k_cosd60(x) : k_sind30(90 - x); }

struct k_angle {
	double x, sine, cosine;
};

// k_quarter turns x into an angle from 0 to 90 degrees, and says which signs sine and cosine have there.
__device__ k_angle k_quarter(double x)
{
	k_angle a = {fmod(x, 360.0), 1, 1};

	if (a.x < 0) {
		a.x = -a.x;
		a.sine = -1;
	}
	if (a.x > 180) {
		a.x = 360 - a.x;
		a.sine = -a.sine;
	}
	if (a.x > 90) {
		a.x = 180 - a.x;
		a.cosine = -1;
	}
	return a;
}

__device__ double k_sind(double x)
{
	k_angle a = k_quarter(x);

	return a.sine * k_sind90(a.x);
}

__device__ double k_cosd(double x)
{
	k_angle a = k_quarter(x);

	return a.cosine * k_cosd90(a.x);
}

__device__ double k_tand(double x)
{
	k_angle a = k_quarter(x);

	return a.sine * a.cosine * (k_sind90(a.x) / k_cosd90(a.x) / (k_sind90(45) / k_cosd90(45)));
}

__device__ double k_cotd(double x)
{
	k_angle a = k_quarter(x);

	return a.sine * a.cosine * (k_cosd90(a.x) / k_sind90(a.x) / (k_cosd90(45) / k_sind90(45)));
}

__device__ double k_cot(double x) { return 1 / tan(x); }

__device__ double k_hypot_slope(double x, double y)
{
	double a = fabs(x), b = fabs(y), r = a >= b ? b / a : x / b;

	return a == 0 && b == 0 ? 0 : (a >= b ? (x < 0 ? -1 : 1) : r) / sqrt(1 + r * r);
}

__device__ double k_asinh_slope(double x) { return k_hypot_slope(1, x); }
__device__ double k_acosh_slope(double x) { return 1 / sqrt(x - 1) / sqrt(x + 1); }
__device__ double k_atanh_slope(double x) { return 1 / ((1 - x) * (1 + x)); }

// The derivatives of the logarithm of the gamma function, as package kernels computes them.
__device__ double k_bernoulli(int k)
{
	const double b[] = {1.0 / 6, -1.0 / 30, 1.0 / 42, -1.0 / 30, 5.0 / 66, -691.0 / 2730, 7.0 / 6, -3617.0 / 510,
		43867.0 / 798, -174611.0 / 330, 854513.0 / 138, -236364091.0 / 2730};

	return b[k];
}

__device__ double k_cot_pi(double x)
{
	double r = x - rint(x);

	return cospi(r) / sinpi(r);
}

__device__ double k_digamma(double x)
{
	const double p[] = {0.25479851061131551, -0.32555031186804491, -0.65031853770896507, -0.28919126444774784,
		-0.045251321448739056, -0.0020713321167745952};
	const double q[] = {1, 2.0767117023730469, 1.4606242909763515, 0.43593529692665969, 0.054151797245674225,
		0.0021284987017821144, -0.55789841321675513e-6};
	double less = 0, shift = 0, a = 0, b = 0;

	if (x <= 0 && x == trunc(x))
		return 0.0 / 0.0;
	if (x < 0) {
		less = 3.141592653589793 * k_cot_pi(x);
		x = 1 - x;
	}
	if (!(x < 10)) {
		double z = 1 / x / x;

		for (int k = 11; k >= 0; k--)
			shift = (shift + k_bernoulli(k) / (2 * k + 2)) * z;
		return log(x) - 1 / (2 * x) - shift - less;
	}
	for (; x > 2; x--)
		shift += 1 / (x - 1);
	if (x < 1) {
		shift = -1 / x;
		x += 1;
	}
	double d = x - 1569415565.0 / 1073741824 - 381566830.0 / 1073741824 / 1073741824 - 0.9016312093258695918615325e-19;
	for (int k = 5; k >= 0; k--)
		a = a * (x - 1) + p[k];
	for (int k = 6; k >= 0; k--)
		b = b * (x - 1) + q[k];
	return shift + (d * 0.99558162689208984375 + d * (a / b)) - less;
}

// k_powers is n! * sum over k from 0 of 1 / (x + k) ^ (n + 1), of a positive x: Euler's and Maclaurin's series from where
// it is exact enough.
__device__ double k_powers(int n, double x)
{
	double sum = 0, factor = 1, series = 0;

	for (int k = 2; k < n; k++)
		factor *= k;
	double steps = fmax(0.0, ceil(15 + n - x)), from = x + steps;
	for (double i = steps; i >= 1; i--)
		sum += pow(1 / (x + (i - 1)), n + 1.0);
	double p = pow(1 / from, (double) n), z = 1 / from / from, term = factor * n * (n + 1) / 2 * p;
	for (int k = 0; k < 12; k++) {
		double m = 2 * k + 2;

		term *= z;
		series += k_bernoulli(k) * term;
		term *= (m + n) * (m + n + 1) / ((m + 1) * (m + 2));
	}
	return sum * factor * n + (factor * p + (factor * n / 2 * p / from + series));
}

// k_cot_derivative is the n-th derivative of pi * cot(pi * x), which is (-1) ^ n * n! * the sum over all k of
// 1 / (x - k) ^ (n + 1). For an even n the terms at r + k and at 1 - r + k cancel where r is about a half: each pair is
// a multiple of gap, which is exact there, and so are all pairs from `from` on, by Taylor's series about their middle.
__device__ double k_cot_derivative(int n, double x)
{
	double r = x - rint(x), gap = 1 - 2 * fabs(r), sum = 0, from = 26 + n, factor = n, rest = 0;

	if (n % 2) {
		double first = 1 / r;
		for (int k = 1; k <= n; k++)
			first *= k / r;
		return -(first + k_powers(n, 1 + r) + k_powers(n, 1 - r));
	}
	for (int k = 2; k < n; k++)
		factor *= k;
	for (int i = 5; i >= 0; i--)
		rest = rest * gap / (2 * i + 2) * gap / (2 * i + 3) / 4 + k_powers(n + 2 * i + 1, from + 0.5);
	for (double j = from - 1; j >= 0; j--) {
		double a = fabs(r) + j, b = 1 - fabs(r) + j, term = pow(1 / b, n + 1.0) / a;
		for (int i = 0; i <= n; i++, term *= b / a)
			sum += term;
	}
	return copysign(gap * (sum * factor + rest), r);
}

__device__ double k_polygamma(double order, double x)
{
	const int n = (int) order;

	if (x <= 0 && x == trunc(x) && n % 2)
		return 1.0 / 0.0; // from both sides
	if (n < 1 || n > 30 || (x <= 0 && x == trunc(x)))
		return 0.0 / 0.0;
	if (x < 0)
		return -k_powers(n, 1 - x) - k_cot_derivative(n, x);
	return n % 2 ? k_powers(n, x) : -k_powers(n, x);
}

// k_has_decimal reports whether k_decimal rounds x: smaller and larger numbers need powers of ten that are no doubles.
__device__ bool k_has_decimal(double x) { return !(fabs(x) < 1e-7 || fabs(x) >= 1e36) || x == 0 || isinf(x); }

// k_decimal is x rounded to 15 significant decimal digits, ties to even: a whole number times or by a power of ten, of
// which one operation makes the nearest double. lo is what the scaled number's own rounding has left out.
__device__ double k_decimal(double x)
{
	double a = fabs(x), scale = 1, hi = a, lo = 0;

	if (!(a >= 1e-7 && a < 1e36))
		return x;
	if (a < 1e15) {
		while (hi < 1e14 || (hi == 1e14 && lo < 0)) {
			scale *= 10;
			hi = a * scale;
			lo = fma(a, scale, -hi);
		}
	} else
		while (hi > 1e15 || (hi == 1e15 && lo >= 0)) {
			scale *= 10;
			hi = a / scale;
			lo = fma(-hi, scale, a);
		}
	double whole = rint(hi), off = hi - whole;

	if (off == 0.5 && lo > 0)
		whole += 1;
	if (off == -0.5 && lo < 0)
		whole -= 1;
	return copysign(a < 1e15 ? whole / scale : whole * scale, x);
}
