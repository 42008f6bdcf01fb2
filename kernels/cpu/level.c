// Which instruction set the processor has; waiting for another one.
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

#define TURNS 3000 // of 10 to 50 ns

void rg_await(const uint32_t *word, uint32_t want) {
	for (int i = 0; i < TURNS; i++) {
		if (__atomic_load_n(word, __ATOMIC_ACQUIRE) == want)
			return;
#ifdef RG_X86
		__builtin_ia32_pause();
#elif defined(__aarch64__)
		__asm__ volatile("isb");
#endif
	}
}
