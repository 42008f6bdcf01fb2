//go:build !cgo || !linux

package blas

func open(string) (impl Interface, id, why string) {
	return nil, "", "this build cannot load libraries"
}

func openDNN(string, Interface) (impl Interface, id, why string) { return open("") }
