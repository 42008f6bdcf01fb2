//go:build !cgo

package lite

// The embedded store is SQLite, which is C: build with CGO_ENABLED=1 and a C compiler.
var _ = relgrad_needs_cgo_and_a_C_compiler
