// Package cuda is the device of NVIDIA's graphics processors: it writes a kernel for each instruction.
//
// # What
//
// Prepare translates instructions to texts of kernels (text.go, ops.go, lanes.go, sums.go), which kernels/cuda
// compiles for the processor, once for each text: no size of a table stands in one. A kernel reads where its columns
// lie, and how many rows they have, from its words, which are uploaded when the list is prepared. A map computes its
// numbers each by a thread. What several numbers of a row need, such as a softmax, is first computed for a tile of rows
// and lies in shared memory. Sums are cut into parts of fixed length; each is summed by a block, or number by number by
// a thread, in double precision and in the order of the rows, and parts are added in order. Large products are calls of
// cuBLASLt (library.go) where that is there, with a kernel that adds the parts of long sums.
//
// What the device has no kernel for runs on the processors instead (Code.Elsewhere lists it), with copies before and
// behind it. When a kernel finds something that is an error, such as an integer that overflows, the list runs again on
// the processors, which say what it is.
//
// # Invariants
//
// Results depend neither on the number of multiprocessors nor on the order of threads: no number is added by an atomic
// operation. Tables and structure that instructions read are uploaded when a list is prepared, and stay as they are
// until it is closed. From the second run on the kernels of a list are launched at once.
//
// # Errors
//
// Those of kernels/cuda, of the processors' device, and device.NotFinite.
//
// # Where to add
//
// An operation of a tree: a line of numbers in ops.go, of sums in lanes.go, or a case of lane there. An
// element-wise kernel: a line of elements.go; a kernel without an operation: a line of references in lanes.go.
package cuda
