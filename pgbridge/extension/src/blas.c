// The library is loaded at the first large product, never at the start: a linked OpenBLAS starts threads at once, and
// these would take the backend's signals. So all signals are masked while it loads, and it is told to use one thread.
// It is found as kernels/blas finds it: by the names in the server's environment variable OPENBLAS, separated by colons
// ("off": none), then libopenblas.so.0 and libopenblas.so.
#include "postgres.h"

#include <dlfcn.h>
#include <signal.h>

#include "product.h"

typedef void (*Sgemm)(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a, int lda,
					  const float *b, int ldb, float beta, float *c, int ldc);
typedef void (*Dgemm)(int order, int ta, int tb, int m, int n, int k, double alpha, const double *a, int lda,
					  const double *b, int ldb, double beta, double *c, int ldc);

#define ROW_MAJOR 101
#define NO_TRANS 111

static Sgemm sgemm;
static Dgemm dgemm;
static bool tried;

static bool
open_library(const char *name)
{
	void *lib = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	const char *(*config)(void);
	void (*threads)(int);

	if (lib == NULL)
		return false;
	sgemm = (Sgemm) dlsym(lib, "cblas_sgemm");
	dgemm = (Dgemm) dlsym(lib, "cblas_dgemm");
	config = (const char *(*) (void) ) dlsym(lib, "openblas_get_config");
	threads = (void (*)(int)) dlsym(lib, "openblas_set_num_threads");
	if (sgemm == NULL || dgemm == NULL || config == NULL || threads == NULL ||
		strstr(config(), "USE64BITINT") != NULL) {
		sgemm = NULL;
		dgemm = NULL;
		dlclose(lib);
		return false;
	}
	threads(1);
	return true;
}

static void
search(void)
{
	const char *env = getenv("OPENBLAS");
	char *names, *rest = NULL;

	if (env != NULL && strcmp(env, "off") == 0)
		return;
	names = psprintf("%s:libopenblas.so.0:libopenblas.so", env ? env : "");
	for (char *n = strtok_r(names, ":", &rest); n != NULL; n = strtok_r(NULL, ":", &rest))
		if (open_library(n))
			break;
	pfree(names);
}

static void
load(void)
{
	sigset_t all, old;
	const char *env = getenv("OPENBLAS_NUM_THREADS");
	char *before = env ? pstrdup(env) : NULL;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	setenv("OPENBLAS_NUM_THREADS", "1", 1);
	search();
	if (before)
		setenv("OPENBLAS_NUM_THREADS", before, 1);
	else
		unsetenv("OPENBLAS_NUM_THREADS");
	sigprocmask(SIG_SETMASK, &old, NULL);
	tried = true;
}

bool
rg_has_gemm(void)
{
	if (!tried)
		load();
	return dgemm != NULL;
}

bool
rg_gemm(bool single, int m, int n, int k, const void *a, const void *b, void *c)
{
	if (!rg_has_gemm())
		return false;
	if (single)
		sgemm(ROW_MAJOR, NO_TRANS, NO_TRANS, m, n, k, 1, a, k, b, n, 0, c, n);
	else
		dgemm(ROW_MAJOR, NO_TRANS, NO_TRANS, m, n, k, 1, a, k, b, n, 0, c, n);
	return true;
}
