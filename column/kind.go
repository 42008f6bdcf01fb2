package column

import "github.com/relgrad/relgrad/kernels"

// Kind is how elements lie in memory.
type Kind uint8

const (
	F64 Kind = iota
	F32
	I64 // Int, and Bool as 0 and 1
	Str
)

// KindOf is how values of a type lie in memory.
func KindOf(t kernels.Type) Kind {
	return [...]Kind{kernels.Float64: F64, kernels.Float32: F32, kernels.Int: I64, kernels.Bool: I64,
		kernels.Text: Str}[t.Kind]
}

// Bytes returns the size of one element; texts live on the Go heap and count nothing.
func (k Kind) Bytes() int { return [...]int{8, 4, 8, 0}[k] }

// plain is the type of a register: a scalar of its kind.
func (k Kind) plain() kernels.Type {
	return kernels.Type{Kind: [...]kernels.Kind{kernels.Float64, kernels.Float32, kernels.Int, kernels.Text}[k]}
}
