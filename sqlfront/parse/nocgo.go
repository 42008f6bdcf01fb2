//go:build !cgo

package parse

// The SQL parser (libpg_query) is C. Build with CGO_ENABLED=1 and a C compiler such as gcc.
var _ = relgrad_needs_cgo__set_CGO_ENABLED_1_and_install_a_C_compiler
