//go:build cgo && unoptimized

package cpu

// Planted faults are compiled each anew, in a sixth of the time.

// #cgo CFLAGS: -O0
import "C"
