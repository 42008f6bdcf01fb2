// The functions of the driver and of NVRTC that are called, as NVIDIA's documentation of the driver API and of NVRTC declares them.
#ifndef RELGRAD_CUDA_DRIVER_H
#define RELGRAD_CUDA_DRIVER_H

#include <stddef.h>
#include <stdint.h>

// X(result, name, arguments)
#define RG_DRIVER(X) \
	X(int, cuInit, (unsigned)) \
	X(int, cuGetErrorString, (int, const char **)) \
	X(int, cuDriverGetVersion, (int *)) \
	X(int, cuDeviceGetCount, (int *)) \
	X(int, cuDeviceGet, (int *, int)) \
	X(int, cuDeviceGetName, (char *, int, int)) \
	X(int, cuDeviceTotalMem_v2, (size_t *, int)) \
	X(int, cuDeviceGetAttribute, (int *, int, int)) \
	X(int, cuDevicePrimaryCtxRetain, (void **, int)) \
	X(int, cuDevicePrimaryCtxRelease_v2, (int)) \
	X(int, cuCtxSetCurrent, (void *)) \
	X(int, cuMemAlloc_v2, (uint64_t *, size_t)) \
	X(int, cuMemFree_v2, (uint64_t)) \
	X(int, cuMemGetInfo_v2, (size_t *, size_t *)) \
	X(int, cuMemHostAlloc, (void **, size_t, unsigned)) \
	X(int, cuMemFreeHost, (void *)) \
	X(int, cuMemsetD8Async, (uint64_t, unsigned char, size_t, void *)) \
	X(int, cuMemcpyHtoDAsync_v2, (uint64_t, const void *, size_t, void *)) \
	X(int, cuMemcpyDtoHAsync_v2, (void *, uint64_t, size_t, void *)) \
	X(int, cuStreamCreate, (void **, unsigned)) \
	X(int, cuStreamDestroy_v2, (void *)) \
	X(int, cuStreamSynchronize, (void *)) \
	X(int, cuEventCreate, (void **, unsigned)) \
	X(int, cuEventRecord, (void *, void *)) \
	X(int, cuStreamWaitEvent, (void *, void *, unsigned)) \
	X(int, cuEventSynchronize, (void *)) \
	X(int, cuEventDestroy_v2, (void *)) \
	X(int, cuModuleLoadData, (void **, const void *)) \
	X(int, cuModuleUnload, (void *)) \
	X(int, cuModuleGetFunction, (void **, void *, const char *)) \
	X(int, cuLaunchKernel, (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **)) \
	X(int, cuStreamBeginCapture_v2, (void *, int)) \
	X(int, cuStreamEndCapture, (void *, void **)) \
	X(int, cuGraphInstantiateWithFlags, (void **, void *, unsigned long long)) \
	X(int, cuGraphLaunch, (void *, void *)) \
	X(int, cuGraphExecDestroy, (void *)) \
	X(int, cuGraphDestroy, (void *))

#define RG_NVRTC(X) \
	X(int, nvrtcVersion, (int *, int *)) \
	X(const char *, nvrtcGetErrorString, (int)) \
	X(int, nvrtcCreateProgram, (void **, const char *, const char *, int, const char *const *, const char *const *)) \
	X(int, nvrtcDestroyProgram, (void **)) \
	X(int, nvrtcCompileProgram, (void *, int, const char *const *)) \
	X(int, nvrtcGetCUBINSize, (void *, size_t *)) \
	X(int, nvrtcGetCUBIN, (void *, char *)) \
	X(int, nvrtcGetProgramLogSize, (void *, size_t *)) \
	X(int, nvrtcGetProgramLog, (void *, char *))

#define RG_DECLARE(result, name, args) extern result(*rg_##name) args;
RG_DRIVER(RG_DECLARE)
RG_NVRTC(RG_DECLARE)
#undef RG_DECLARE

// rg_open_driver and rg_open_nvrtc open a library; they return NULL, or why it cannot be used, to be freed.
char *rg_open_driver(const char *name);
char *rg_open_nvrtc(const char *name);

// rg_device is a context with its streams: what is computed goes through one, what is uploaded meanwhile through the
// other. copied is behind the last of these uploads.
typedef struct {
	void *context, *stream, *copies, *copied;
} rg_device;

// These make the device's context that of the thread first, and return the driver's error, 0 if there is none.
int rg_allocate(rg_device *d, size_t bytes, uint64_t *at);
int rg_free(rg_device *d, uint64_t at);
int rg_room(rg_device *d, size_t *free, size_t *all);
int rg_fill(rg_device *d, uint64_t at, unsigned char x, size_t bytes);
// rg_pin makes memory of the host from which and to which rg_send and rg_receive copy without waiting.
int rg_pin(rg_device *d, size_t bytes, void **at);
int rg_unpin(rg_device *d, void *at);
int rg_send(rg_device *d, uint64_t to, const void *from, size_t bytes);
// rg_send_beside copies while the device computes; what is launched behind rg_join runs when that is done.
int rg_send_beside(rg_device *d, uint64_t to, const void *from, size_t bytes);
int rg_upload_beside(rg_device *d, uint64_t to, const void *from, size_t bytes);
int rg_join(rg_device *d);
int rg_receive(rg_device *d, void *to, uint64_t from, size_t bytes);
int rg_upload(rg_device *d, uint64_t to, const void *from, size_t bytes);
int rg_download(rg_device *d, void *to, uint64_t from, size_t bytes);
int rg_wait(rg_device *d);
// rg_mark makes a place in the order of what runs, rg_set moves it behind what has been launched so far.
int rg_mark(rg_device *d, void **mark);
int rg_set(rg_device *d, void *mark);
int rg_await(rg_device *d, void *mark);
int rg_unmark(rg_device *d, void *mark);
int rg_load(rg_device *d, const void *cubin, void **module);
int rg_unload(rg_device *d, void *module);
int rg_function(rg_device *d, void *module, const char *name, void **function);
// rg_launch launches blocks of threads; each of n arguments is 8 bytes.
int rg_launch(rg_device *d, void *function, unsigned blocks, unsigned threads, uint64_t *args, int n);
int rg_record(rg_device *d);
int rg_recorded(rg_device *d, void **graph);
int rg_replay(rg_device *d, void *graph);
int rg_forget(rg_device *d, void *graph);
int rg_open_device(int number, rg_device *d);
int rg_close_device(int number, rg_device *d);

// rg_compile compiles a text to machine code; *out is what is made or, where that fails or messages is set, what the
// compiler says. It is to be freed.
int rg_compile(const char *text, const char *target, int messages, char **out, size_t *bytes);

int rg_call_version(int *version);
int rg_call_count(int *n);
// rg_describe gives a device's name, memory, and compute capability (major, minor) with its multiprocessors.
int rg_describe(int number, char name[256], size_t *bytes, int at[3]);
int rg_nvrtc_version(int *major, int *minor);

const char *rg_message(int error);
const char *rg_nvrtc_message(int error);

#endif
