// How workers wait for work and for each other, awake.
#define _GNU_SOURCE
#include "cpu.h"
#include <sched.h>
#include <time.h>

static int64_t now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

// breathe passes about a microsecond; whoever else wants the processor has it.
static void breathe(void) {
#ifdef RG_X86
	for (int i = 0; i < 16; i++)
		__builtin_ia32_pause();
#endif
	sched_yield();
}

void rg_differs(const uint32_t *state, uint32_t is, int64_t ns) {
	for (int64_t begin = now();; breathe()) {
		if (__atomic_load_n(state, __ATOMIC_ACQUIRE) != is || now() - begin > ns)
			return;
	}
}
