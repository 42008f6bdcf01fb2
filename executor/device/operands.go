package device

import "math"

// Side says how an argument fits to a chunk that is seen as m rows of n numbers.
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

// Ratio is the name of the loop for x/y that is zero where y is. It is no kernel's name.
const Ratio = "ratio or zero"

// Elem is how an element-wise kernel reads its arguments.
type Elem struct {
	Loop string // the loop's name, which is its kernel's
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

// Truths is the truth table of a condition of one or two arguments. Of one, only the first index counts.
type Truths struct {
	Table [3][3]Tri
	Plain [4]int64 // without NULL: indexed by the second argument times two, plus the first
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

// Pairing says how dot, mse, sqnorm and norm read their operands: a number times its partner, or with Diff the square
// of their difference.
type Pairing struct {
	Size int
	Diff bool
	From [2]Source // columns that are read in place, through their indexes; V is nil for an operand in a cell
	Cell [2]int    // else the operation's argument that is the operand
}

// Turned says how a product of each row's vector with a matrix reads the matrix: in place, through an index.
// Consecutive rows with the same matrix, such as those of one relation, are multiplied at once.
type Turned struct {
	P    Product
	From Source
	Left bool // the matrix stands before the vector
	Cell int  // the cell into which it is transposed
}

// Second returns how the matrix is stored as the second operand of rows · matrix: the distance of its rows, and whether
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

// SmallMatrix is the largest size, in numbers, of a matrix that is transposed before it multiplies rows. Libraries
// transpose larger ones themselves.
const SmallMatrix = 1 << 14
