#include "blaslt.h"

#include <dlfcn.h>
#include <string.h>

#define RG_DEFINE(result, name, args) static result(*rg_##name) args;
RG_BLASLT(RG_DEFINE)

#define NEEDS(result, name, args) \
	if (!(rg_##name = (result(*) args) dlsym(lib, #name))) \
		return strdup(dlerror());

#define ENTER(d) \
	do { \
		int error = rg_cuCtxSetCurrent((d)->context); \
		if (error) \
			return -error; \
	} while (0)

// Numbers of cublasComputeType_t, cudaDataType and the attributes. CUBLAS_COMPUTE_32F multiplies and adds in single
// precision; its neighbours 74 to 79, which may round to TF32 or bfloat16 or compute by other formats, are never used.
enum {
	COMPUTE_32F = 68,
	COMPUTE_64F = 70,
	R_32F = 0,
	R_64F = 1,
	TRANSPOSE_A = 3,
	TRANSPOSE_B = 4,
	TRANSPOSED = 1,
	BATCH_COUNT = 5,
	BATCH_STEP = 6,
	MOST_WORKSPACE = 1,
	ALIGN_A = 5,
	ALIGN_B = 6,
	ALIGN_C = 7,
	ALIGN_D = 8,
	NOT_SUPPORTED = 15, // CUBLAS_STATUS_NOT_SUPPORTED
};

char *
rg_open_blaslt(const char *name)
{
	void *lib = dlopen(name, RTLD_NOW | RTLD_LOCAL);

	if (!lib)
		return strdup(dlerror());
	RG_BLASLT(NEEDS)
	return NULL;
}

size_t
rg_blaslt_version(void)
{
	return rg_cublasLtGetVersion();
}

const char *
rg_blaslt_message(int status)
{
	return rg_cublasLtGetStatusString(status);
}

int
rg_blaslt_begin(rg_device *d, void **handle)
{
	ENTER(d);
	return rg_cublasLtCreate(handle);
}

int
rg_blaslt_end(rg_device *d, void *handle)
{
	ENTER(d);
	return rg_cublasLtDestroy(handle);
}

// layout describes a matrix as it lies in memory: rows of numbers are columns to the library.
static int
layout(void **out, const rg_matrices *m, int64_t rows, int64_t columns, int64_t ld, int64_t step)
{
	int32_t batch = m->batch;
	int status = rg_cublasLtMatrixLayoutCreate(out, m->wide ? R_64F : R_32F, columns, rows, ld);

	if (!status)
		status = rg_cublasLtMatrixLayoutSetAttribute(*out, BATCH_COUNT, &batch, sizeof batch);
	if (!status)
		status = rg_cublasLtMatrixLayoutSetAttribute(*out, BATCH_STEP, &step, sizeof step);
	return status;
}

// wishes says what an algorithm may need.
static int
wishes(void **out, const rg_matrices *m, size_t workspace)
{
	const int attributes[] = {ALIGN_A, ALIGN_B, ALIGN_C, ALIGN_D}, of[] = {1, 0, 2, 2};
	uint64_t most = workspace;
	int status = rg_cublasLtMatmulPreferenceCreate(out);

	if (!status)
		status = rg_cublasLtMatmulPreferenceSetAttribute(*out, MOST_WORKSPACE, &most, sizeof most);
	for (int i = 0; !status && i < 4; i++)
		status = rg_cublasLtMatmulPreferenceSetAttribute(*out, attributes[i], &m->align[of[i]], sizeof(uint32_t));
	return status;
}

int
rg_describe_product(const rg_matrices *m, size_t workspace, rg_multiplier *out)
{
	int32_t turned = TRANSPOSED;
	int status;

	memset(out, 0, sizeof *out);
	out->wide = m->wide;
	status = rg_cublasLtMatmulDescCreate(&out->what, m->wide ? COMPUTE_64F : COMPUTE_32F, m->wide ? R_64F : R_32F);
	// To the library all matrices are turned: its first operand is y.
	if (!status && m->yt)
		status = rg_cublasLtMatmulDescSetAttribute(out->what, TRANSPOSE_A, &turned, sizeof turned);
	if (!status && m->xt)
		status = rg_cublasLtMatmulDescSetAttribute(out->what, TRANSPOSE_B, &turned, sizeof turned);
	if (!status)
		status = layout(&out->x, m, m->xt ? m->k : m->m, m->xt ? m->m : m->k, m->ldx, m->step[0]);
	if (!status)
		status = layout(&out->y, m, m->yt ? m->n : m->k, m->yt ? m->k : m->n, m->ldy, m->step[1]);
	if (!status)
		status = layout(&out->out, m, m->m, m->n, m->n, m->step[2]);
	if (!status)
		status = wishes(&out->wish, m, workspace);
	if (status)
		rg_drop_product(out);
	return status;
}

void
rg_drop_product(rg_multiplier *p)
{
	if (p->what)
		rg_cublasLtMatmulDescDestroy(p->what);
	if (p->x)
		rg_cublasLtMatrixLayoutDestroy(p->x);
	if (p->y)
		rg_cublasLtMatrixLayoutDestroy(p->y);
	if (p->out)
		rg_cublasLtMatrixLayoutDestroy(p->out);
	if (p->wish)
		rg_cublasLtMatmulPreferenceDestroy(p->wish);
	memset(p, 0, sizeof *p);
}

int
rg_choose(rg_device *d, void *handle, rg_multiplier *p, int *found)
{
	int status, n = 0;

	*found = 0;
	ENTER(d);
	status = rg_cublasLtMatmulAlgoGetHeuristic(handle, p->what, p->y, p->x, p->out, p->out, p->wish, 1, &p->found, &n);
	*found = !status && n > 0 && !p->found.state;
	rg_cublasLtMatmulPreferenceDestroy(p->wish);
	p->wish = NULL;
	if (!*found)
		rg_drop_product(p);
	return status == NOT_SUPPORTED ? 0 : status;
}

int
rg_multiply(rg_device *d, void *handle, const rg_multiplier *p, uint64_t x, uint64_t y, uint64_t out, int add,
	uint64_t workspace, size_t bytes)
{
	const float single[] = {0, 1};
	const double wide[] = {0, 1};
	const void *one = p->wide ? (const void *) &wide[1] : &single[1];
	const void *beta = p->wide ? (const void *) &wide[add] : &single[add];

	ENTER(d);
	return rg_cublasLtMatmul(handle, p->what, one, (void *) y, p->y, (void *) x, p->x, beta, (void *) out, p->out,
		(void *) out, p->out, p->found.algorithm, (void *) workspace, bytes, d->stream);
}
