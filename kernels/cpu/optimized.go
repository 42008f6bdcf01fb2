//go:build cgo && !unoptimized

package cpu

// #cgo CFLAGS: -O3
import "C"
