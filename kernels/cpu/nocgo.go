//go:build !cgo

package cpu

import (
	"sync/atomic"
	"time"
)

const native = false

// Name is the form of the loops in use.
func Name() string { return "go" }

func cBinary[T Float](Op, int, int, []T, int, int, []T, int, int, []T)            {}
func cUnary[T Float](Op, []T, []T) bool                                           { return false }
func cSelect[T Float](int, int, []T, int, int, []T, int, int, []T, int, int, []T) {}
func cTranspose[T Float](int, int, []T, int, []T, int)                            {}
func cDot[T Float](int, int, []T, int, []T, int, []float64)                       {}
func cAddRows[T Float](int, int, []T, []float64)                                  {}
func cWiden([]float32, []float64)                                                 {}
func cNarrow([]float64, []float32)                                                {}
func cPairs[T Float](int, int, bool, Rows[T], Rows[T], []float64)                 {}
func cSpMM[T Float](int, []int32, int, []T, Rows[T], Rows[T], int, []T)           {}
func cAddAt[T Float]([]int32, []int32, int, []T, []T)                             {}
func cGather[T Float](int, []T, []int32, []T)                                     {}
func cSoftmax[T Float](int, int, []T, T, []T)                                     {}
func cSoftmaxGrad[T Float](int, int, []T, []T, T, []T)                            {}
func cLogSumExp[T Float](int, int, []T, []float64, []float64)                     {}
func cDropMask[T Float](int, int, int64, []uint64, float64, []T)                  {}
func cUniform(int, int, int64, []uint64, []float64)                               {}
func cTally([]int32, int32, []int32) bool                                         { return false }
func cOffsets(int, int, []int32, []int32, []int32) (int, int)                     { return 0, 0 }
func cCross(int, int, []int32, []int32)                                           {}
func cPlace([]int32, int, []int32, []int32)                                       {}
func cPlaces([]int32, []int64, int64, uint64, int32) bool                         { return false }
func cThrough([]int32, []int32, []int32)                                          {}
func cBelow(int64, []float64, []int64)                                            {}
func cMix([]uint64, []int64)                                                      {}

func limit(int) int { return 0 }

func cProducts[T Float](int, int, int, int, []T, int, []T, int, []T, int) {}

func cFinite[T Float]([]T) bool                 { return false }
func cSGD[T Float](_, _, _ T, _, _ []T)         {}
func cAdam[T Float](_ *Adam[T], _, _, _, _ []T) {}

func differs(state *atomic.Uint32, is uint32, _ time.Duration) bool { return state.Load() != is }
