//go:build cgo && unoptimized

package cpu

// Planted faults are compiled one by one, without optimization in a sixth of the time.

// #cgo CFLAGS: -O0
import "C"
