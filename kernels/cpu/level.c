// Which instruction set the processor has.
#include "cpu.h"

static int detect(void) {
#ifdef RG_X86
	__builtin_cpu_init();
	if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
		return 0;
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
		__builtin_cpu_supports("avx512vl"))
		return 2;
	return 1;
#else
	return 0;
#endif
}

static int level = -1; // racing writers write the same

int rg_level(void) {
	if (level < 0)
		level = detect();
	return level;
}

int rg_limit(int most) {
	int l = detect();
	return level = l < most ? l : most;
}
