//go:build !cgo

package kernelfunc
