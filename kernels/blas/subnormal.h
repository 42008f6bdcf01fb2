// Products in single precision count subnormal numbers, those below 1.2e-38, as zero. Processors of Intel take some
// hundred cycles for each operation that meets one, and the gradients of a long recurrence meet many on their way to
// zero: products of an LSTM's 200 steps ran at 0.5 Gflop/s instead of 75.
#if defined(__x86_64__)
#include <immintrin.h>

// without_subnormals sets flush-to-zero and subnormals-are-zero, and returns the thread's settings for resume.
static inline unsigned without_subnormals(void) {
	unsigned was = _mm_getcsr();
	_mm_setcsr(was | 0x8040);
	return was;
}
static inline void resume(unsigned was) { _mm_setcsr(was); }
#else
static inline unsigned without_subnormals(void) { return 0; }
static inline void resume(unsigned was) {}
#endif
