// Loops over whole numbers that are worth an instruction set of their own; included once for each.
#if !SINGLE
// N(rg_places) is p[i] = first + (x[i] - low) where that is below count numbers from low on, else -1; it reports whether some are not.
static int N(rg_places)(long n, const int64_t *restrict x, int64_t low, uint64_t count, int32_t first, int32_t *restrict p) {
	int64_t miss = 0;
	for (long i = 0; i < n; i++) {
		uint64_t d = (uint64_t)x[i] - (uint64_t)low;
		int64_t out = d < count ? 0 : -1;
		p[i] = (int32_t)((first + (int64_t)d) | out);
		miss |= out;
	}
	return miss != 0;
}
#endif
