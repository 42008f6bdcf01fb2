package device

import "math"

// Side is what an argument gives a chunk that is seen as m rows of n numbers.
type Side uint8

const (
	Whole  Side = iota // a number of its own for each place
	Column             // one for each row
	Line               // one for each place of a row, the same in all rows
	Single             // one number
)

// Strides are the steps of an argument from row to row and from number to number.
func (s Side) Strides(n int) (row, each int) {
	switch s {
	case Whole:
		return n, 1
	case Column:
		return 1, 0
	case Line:
		return 0, 1
	}
	return 0, 0
}

// Reduction is how a chunk of m rows of n numbers is summed to a column or a line.
type Reduction struct {
	M, N int
	To   Side
}

// Ratio is the loop of quotients that are zero where the divisor is; no kernel has its name.
const Ratio = "ratio or zero"

// Elem is how an element-wise kernel reads its arguments.
type Elem struct {
	Loop string // which, by its kernel
	Size int
	Each []int     // 1: element i of the result reads element i; 0: element 0 (where plain)
	At   [][]int32 // the element of the argument that each element of the result reads (where nothing else fits)

	M, N  int    // the result as m rows of n numbers (where broadcast)
	Sides []Side // what each argument gives them
}

func CompareFloats(x, y float64) int {
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

// Truths are what a condition is for each pair of truth values of its arguments; of one argument, the first.
type Truths struct {
	Table [3][3]Tri
	Plain [4]int64 // without NULL: of the second argument times two, plus the first
}

// Tri is a truth value of three-valued logic.
type Tri uint8

const (
	No Tri = iota
	Yes
	Unknown
)

func Truth(b bool) Tri {
	if b {
		return Yes
	}
	return No
}

// Pairing is how dot, mse, sqnorm and norm read their operands: the elements of a times those of b, or the squares of a
// - b.
type Pairing struct {
	Size int
	Diff bool
	From [2]Source // a column that is read in place, through its index; v is nil for an operand that is a cell
	Cell [2]int    // the operation's argument that it is
}

// Turned is how a product of each row's vector with a matrix reads the matrix: in place, through an index. Rows that
// follow each other with one matrix, such as those of one relation, are one product.
type Turned struct {
	P    Product
	From Source
	Left bool // the matrix stands before the vector
	Cell int  // a cell that it is transposed into
}

// Second tells how the matrix is stored as the second operand of rows · matrix: how far its rows are apart, and whether
// it is transposed.
func (t *Turned) Second() (ld int, turn bool) {
	switch {
	case !t.Left && !t.P.Bt:
		return t.P.N, false
	case t.Left && t.P.At:
		return t.P.M, false
	}
	return t.P.K, true
}

// SmallMatrix is up to how many numbers a matrix is transposed before it multiplies rows: with larger ones libraries do
// that as well.
const SmallMatrix = 1 << 14
