//go:build cgo

package cpu

/*
#cgo CFLAGS: -std=gnu11
#cgo LDFLAGS: -lm
#include "cpu.h"
*/
import "C"

import (
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/relgrad/relgrad/tensor"
)

const native = true

// Name is the form of the loops in use.
func Name() string { return [...]string{"C baseline", "C AVX2", "C AVX-512"}[C.rg_level()] }

// ptr is the address of a slice's first element, nil for none.
func ptr[T any](s []T) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(s)) }

// limit lowers the instruction set for tests and returns the one in use.
func limit(level int) int { return int(C.rg_limit(C.int(level))) }

func f32[T Float](s []T) *C.float { return (*C.float)(ptr(s)) }

func f64[T Float](s []T) *C.double { return (*C.double)(ptr(s)) }

func cBinary[T Float](op Op, rows, size int, a []T, ar, ae int, b []T, br, be int, out []T) {
	if single[T]() {
		C.rg_binary_f32(C.int(op), C.long(rows), C.long(size), f32(a), C.long(ar), C.int(ae), f32(b),
			C.long(br), C.int(be), f32(out))
		return
	}
	C.rg_binary_f64(C.int(op), C.long(rows), C.long(size), f64(a), C.long(ar), C.int(ae), f64(b),
		C.long(br), C.int(be), f64(out))
}

func cUnary[T Float](op Op, a, out []T) bool {
	if single[T]() {
		return C.rg_unary_f32(C.int(op), C.long(len(a)), f32(a), f32(out)) != 0
	}
	return C.rg_unary_f64(C.int(op), C.long(len(a)), f64(a), f64(out)) != 0
}

func cSelect[T Float](rows, size int, m []T, mr, me int, a []T, ar, ae int, b []T, br, be int, out []T) {
	if single[T]() {
		C.rg_select_f32(C.long(rows), C.long(size), f32(m), C.long(mr), C.int(me), f32(a), C.long(ar), C.int(ae), f32(b),
			C.long(br), C.int(be), f32(out))
		return
	}
	C.rg_select_f64(C.long(rows), C.long(size), f64(m), C.long(mr), C.int(me), f64(a), C.long(ar), C.int(ae), f64(b),
		C.long(br), C.int(be), f64(out))
}

func cTranspose[T Float](rows, cols int, x []T, ldx int, out []T, ldo int) {
	if single[T]() {
		C.rg_transpose_f32(C.long(rows), C.long(cols), f32(x), C.long(ldx), f32(out), C.long(ldo))
		return
	}
	C.rg_transpose_f64(C.long(rows), C.long(cols), f64(x), C.long(ldx), f64(out), C.long(ldo))
}

func cDot[T Float](rows, size int, a []T, ar int, b []T, br int, out []float64) {
	if single[T]() {
		C.rg_dot_f32(C.long(rows), C.long(size), f32(a), C.long(ar), f32(b), C.long(br), f64(out))
		return
	}
	C.rg_dot_f64(C.long(rows), C.long(size), f64(a), C.long(ar), f64(b), C.long(br), f64(out))
}

func cAddRows[T Float](rows, size int, a []T, acc []float64) {
	if single[T]() {
		C.rg_add_rows_f32(C.long(rows), C.long(size), f32(a), f64(acc))
		return
	}
	C.rg_add_rows_f64(C.long(rows), C.long(size), f64(a), f64(acc))
}

func cWiden(x []float32, out []float64)  { C.rg_convert_f64(C.long(len(x)), f32(x), f64(out)) }
func cNarrow(x []float64, out []float32) { C.rg_convert_f32(C.long(len(x)), f64(x), f32(out)) }

func cPairs[T Float](rows, size int, diff bool, a, b Rows[T], out []float64) {
	d := C.int(0)
	if diff {
		d = 1
	}
	if single[T]() {
		C.rg_pairs_f32(C.long(rows), C.long(size), d, f32(a.X), i32(a.At), C.long(a.Step), f32(b.X), i32(b.At),
			C.long(b.Step), f64(out))
		return
	}
	C.rg_pairs_f64(C.long(rows), C.long(size), d, f64(a.X), i32(a.At), C.long(a.Step), f64(b.X), i32(b.At),
		C.long(b.Step), f64(out))
}

func i32(s []int32) *C.int32_t { return (*C.int32_t)(ptr(s)) }

func cSpMM[T Float](groups int, start []int32, base int, w []T, x, y Rows[T], size int, out []T) {
	held := 0
	if y.Held {
		held = 1
	}
	if single[T]() {
		C.rg_spmm_f32(C.long(groups), i32(start), C.long(base), f32(w), f32(x.X), i32(x.At), C.int(x.far()), f32(y.X),
			i32(y.At), C.int(y.far()), C.int(held), C.long(size), f32(out))
		return
	}
	C.rg_spmm_f64(C.long(groups), i32(start), C.long(base), f64(w), f64(x.X), i32(x.At), C.int(x.far()), f64(y.X),
		i32(y.At), C.int(y.far()), C.int(held), C.long(size), f64(out))
}

func cAddAt[T Float](to, at []int32, size int, x, sum []T) {
	if single[T]() {
		C.rg_add_at_f32(C.long(len(to)), i32(to), i32(at), C.long(size), f32(x), f32(sum))
		return
	}
	C.rg_add_at_f64(C.long(len(to)), i32(to), i32(at), C.long(size), f64(x), f64(sum))
}

func cGather[T Float](size int, x []T, at []int32, out []T) {
	if single[T]() {
		C.rg_gather_f32(C.long(len(at)), C.long(size), f32(x), i32(at), f32(out))
		return
	}
	C.rg_gather_f64(C.long(len(at)), C.long(size), f64(x), i32(at), f64(out))
}

func cSoftmax[T Float](rows, size int, x []T, by T, out []T) {
	if single[T]() {
		C.rg_softmax_f32(C.long(rows), C.long(size), f32(x), C.float(by), f32(out))
		return
	}
	C.rg_softmax_f64(C.long(rows), C.long(size), f64(x), C.double(by), f64(out))
}

func cSoftmaxGrad[T Float](rows, size int, y, g []T, by T, out []T) {
	if single[T]() {
		C.rg_softmax_grad_f32(C.long(rows), C.long(size), f32(y), f32(g), C.float(by), f32(out))
		return
	}
	C.rg_softmax_grad_f64(C.long(rows), C.long(size), f64(y), f64(g), C.double(by), f64(out))
}

func cLogSumExp[T Float](rows, size int, x []T, top, out []float64) {
	if single[T]() {
		C.rg_logsumexp_f32(C.long(rows), C.long(size), f32(x), f64(top), f64(out))
		return
	}
	C.rg_logsumexp_f64(C.long(rows), C.long(size), f64(x), f64(top), f64(out))
}

func cDropMask[T Float](rows, size int, seed int64, key []uint64, p float64, out []T) {
	limit, keep, k := C.uint32_t(tensor.Threshold(p)), 1/(1-p), (*C.uint64_t)(ptr(key))
	if single[T]() {
		C.rg_drop_mask_f32(C.long(rows), C.long(size), C.uint64_t(seed), k, limit, C.float(keep), f32(out))
		return
	}
	C.rg_drop_mask_f64(C.long(rows), C.long(size), C.uint64_t(seed), k, limit, C.double(keep), f64(out))
}

func cUniform(rows, size int, seed int64, key []uint64, out []float64) {
	C.rg_uniform_f64(C.long(rows), C.long(size), C.uint64_t(seed), (*C.uint64_t)(ptr(key)), f64(out))
}

func cTally(codes []int32, last int32, count []int32) bool {
	return C.rg_tally(C.long(len(codes)), i32(codes), C.int32_t(last), (*C.int32_t)(ptr(count))) != 0
}

func cOffsets(span, pieces int, count, start, rank []int32) (groups, most int) {
	var top C.int32_t
	n := C.rg_offsets(C.long(span), C.long(pieces), (*C.int32_t)(ptr(count)), (*C.int32_t)(ptr(start)),
		(*C.int32_t)(ptr(rank)), &top)
	return int(n), int(top)
}

func cCross(lo, each int, first, second []int32) {
	C.rg_cross(C.long(lo), C.long(len(first)), C.long(each), (*C.int32_t)(ptr(first)), (*C.int32_t)(ptr(second)))
}

func cPlace(codes []int32, first int, at, order []int32) {
	C.rg_place(C.long(len(codes)), i32(codes), C.int32_t(first), (*C.int32_t)(ptr(at)), (*C.int32_t)(ptr(order)))
}

func cPlaces(p []int32, x []int64, low int64, count uint64, first int32) bool {
	return C.rg_places(C.long(len(p)), (*C.int64_t)(ptr(x)), C.int64_t(low), C.uint64_t(count), C.int32_t(first),
		(*C.int32_t)(ptr(p))) != 0
}

func cThrough(out, a, b []int32) {
	C.rg_through(C.long(len(a)), i32(a), i32(b), (*C.int32_t)(ptr(out)))
}

func cBelow(n int64, u []float64, out []int64) {
	C.rg_below(C.long(len(u)), C.int64_t(n), f64(u), (*C.int64_t)(ptr(out)))
}

func cMix(key []uint64, x []int64) {
	C.rg_mix(C.long(len(key)), (*C.int64_t)(ptr(x)), (*C.uint64_t)(ptr(key)))
}

func cProducts[T Float](rows, m, k, n int, a []T, ar int, b []T, br int, out []T, or int) {
	if single[T]() {
		C.rg_products_f32(C.long(rows), C.long(m), C.long(k), C.long(n), f32(a), C.long(ar), f32(b),
			C.long(br), f32(out), C.long(or))
		return
	}
	C.rg_products_f64(C.long(rows), C.long(m), C.long(k), C.long(n), f64(a), C.long(ar), f64(b),
		C.long(br), f64(out), C.long(or))
}

func cFinite[T Float](x []T) bool {
	if single[T]() {
		return C.rg_finite_f32(C.long(len(x)), f32(x)) != 0
	}
	return C.rg_finite_f64(C.long(len(x)), f64(x)) != 0
}

func cSGD[T Float](lr, decay, scale T, g, p []T) {
	if single[T]() {
		C.rg_sgd_f32(C.long(len(p)), C.float(lr), C.float(decay), C.float(scale), f32(g), f32(p))
		return
	}
	C.rg_sgd_f64(C.long(len(p)), C.double(lr), C.double(decay), C.double(scale), f64(g), f64(p))
}

func cAdam[T Float](a *Adam[T], g, m, s, p []T) {
	if single[T]() {
		C.rg_adam_f32(C.long(len(p)), C.float(a.Rate), C.float(a.Correct), C.float(a.Beta1), C.float(a.Beta2),
			C.float(a.Epsilon), C.float(a.Decay), C.float(a.Scale), f32(g), f32(m), f32(s), f32(p))
		return
	}
	C.rg_adam_f64(C.long(len(p)), C.double(a.Rate), C.double(a.Correct), C.double(a.Beta1), C.double(a.Beta2),
		C.double(a.Epsilon), C.double(a.Decay), C.double(a.Scale), f64(g), f64(m), f64(s), f64(p))
}

// differs watches state until it is no longer is, at most for so long, and reports whether it has changed. Go's
// scheduler sees this as a call of C.
func differs(state *atomic.Uint32, is uint32, most time.Duration) bool {
	C.rg_differs((*C.uint32_t)(unsafe.Pointer(state)), C.uint32_t(is), C.int64_t(most))
	return state.Load() != is // makes what was written before it visible
}
