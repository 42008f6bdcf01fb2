// Draws by Philox, the same on every engine: element i of the stream (seed, hash of the key). See tensor/philox.go.
#include "chunk.h"

#include <math.h>

#include "cpu.h"

// hash_key folds the parts of a key into 64 bits, as tensor.HashKey does.
static uint64
hash_key(const int64 *parts, int n)
{
	uint64_t h = UINT64CONST(0x9E3779B97F4A7C15);

	for (int i = 0; i < n; i++) {
		int64_t part = parts[i];

		RG_LOOK(i);
		rg_mix(1, &part, &h);
	}
	return h;
}

// key_arg hashes argument i. A call without it has the empty key.
static uint64
key_arg(FunctionCallInfo fcinfo, int i, const char *kernel)
{
	int n = 0;
	int64 *parts = PG_NARGS() > i ? rg_bigints(fcinfo, i, kernel, "key", &n) : NULL;

	return hash_key(parts, n);
}

// philox is Philox4x32-10 (Salmon et al., SC 2011) with all four words; rg_uniform_f64 gives two of them.
static void
philox(uint64 seed, uint32 c[4])
{
	uint32 k0 = (uint32) seed, k1 = (uint32) (seed >> 32);

	for (int round = 0; round < 10; round++) {
		uint64 p0 = UINT64CONST(0xD2511F53) * c[0], p1 = UINT64CONST(0xCD9E8D57) * c[2];

		c[0] = (uint32) (p1 >> 32) ^ c[1] ^ k0;
		c[1] = (uint32) p1;
		c[2] = (uint32) (p0 >> 32) ^ c[3] ^ k1;
		c[3] = (uint32) p0;
		k0 += 0x9E3779B9;
		k1 += 0xBB67AE85;
	}
}

static double
bits53(uint32 high, uint32 low)
{
	return (double) (((uint64) high << 32 | low) >> 11);
}

static RgChunk
uniform(FunctionCallInfo fcinfo, const char *kernel)
{
	int dims[MAXDIM], ndim = rg_shape_arg(fcinfo, 0, kernel, dims);
	RgChunk out = rg_new_chunk(kernel, false, ndim, dims);
	uint64_t key = key_arg(fcinfo, 2, kernel);

	if (out.size <= RG_PIECE)
		rg_uniform_f64(1, out.size, (uint64) PG_GETARG_INT64(1), &key, out.data);
	else
		for (int64 i = 0; i < out.size; i++) {
			uint32 c[4] = {(uint32) i, (uint32) (i >> 32), (uint32) key, (uint32) (key >> 32)};

			RG_LOOK(i);
			philox((uint64) PG_GETARG_INT64(1), c);
			rg_put(&out, i, bits53(c[0], c[1]) * 0x1p-53);
		}
	return out;
}

RG_FUNCTION(random_uniform)
{
	PG_RETURN_ARRAYTYPE_P(uniform(fcinfo, "random_uniform").array);
}

RG_FUNCTION(glorot_uniform)
{
	double in = PG_GETARG_FLOAT8(3), out = PG_GETARG_FLOAT8(4), limit = sqrt(6 / (in + out));
	RgChunk x;

	if (!(in + out > 0))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("glorot_uniform with fan_in %g and fan_out %g", in, out),
						errhint("Their sum must be positive: they count inputs and outputs.")));
	x = uniform(fcinfo, "glorot_uniform");
	for (int64 i = 0; i < x.size; i++) {
		RG_LOOK(i);
		rg_put(&x, i, limit * (2 * ((double *) x.data)[i] - 1));
	}
	PG_RETURN_ARRAYTYPE_P(x.array);
}

// normal is a normal draw by the method of Box and Muller.
static double
normal(uint64 seed, uint64 key, uint64 i)
{
	uint32 c[4] = {(uint32) i, (uint32) (i >> 32), (uint32) key, (uint32) (key >> 32)};
	double u, v;

	philox(seed, c);
	u = (bits53(c[0], c[1]) + 1) * 0x1p-53;
	v = bits53(c[2], c[3]) * 0x1p-53;
	return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

RG_FUNCTION(random_normal)
{
	int dims[MAXDIM], ndim = rg_shape_arg(fcinfo, 0, "random_normal", dims);
	RgChunk out = rg_new_chunk("random_normal", false, ndim, dims);
	uint64 key = key_arg(fcinfo, 2, "random_normal");

	for (int64 i = 0; i < out.size; i++) {
		RG_LOOK(i);
		rg_put(&out, i, normal((uint64) PG_GETARG_INT64(1), key, (uint64) i));
	}
	PG_RETURN_ARRAYTYPE_P(out.array);
}

RG_FUNCTION(random_int)
{
	int64 n = PG_GETARG_INT64(0);
	uint64_t key = key_arg(fcinfo, 2, "random_int");
	double u;

	if (n < 1)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("random_int of %lld numbers", (long long) n)));
	rg_uniform_f64(1, 1, (uint64) PG_GETARG_INT64(1), &key, &u);
	u = floor((double) n * u);
	PG_RETURN_INT64(u >= (double) n ? n - 1 : Min((int64) u, n - 1));
}

// threshold is how many of the 2^32 values of a word drop an element: see tensor.Threshold.
static uint32_t
threshold(double p)
{
	return p == 0 ? 0 : (uint32_t) Min(Max(floor(p * 0x1p32 + 0.5), 1), 4294967295.0);
}

// gen_drop_mask(key, p, site, seed, step[, shape]) is the mask of dropout: 0 with probability p, else 1/(1 - p), by the
// words of the stream (seed, hash(site, step, key)). Without a shape it is a number.
RG_FUNCTION(gen_drop_mask)
{
	int64 parts[3] = {PG_GETARG_INT64(2), PG_GETARG_INT64(4), PG_GETARG_INT64(0)};
	double p = PG_GETARG_FLOAT8(1), keep = 1 / (1 - p), one;
	uint64_t seed = (uint64_t) PG_GETARG_INT64(3), key = hash_key(parts, 3);
	int dims[MAXDIM], ndim;
	RgChunk out;

	if (!(p >= 0 && p < 1))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("dropout probability %g is not in [0,1)", p)));
	if (PG_NARGS() == 5) {
		rg_drop_mask_f64(1, 1, seed, &key, threshold(p), keep, &one);
		PG_RETURN_FLOAT8(one);
	}
	ndim = rg_shape_arg(fcinfo, 5, "drop_mask", dims);
	out = rg_new_chunk("drop_mask", false, ndim, dims);
	if (out.size <= RG_PIECE)
		rg_drop_mask_f64(1, out.size, seed, &key, threshold(p), keep, out.data);
	else
		for (int64 i = 0; i < out.size; i += 4) {
			uint32 c[4] = {(uint32) (i / 4), (uint32) (i / 4 >> 32), (uint32) key, (uint32) (key >> 32)};

			RG_LOOK(i);
			philox(seed, c);
			for (int k = 0; k < 4 && i + k < out.size; k++)
				rg_put(&out, i + k, c[k] >= threshold(p) ? keep : 0);
		}
	PG_RETURN_ARRAYTYPE_P(out.array);
}

// gen_row_key(parts) hashes a key. gen_text_key and gen_float_key make a part of a key from a text and from a number.
RG_FUNCTION(gen_row_key)
{
	int n;
	int64 *parts = rg_bigints(fcinfo, 0, "row_key", "key", &n);

	PG_RETURN_INT64((int64) hash_key(parts, n));
}

RG_FUNCTION(gen_text_key)
{
	text *t = PG_GETARG_TEXT_PP(0);
	const unsigned char *s = (const unsigned char *) VARDATA_ANY(t);
	uint64_t h = UINT64CONST(14695981039346656037);
	int64_t zero = 0;

	for (int i = 0; i < (int) VARSIZE_ANY_EXHDR(t); i++) {
		RG_LOOK(i);
		h = (h ^ s[i]) * UINT64CONST(1099511628211);
	}
	rg_mix(1, &zero, &h);
	PG_RETURN_INT64((int64) h);
}

RG_FUNCTION(gen_float_key)
{
	double x = PG_GETARG_FLOAT8(0);
	int64 bits;

	memcpy(&bits, &x, sizeof(bits));
	PG_RETURN_INT64(bits);
}
