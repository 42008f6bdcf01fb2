package executor

import (
	"math"
)

// side is what an argument gives a chunk that is seen as m rows of n numbers.
type side uint8

const (
	whole  side = iota // a number of its own for each place
	column             // one for each row
	line               // one for each place of a row, the same in all rows
	single             // one number
)

// strides are the steps of an argument from row to row and from number to number.
func (s side) strides(n int) (row, each int) {
	switch s {
	case whole:
		return n, 1
	case column:
		return 1, 0
	case line:
		return 0, 1
	}
	return 0, 0
}

// reduction is how a chunk of m rows of n numbers is summed to a column or a line.
type reduction struct {
	m, n int
	to   side
}

// ratio is the loop of quotients that are zero where the divisor is; no kernel has its name.
const ratio = "ratio or zero"

// elem is how an element-wise kernel reads its arguments.
type elem struct {
	loop string // which, by its kernel
	size int
	each []int     // 1: element i of the result reads element i; 0: element 0 (where plain)
	at   [][]int32 // the element of the argument that each element of the result reads (where nothing else fits)

	m, n  int    // the result as m rows of n numbers (where broadcast)
	sides []side // what each argument gives them
}

func compareFloats(x, y float64) int {
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	case x == y:
		return 0
	case math.IsNaN(x) && math.IsNaN(y):
		return 0
	case math.IsNaN(x):
		return 1
	}
	return -1
}

// truths are what a condition is for each pair of truth values of its arguments; of one argument, the first.
type truths struct {
	table [3][3]tri
	plain [4]int64 // without NULL: of the second argument times two, plus the first
}

// tri is a truth value of three-valued logic.
type tri uint8

const (
	no tri = iota
	yes
	unknown
)

func truth(b bool) tri {
	if b {
		return yes
	}
	return no
}

// pairing is how dot, mse, sqnorm and norm read their operands: the elements of a times those of b, or the squares of a
// - b.
type pairing struct {
	size int
	diff bool
	from [2]source // a column that is read in place, through its index; v is nil for an operand that is a cell
	cell [2]int    // the operation's argument that it is
}

// turned is how a product of each row's vector with a matrix reads the matrix: in place, through an index. Rows that
// follow each other with one matrix, such as those of one relation, are one product.
type turned struct {
	p    product
	from source
	left bool // the matrix stands before the vector
	cell int  // a cell that it is transposed into
}

// second tells how the matrix is stored as the second operand of rows · matrix: how far its rows are apart, and whether
// it is transposed.
func (t *turned) second() (ld int, turn bool) {
	switch {
	case !t.left && !t.p.bt:
		return t.p.n, false
	case t.left && t.p.at:
		return t.p.m, false
	}
	return t.p.k, true
}

// smallMatrix is up to how many numbers a matrix is transposed before it multiplies rows: with larger ones libraries do
// that as well.
const smallMatrix = 1 << 14
