#include "driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RG_DEFINE(result, name, args) result(*rg_##name) args;
RG_DRIVER(RG_DEFINE)
RG_NVRTC(RG_DEFINE)

#define ENTER(d) \
	do { \
		int error = rg_cuCtxSetCurrent((d)->context); \
		if (error) \
			return error; \
	} while (0)

#define NEEDS(result, name, args) \
	if (!(rg_##name = (result(*) args) dlsym(lib, #name))) \
		return strdup(dlerror());

char *
rg_open_driver(const char *name)
{
	void *lib = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	int error;

	if (!lib)
		return strdup(dlerror());
	RG_DRIVER(NEEDS)
	error = rg_cuInit(0);
	return error ? strdup(rg_message(error)) : NULL;
}

char *
rg_open_nvrtc(const char *name)
{
	void *lib = dlopen(name, RTLD_NOW | RTLD_LOCAL);

	if (!lib)
		return strdup(dlerror());
	RG_NVRTC(NEEDS)
	return NULL;
}

const char *
rg_message(int error)
{
	const char *text = NULL;

	if (rg_cuGetErrorString(error, &text) || !text)
		return "unknown error";
	return text;
}

const char *
rg_nvrtc_message(int error)
{
	return rg_nvrtcGetErrorString(error);
}

int
rg_call_version(int *version)
{
	return rg_cuDriverGetVersion(version);
}

int
rg_call_count(int *n)
{
	return rg_cuDeviceGetCount(n);
}

int
rg_describe(int number, char name[256], size_t *bytes, int at[3])
{
	const int attributes[] = {75, 76, 16}; // major, minor, multiprocessors
	int device, error = rg_cuDeviceGet(&device, number);

	if (!error)
		error = rg_cuDeviceGetName(name, 256, device);
	if (!error)
		error = rg_cuDeviceTotalMem_v2(bytes, device);
	for (int i = 0; !error && i < 3; i++)
		error = rg_cuDeviceGetAttribute(&at[i], attributes[i], device);
	return error;
}

int
rg_nvrtc_version(int *major, int *minor)
{
	return rg_nvrtcVersion(major, minor);
}

int
rg_open_device(int number, rg_device *d)
{
	int device, error = rg_cuDeviceGet(&device, number);

	if (!error)
		error = rg_cuDevicePrimaryCtxRetain(&d->context, device);
	if (error)
		return error;
	error = rg_cuCtxSetCurrent(d->context);
	if (!error)
		error = rg_cuStreamCreate(&d->stream, 1); // it does not wait for others
	if (!error)
		error = rg_cuStreamCreate(&d->copies, 1);
	if (!error)
		error = rg_cuEventCreate(&d->copied, 2); // it measures no time
	if (error)
		rg_close_device(number, d);
	return error;
}

int
rg_close_device(int number, rg_device *d)
{
	int device, error = rg_cuDeviceGet(&device, number);

	if (error)
		return error;
	ENTER(d);
	if (d->copied)
		rg_cuEventDestroy_v2(d->copied);
	if (d->copies)
		rg_cuStreamDestroy_v2(d->copies);
	if (d->stream)
		rg_cuStreamDestroy_v2(d->stream);
	return rg_cuDevicePrimaryCtxRelease_v2(device);
}

int
rg_allocate(rg_device *d, size_t bytes, uint64_t *at)
{
	ENTER(d);
	return rg_cuMemAlloc_v2(at, bytes);
}

int
rg_free(rg_device *d, uint64_t at)
{
	ENTER(d);
	return rg_cuMemFree_v2(at);
}

int
rg_room(rg_device *d, size_t *free, size_t *all)
{
	ENTER(d);
	return rg_cuMemGetInfo_v2(free, all);
}

int
rg_fill(rg_device *d, uint64_t at, unsigned char x, size_t bytes)
{
	ENTER(d);
	return rg_cuMemsetD8Async(at, x, bytes, d->stream);
}

int
rg_pin(rg_device *d, size_t bytes, void **at)
{
	ENTER(d);
	return rg_cuMemHostAlloc(at, bytes, 0);
}

int
rg_unpin(rg_device *d, void *at)
{
	ENTER(d);
	return rg_cuMemFreeHost(at);
}

int
rg_send(rg_device *d, uint64_t to, const void *from, size_t bytes)
{
	ENTER(d);
	return rg_cuMemcpyHtoDAsync_v2(to, from, bytes, d->stream);
}

int
rg_send_beside(rg_device *d, uint64_t to, const void *from, size_t bytes)
{
	ENTER(d);
	return rg_cuMemcpyHtoDAsync_v2(to, from, bytes, d->copies);
}

int
rg_upload_beside(rg_device *d, uint64_t to, const void *from, size_t bytes)
{
	int error;

	ENTER(d);
	error = rg_cuMemcpyHtoDAsync_v2(to, from, bytes, d->copies);
	return error ? error : rg_cuStreamSynchronize(d->copies); // the memory is Go's
}

int
rg_join(rg_device *d)
{
	int error;

	ENTER(d);
	error = rg_cuEventRecord(d->copied, d->copies);
	return error ? error : rg_cuStreamWaitEvent(d->stream, d->copied, 0);
}

int
rg_receive(rg_device *d, void *to, uint64_t from, size_t bytes)
{
	ENTER(d);
	return rg_cuMemcpyDtoHAsync_v2(to, from, bytes, d->stream);
}

int
rg_upload(rg_device *d, uint64_t to, const void *from, size_t bytes)
{
	int error;

	ENTER(d);
	error = rg_cuMemcpyHtoDAsync_v2(to, from, bytes, d->stream);
	return error ? error : rg_cuStreamSynchronize(d->stream); // the memory is Go's
}

int
rg_download(rg_device *d, void *to, uint64_t from, size_t bytes)
{
	int error;

	ENTER(d);
	error = rg_cuMemcpyDtoHAsync_v2(to, from, bytes, d->stream);
	return error ? error : rg_cuStreamSynchronize(d->stream);
}

int
rg_wait(rg_device *d)
{
	int error;

	ENTER(d);
	error = rg_cuStreamSynchronize(d->copies);
	return error ? error : rg_cuStreamSynchronize(d->stream);
}

int
rg_mark(rg_device *d, void **mark)
{
	ENTER(d);
	return rg_cuEventCreate(mark, 2); // it measures no time
}

int
rg_set(rg_device *d, void *mark)
{
	ENTER(d);
	return rg_cuEventRecord(mark, d->stream);
}

int
rg_await(rg_device *d, void *mark)
{
	ENTER(d);
	return rg_cuEventSynchronize(mark);
}

int
rg_unmark(rg_device *d, void *mark)
{
	ENTER(d);
	return rg_cuEventDestroy_v2(mark);
}

int
rg_load(rg_device *d, const void *cubin, void **module)
{
	ENTER(d);
	return rg_cuModuleLoadData(module, cubin);
}

int
rg_unload(rg_device *d, void *module)
{
	ENTER(d);
	return rg_cuModuleUnload(module);
}

int
rg_function(rg_device *d, void *module, const char *name, void **function)
{
	ENTER(d);
	return rg_cuModuleGetFunction(function, module, name);
}

#define MOST_ARGS 32

int
rg_launch(rg_device *d, void *function, unsigned blocks, unsigned threads, uint64_t *args, int n)
{
	void *at[MOST_ARGS];

	if (n > MOST_ARGS)
		return 1; // an invalid value
	ENTER(d);
	for (int i = 0; i < n; i++)
		at[i] = &args[i];
	return rg_cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, d->stream, at, NULL);
}

int
rg_record(rg_device *d)
{
	ENTER(d);
	return rg_cuStreamBeginCapture_v2(d->stream, 1); // of this thread alone
}

int
rg_recorded(rg_device *d, void **graph)
{
	void *captured;
	int error;

	ENTER(d);
	error = rg_cuStreamEndCapture(d->stream, &captured);
	if (error)
		return error;
	error = rg_cuGraphInstantiateWithFlags(graph, captured, 0);
	rg_cuGraphDestroy(captured);
	return error;
}

int
rg_replay(rg_device *d, void *graph)
{
	ENTER(d);
	return rg_cuGraphLaunch(graph, d->stream);
}

int
rg_forget(rg_device *d, void *graph)
{
	ENTER(d);
	return rg_cuGraphExecDestroy(graph);
}

int
rg_compile(const char *text, const char *target, int messages, char **out, size_t *bytes)
{
	// Products and sums are contracted only where a text says so: a number that two kernels compute is the same in both,
	// as the ties of a greatest number need it.
	const char *options[] = {target, "-std=c++17", "--fmad=false", "--ptxas-options=-v"};
	void *program;
	int error = rg_nvrtcCreateProgram(&program, text, "relgrad.cu", 0, NULL, NULL), failed;

	*out = NULL;
	*bytes = 0;
	if (error)
		return error;
	failed = rg_nvrtcCompileProgram(program, messages ? 4 : 3, options);
	error = failed || messages ? rg_nvrtcGetProgramLogSize(program, bytes) : rg_nvrtcGetCUBINSize(program, bytes);
	if (!error && !(*out = malloc(*bytes + 1)))
		error = 1; // NVRTC_ERROR_OUT_OF_MEMORY
	if (!error) {
		error = failed || messages ? rg_nvrtcGetProgramLog(program, *out) : rg_nvrtcGetCUBIN(program, *out);
		(*out)[*bytes] = 0;
	}
	rg_nvrtcDestroyProgram(&program);
	return failed ? failed : error;
}
