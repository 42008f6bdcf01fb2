// The double of cuBLASLt: products of matrices by plain loops, as work of a stream. It stops with a message where a call
// is one whose result the library does not promise, and rounds to TF32 where the library does.
#ifndef RELGRAD_CUDA_BLASLT_DOUBLE_H
#define RELGRAD_CUDA_BLASLT_DOUBLE_H

namespace blaslt {

// cublasStatus_t
enum {
	NOT_INITIALIZED_ = 1,
	INVALID = 7,
	EXECUTION_FAILED = 13,
	UNSUPPORTED = 15,
};

enum { COMPUTE_32F = 68, COMPUTE_64F = 70, COMPUTE_TF32 = 77, R_32F = 0, R_64F = 1 };

struct Handle {
	Device *device;
};

struct What {
	int compute, scale, turned[2];
};

struct Layout {
	int type, batch;
	uint64_t rows, columns;
	int64_t ld, step;
};

struct Wish {
	uint64_t workspace;
	uint32_t align[4];
};

// Algorithm is what the library keeps in its 64 bytes.
struct Algorithm {
	uint64_t known, of, workspace;
	uint32_t align[4];
	uint64_t unused[3];
};

struct Found {
	Algorithm algorithm;
	size_t workspace;
	int state;
	float waves;
	int reserved[4];
};

static_assert(sizeof(Algorithm) == 64 && sizeof(Found) == 96, "as the library's header has them");

const uint64_t KNOWN = 0x746c5361426375;

// made counts what is made on the device that is current; unmade counts it down.
template <class T> int made(void **out, T x)
{
	struct Counted {
		T x;
		Device *device;
	};

	*out = new Counted{x, context};
	if (context)
		context->products++;
	return 0;
}

template <class T> int unmade(void *p)
{
	struct Counted {
		T x;
		Device *device;
	} *c = (Counted *) p;

	if (c->device)
		c->device->products--;
	delete c;
	return 0;
}

// set writes an attribute of so many bytes.
int set(void *to, size_t own, const void *from, size_t bytes)
{
	if (!from || own != bytes)
		return INVALID;
	memcpy(to, from, bytes);
	return 0;
}

// of is a number of all that an algorithm is chosen for.
uint64_t of(const What *w, const Layout *a, const Layout *b, const Layout *c, const Layout *d)
{
	std::string all((const char *) w, sizeof *w);

	for (const Layout *l : {a, b, c, d})
		all.append((const char *) l, sizeof *l);
	return hash(all);
}

// sound says whether a product is one that the library computes: C = op(A) * op(B), all in one type.
bool sound(const What *w, const Layout *a, const Layout *b, const Layout *c, const Layout *d)
{
	uint64_t m = d->rows, n = d->columns, k = w->turned[0] ? a->rows : a->columns;
	int type = w->compute == COMPUTE_64F ? R_64F : R_32F;

	for (const Layout *l : {a, b, c, d})
		if (l->type != type || l->batch != d->batch || l->batch < 1 || !l->rows || !l->columns || l->ld < (int64_t) l->rows)
			return false;
	return w->scale == type && (w->turned[0] ? a->columns : a->rows) == m && (w->turned[1] ? b->columns : b->rows) == k &&
		(w->turned[1] ? b->rows : b->columns) == n && c->rows == m && c->columns == n;
}

// tf32 rounds to 10 bits behind the first, as tensor cores do.
float tf32(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, 4);
	if ((bits >> 23 & 255) < 255)
		bits = (bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu;
	memcpy(&x, &bits, 4);
	return x;
}

// bytes is how far the matrices reach.
size_t bytes(const Layout *l)
{
	int64_t one = (l->columns - 1) * l->ld + l->rows;

	return (one + (l->batch - 1) * l->step) * (l->type == R_64F ? 8 : 4);
}

template <class T> void multiply(const What &w, T alpha, const T *a, const Layout &la, const T *b, const Layout &lb, T beta,
	T *d, const Layout &ld, bool rounds)
{
	int64_t k = w.turned[0] ? la.rows : la.columns;
	std::vector<T> sums(ld.rows);

	for (int i = 0; i < ld.batch; i++, a += la.step, b += lb.step, d += ld.step)
		for (uint64_t col = 0; col < ld.columns; col++) {
			std::fill(sums.begin(), sums.end(), T(0));
			for (int64_t q = 0; q < k; q++) {
				T y = b[w.turned[1] ? col + q * lb.ld : q + col * lb.ld];

				for (uint64_t row = 0; row < ld.rows; row++) {
					T x = a[w.turned[0] ? q + row * la.ld : row + q * la.ld];

					sums[row] += rounds ? T(tf32(x) * tf32(y)) : x * y;
				}
			}
			for (uint64_t row = 0; row < ld.rows; row++) {
				T &to = d[row + col * ld.ld];

				to = beta == 0 ? alpha * sums[row] : alpha * sums[row] + beta * to;
			}
		}
}

} // namespace blaslt

#define LIBRARY \
	Lock lock; \
	if (int e = injected(__func__)) \
		return e; \
	if (context && context->error) \
		return blaslt::EXECUTION_FAILED;

extern "C" {

size_t cublasLtGetVersion(void)
{
	return 130001;
}

const char *cublasLtGetStatusString(int status)
{
	return status == blaslt::INVALID ? "an unsupported value or parameter was passed to the function" : "a status of the mock";
}

int cublasLtCreate(void **out)
{
	LIBRARY
	if (!context)
		return blaslt::NOT_INITIALIZED_;
	return blaslt::made(out, blaslt::Handle{context});
}

int cublasLtDestroy(void *handle)
{
	Lock lock;
	return blaslt::unmade<blaslt::Handle>(handle);
}

int cublasLtMatmulDescCreate(void **out, int compute, int scale)
{
	LIBRARY
	return blaslt::made(out, blaslt::What{compute, scale, {0, 0}});
}

int cublasLtMatmulDescDestroy(void *what)
{
	Lock lock;
	return blaslt::unmade<blaslt::What>(what);
}

int cublasLtMatmulDescSetAttribute(void *what, int attribute, const void *from, size_t bytes)
{
	LIBRARY
	blaslt::What *w = (blaslt::What *) what;

	if (attribute != 3 && attribute != 4)
		return blaslt::UNSUPPORTED;
	return blaslt::set(&w->turned[attribute - 3], 4, from, bytes);
}

int cublasLtMatrixLayoutCreate(void **out, int type, uint64_t rows, uint64_t columns, int64_t ld)
{
	LIBRARY
	return blaslt::made(out, blaslt::Layout{type, 1, rows, columns, ld, 0});
}

int cublasLtMatrixLayoutDestroy(void *layout)
{
	Lock lock;
	return blaslt::unmade<blaslt::Layout>(layout);
}

int cublasLtMatrixLayoutSetAttribute(void *layout, int attribute, const void *from, size_t bytes)
{
	LIBRARY
	blaslt::Layout *l = (blaslt::Layout *) layout;

	if (attribute == 5)
		return blaslt::set(&l->batch, 4, from, bytes);
	return attribute == 6 ? blaslt::set(&l->step, 8, from, bytes) : (int) blaslt::UNSUPPORTED;
}

int cublasLtMatmulPreferenceCreate(void **out)
{
	LIBRARY
	return blaslt::made(out, blaslt::Wish{0, {256, 256, 256, 256}});
}

int cublasLtMatmulPreferenceDestroy(void *wish)
{
	Lock lock;
	return blaslt::unmade<blaslt::Wish>(wish);
}

int cublasLtMatmulPreferenceSetAttribute(void *wish, int attribute, const void *from, size_t bytes)
{
	LIBRARY
	blaslt::Wish *w = (blaslt::Wish *) wish;

	if (attribute == 1)
		return blaslt::set(&w->workspace, 8, from, bytes);
	return attribute >= 5 && attribute <= 8 ? blaslt::set(&w->align[attribute - 5], 4, from, bytes) :
		(int) blaslt::UNSUPPORTED;
}

int cublasLtMatmulAlgoGetHeuristic(void *handle, void *what, void *la, void *lb, void *lc, void *ld, void *wish, int most,
	blaslt::Found *out, int *n)
{
	LIBRARY
	auto w = (blaslt::What *) what;
	auto a = (blaslt::Layout *) la, b = (blaslt::Layout *) lb, c = (blaslt::Layout *) lc, d = (blaslt::Layout *) ld;
	auto wishes = (blaslt::Wish *) wish;

	*n = 0;
	if (!handle || most < 1)
		return blaslt::INVALID;
	if (!blaslt::sound(w, a, b, c, d))
		return blaslt::UNSUPPORTED;
	*out = blaslt::Found{};
	out->algorithm.known = blaslt::KNOWN;
	out->algorithm.of = blaslt::of(w, a, b, c, d);
	out->algorithm.workspace = out->workspace = wishes->workspace < 1 << 20 ? 0 : 1 << 20;
	memcpy(out->algorithm.align, wishes->align, sizeof wishes->align);
	*n = 1;
	return 0;
}

int cublasLtMatmul(void *handle, void *what, const void *alpha, const void *a, void *la, const void *b, void *lb,
	const void *beta, const void *c, void *lc, void *out, void *lout, const void *algorithm, void *workspace, size_t bytes,
	void *stream)
{
	LIBRARY
	auto w = *(blaslt::What *) what;
	auto da = *(blaslt::Layout *) la, db = *(blaslt::Layout *) lb, dc = *(blaslt::Layout *) lc, d = *(blaslt::Layout *) lout;
	auto how = (const blaslt::Algorithm *) algorithm;
	Device *device = ((blaslt::Handle *) handle)->device;
	bool wide = d.type == blaslt::R_64F, rounds = w.compute == blaslt::COMPUTE_TF32 ||
		!wide && strcmp(value("NVIDIA_TF32_OVERRIDE", "0"), "0");

	if (!how)
		stop("a product without an algorithm: the library would choose one at each call");
	if (how->known != blaslt::KNOWN || how->of != blaslt::of(&w, &da, &db, &dc, &d))
		stop("a product by an algorithm that was not chosen for it");
	if (device != context || ((Stream *) stream)->device != device)
		stop("a product on another device than its handle's");
	if (how->workspace > bytes || how->workspace && (uint64_t) workspace % 256)
		return blaslt::INVALID;
	if (c != out)
		stop("a product that adds to another matrix than its result");
	const void *at[] = {a, b, c, out};
	for (int i = 0; i < 4; i++)
		if ((uint64_t) at[i] % how->align[i])
			stop("a product's matrix lies at an address that is no multiple of " + std::to_string(how->align[i]));
	double factors[] = {wide ? *(const double *) alpha : *(const float *) alpha,
		wide ? *(const double *) beta : *(const float *) beta};
	size_t used = how->workspace;
	double alpha1 = factors[0], beta1 = factors[1];

	return add((Stream *) stream, [=] {
		if (!within(device, (uint64_t) a, blaslt::bytes(&da)) || !within(device, (uint64_t) b, blaslt::bytes(&db)) ||
			!within(device, (uint64_t) out, blaslt::bytes(&d)) || used && !within(device, (uint64_t) workspace, used)) {
			fprintf(stderr, "mock of CUDA: a product reads or writes where nothing is\n");
			return (int) ILLEGAL_ADDRESS;
		}
		memset(workspace, 0xff, used);
		if (wide)
			blaslt::multiply(w, alpha1, (const double *) a, da, (const double *) b, db, beta1, (double *) out, d, false);
		else
			blaslt::multiply(w, (float) alpha1, (const float *) a, da, (const float *) b, db, (float) beta1, (float *) out, d,
				rounds);
		return 0;
	});
}

} // extern "C"
#endif
