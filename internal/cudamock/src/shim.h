// The language of kernels for a compiler of C++, which reads this before their text: a thread is a fibre of the mock,
// which says here where the running one is. Arrays in shared memory lie in a section of their own, which the mock fills
// before each block.
#ifndef RELGRAD_CUDA_SHIM_H
#define RELGRAD_CUDA_SHIM_H

struct rg_place {
	unsigned x, y, z;
};

struct rg_running {
	rg_place thread, block, threads, blocks;
	void (*all)();                                                              // waits for all threads of the block
	void (*warp)(unsigned mask);                                                // waits for lanes of the warp
	unsigned long long (*swap)(unsigned mask, unsigned long long bits, int lane); // another lane's bits
	// checks what a thread does with memory: kind is 0 for reads, 1 for writes, 2 for atomic operations
	void (*access)(const void *at, unsigned long bytes, int kind, const void *code);
};

static rg_running *rg;

#define threadIdx (rg->thread)
#define blockIdx (rg->block)
#define blockDim (rg->threads)
#define gridDim (rg->blocks)

#define __global__
#define __device__ static inline
#define __constant__ static const
#define __forceinline__ inline
#define __restrict__ __restrict
#define __launch_bounds__(...)
#define __shared__ static __attribute__((section("rg_shared")))

static inline void __syncthreads()
{
	rg->all();
}

static inline void __syncwarp(unsigned mask = 0xffffffffu)
{
	rg->warp(mask);
}

template <class T>
static inline T rg_from(unsigned mask, T x, int lane)
{
	static_assert(sizeof(T) <= 8, "a shuffle moves 8 bytes at most");
	unsigned long long bits = 0;
	T out;

	__builtin_memcpy(&bits, &x, sizeof x);
	bits = rg->swap(mask, bits, lane);
	__builtin_memcpy(&out, &bits, sizeof out);
	return out;
}

static inline int rg_lane()
{
	return threadIdx.x & 31;
}

template <class T>
static inline T __shfl_sync(unsigned mask, T x, int lane)
{
	return rg_from(mask, x, lane & 31);
}

template <class T>
static inline T __shfl_down_sync(unsigned mask, T x, unsigned by)
{
	return rg_from(mask, x, rg_lane() + by > 31 ? rg_lane() : rg_lane() + by);
}

template <class T>
static inline T __shfl_xor_sync(unsigned mask, T x, int by)
{
	return rg_from(mask, x, rg_lane() ^ by);
}

template <class T>
static inline T __ldg(const T *x)
{
	return *x;
}

static inline unsigned __umulhi(unsigned x, unsigned y)
{
	return (unsigned long long) x * y >> 32;
}

static inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y)
{
	return (unsigned __int128) x * y >> 64;
}

static inline long long __double_as_longlong(double x)
{
	long long bits;

	__builtin_memcpy(&bits, &x, 8);
	return bits;
}

static inline double __longlong_as_double(long long bits)
{
	double x;

	__builtin_memcpy(&x, &bits, 8);
	return x;
}

static inline double __dadd_rn(double x, double y)
{
	return x + y;
}

static inline double __dmul_rn(double x, double y)
{
	return x * y;
}

#ifdef __SANITIZE_THREAD__
#define RG_UNCHECKED __attribute__((no_sanitize("thread")))

static RG_UNCHECKED inline void rg_atomic(const void *at, unsigned long bytes)
{
	rg->access(at, bytes, 2, __builtin_return_address(0));
}

// What the compiler calls where a kernel reads or writes.
#define RG_CALLED(name, args, bytes, kind) \
	extern "C" RG_UNCHECKED __attribute__((visibility("hidden"))) void __tsan_##name args \
	{ \
		rg->access(at, bytes, kind, __builtin_return_address(0)); \
	}
#define RG_CALLED_FOR(n) \
	RG_CALLED(read##n, (void *at), n, 0) RG_CALLED(write##n, (void *at), n, 1) \
	RG_CALLED(unaligned_read##n, (void *at), n, 0) RG_CALLED(unaligned_write##n, (void *at), n, 1)
RG_CALLED_FOR(1) RG_CALLED_FOR(2) RG_CALLED_FOR(4) RG_CALLED_FOR(8) RG_CALLED_FOR(16)
RG_CALLED(read_range, (void *at, long bytes), bytes, 0)
RG_CALLED(write_range, (void *at, long bytes), bytes, 1)

extern "C" RG_UNCHECKED __attribute__((visibility("hidden"))) void __tsan_init()
{
}
#else
#define RG_UNCHECKED
#define rg_atomic(at, bytes)
#endif

// Threads of the mock run one at a time.
template <class T>
static RG_UNCHECKED inline T atomicMin(T *at, T x)
{
	rg_atomic(at, sizeof *at);
	T was = *at;

	if (x < was)
		*at = x;
	return was;
}

#define RG_MATH(X) \
	X(exp) X(expm1) X(log) X(log1p) X(log2) X(log10) X(sqrt) X(cbrt) X(sin) X(cos) X(tan) X(asin) X(acos) X(atan) \
	X(sinh) X(cosh) X(tanh) X(asinh) X(acosh) X(atanh) X(erf) X(erfc) X(lgamma) X(floor) X(ceil) X(trunc) X(rint) \
	X(round) X(fabs)
#define RG_MATH2(X) X(pow) X(atan2) X(copysign) X(hypot) X(fmax) X(fmin) X(fmod)

#define RG_ONE(name) \
	extern "C" double name(double) noexcept; \
	extern "C" float name##f(float) noexcept;
#define RG_TWO(name) \
	extern "C" double name(double, double) noexcept; \
	extern "C" float name##f(float, float) noexcept;
RG_MATH(RG_ONE)
RG_MATH2(RG_TWO)
extern "C" double fma(double, double, double) noexcept;
extern "C" float fmaf(float, float, float) noexcept;

// Both are exact where the sine or the cosine is 0 or 1.
static inline double sinpi(double x)
{
	double r = x - 2 * rint(x / 2), a = fabs(r), b = a > 0.5 ? 1 - a : a;
	double y = b > 0.25 ? cos(3.141592653589793 * (0.5 - b)) : sin(3.141592653589793 * b);

	return r < 0 ? -y : y;
}

static inline double cospi(double x)
{
	return sinpi(x + 0.5 - 2 * rint(x / 2));
}

static inline bool isnan(double x)
{
	return x != x;
}

static inline bool isinf(double x)
{
	return x - x != 0 && x == x;
}

static inline bool isfinite(double x)
{
	return x - x == 0;
}

struct __attribute__((aligned(16))) float4 {
	float x, y, z, w;
};

struct __attribute__((aligned(16))) double2 {
	double x, y;
};

static inline float4 make_float4(float x, float y, float z, float w)
{
	return float4{x, y, z, w};
}

static inline double2 make_double2(double x, double y)
{
	return double2{x, y};
}

extern "C" __attribute__((weak, visibility("hidden"))) char __start_rg_shared[], __stop_rg_shared[];

// rg_shared_memory is where the arrays in shared memory lie.
extern "C" RG_UNCHECKED char *rg_shared_memory(unsigned long *bytes)
{
	*bytes = __stop_rg_shared - __start_rg_shared;
	return __start_rg_shared;
}

extern "C" RG_UNCHECKED void rg_module(rg_running *r)
{
	rg = r;
}

template <class... A>
static constexpr int rg_count(void (*)(A...))
{
	static_assert(((sizeof(A) == 8) && ...), "an argument of a kernel has 8 bytes");
	return sizeof...(A);
}

template <int... N>
struct rg_numbers {
};

template <int N, int... M>
struct rg_to : rg_to<N - 1, N - 1, M...> {
};

template <int... M>
struct rg_to<0, M...> {
	typedef rg_numbers<M...> list;
};

template <class... A, int... N>
static inline void rg_call_at(void (*f)(A...), void **args, rg_numbers<N...>)
{
	f(*(A *) args[N]...);
}

template <class... A>
static inline void rg_call(void (*f)(A...), void **args)
{
	rg_call_at(f, args, typename rg_to<sizeof...(A)>::list());
}
#endif
