// Package cuda is the border to NVIDIA's driver and its compiler of kernels, which are found when they are needed.
//
// # What
//
// Devices lists the graphics processors. Open opens one: it allocates memory there, copies, compiles kernels from text,
// launches them, and records launches as a graph that is launched at once. Multiplier computes products of large
// matrices by cuBLASLt, where that is. Nothing is linked, and no toolkit is needed to build: libcuda.so.1, libnvrtc.so
// and libcublasLt.so are opened by name (dlopen), or by what the variables RELGRAD_CUDA_DRIVER, RELGRAD_NVRTC and
// RELGRAD_CUBLASLT name, each a list separated by colons. "off" opens none. Kernels are compiled for the very
// processor, to machine code.
//
// # Invariants
//
// A call may come from any thread: each makes the device's context that of its thread. What runs on a device runs in
// one order, that of the calls. Every address that a kernel gets comes from Allocate. Arguments of kernels are 8 bytes
// wide. Products are computed in the precision of their numbers, never in TF32 or by formats that emulate it; for
// matrices of the same shape always by the same algorithm, which is not chosen by time.
//
// # Errors
//
// An *sqlerr.Error: memory that does not suffice is 53200 and leaves the device as it was; what a kernel does wrong is
// 58000, shows late, and leaves the device unusable until the process ends, as the driver has it.
//
// # Where to add
//
// A function of the driver: one line in driver.h, a method here, and the double's function (internal/cudamock). One of
// cuBLASLt: blaslt.h.
package cuda
