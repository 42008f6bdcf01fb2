package device

import (
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/executor/values"
)

// AddRows computes x + y[·] + z[·] in the memory of the sum x, which nothing else reads: rows of x that have a row in
// neither y nor z, nearly all of them, stay as they are.
type AddRows struct {
	Base *values.Val // the sum
	From []Source
	Rows int // that something is added to
}

// Adding is a form of sum whose rows need not be made one by one.
type Adding struct {
	How   string
	Vals  []*values.Val // the results of the tree, in the kind of the sum: scalar factors first
	Also  []*values.Val // columns that are read in place
	Index []*values.Val // those of them that are read through an index
	Near  []bool        // which of also something else in the tree has just read
	Flops float64       // per row, besides the tree's

	Scalars []values.Factor // by which chunks are weighted
	From    []Source        // the chunk, or two of which it is the difference, where they are read in place
	Terms   []OuterTerm     // outer products that are summed instead
}

// InParts tells that accumulators hold single precision, and double precision only where there are too many rows for
// it.
func (a *Adding) InParts(v *values.Val) bool {
	return a != nil && a.Terms != nil && column.KindOf(v.Type) == column.F32
}

// OuterTerm is xᵀ·y for each row, times scalars; x and y are vectors, or matrices with as many rows.
type OuterTerm struct {
	Scalars []values.Factor
	X, Y    *values.Val
	Each    int // rows of a matrix
}

// Chain is over how many rows sums run in single precision.
const Chain = 256

// Fused is the pass: a tree whose results are stored or summed.
type Fused struct{ Members []*Member }

// Member is a val of the pass.
type Member struct {
	V    *values.Val
	How  string          // the lowering, for plans
	Base int             // its first result in the tree
	Sum  *Adding         // how rows are added, nil: those of the result are
	Own  bool            // its cell is no other member's, so that it may lie in the result's memory
	Runs *structure.Runs // of a sum over rows that are in runs of one group, nil: of no such sum
}

// Partials is how many bytes of partial sums the lanes of a pass hold for the aggregate v, and at least one lane.
func Partials(v *values.Val) int {
	lanes := PassLanes(v.Type.Size() * v.Groups.Out.N)
	each := min(v.Groups.Out.N, (v.Groups.In.N+lanes-1)/lanes) // groups that a lane meets
	return 8 * v.Type.Size() * each * lanes
}

// PassLanes is the number of lanes of a pass with sums of so many numbers.
func PassLanes(numbers int) int { return max(8, min(256, 1<<20/max(numbers, 1))) }

// GEMM lowers a product of few but large matrices: workers take panels of rows of the result.
type GEMM struct {
	P        Product
	X, Y     *values.Val
	Rows     int // of a panel
	Products int // of matrices of their own
}

// LeastPanel is the number of rows or columns down to which a product is cut so that workers can share it.
const LeastPanel = 128

// PanelWidth is how many columns of a result a panel has, where there are few.
const PanelWidth = 512

// Across cuts so many columns of some results with so many rows into panels: wide ones, so that the library lays an
// operand out for itself as rarely as it may, where there are enough of them for the workers.
func Across(results, panels, columns int) (n, width int) {
	width = 1024
	if results*panels*((columns+width-1)/width) < 4 {
		width = PanelWidth
	}
	return (columns + width - 1) / width, width
}

// Outers lowers a large sum of outer products: workers take tiles of the result.
type Outers struct {
	X, Y *values.Val
	P, Q int
}

const OutersTile = 512 // rows of a tile

// Tiles is how many tiles the result is cut into, down and across, and how wide they are.
func (o *Outers) Tiles() (down, n, width int) {
	down = (o.P + OutersTile - 1) / OutersTile
	n, width = Across(1, down, o.Q)
	return down, n, width
}

// ProductRows is over how many rows a large sum runs in single precision: as long as the sums are that a product of
// such matrices makes anyway.
const ProductRows = 1024

func InPartsBytes(k column.Kind, n int) int {
	return column.Aligned(n*k.Bytes()) + column.Aligned(n*column.F64.Bytes())
}

// NarrowProduct lowers products of a wide matrix and a narrow one of which either is transposed, such as the heads'
// projections of attention. Libraries lay a transposed operand out badly beside a narrow one. The wide matrix is
// therefore taken as it is stored, on the side of the product where it needs no turning, and what is narrow is turned
// instead: the other operand, and the result where it comes out transposed.
type NarrowProduct struct {
	Wide, Narrow *values.Val
	Side, Long   int  // of the narrow operand and of the result: narrow numbers beside so many
	Inner        int  // numbers that are summed
	Left         bool // the wide matrix stands left of the narrow one
	Turn, Back   bool // the narrow operand is turned, and the result
	Rows         int  // of the result's long side in a panel
}

// Scratch is how many numbers a worker needs: the narrow operand turned, and a panel of the result before it is.
func (s *NarrowProduct) Scratch() (operand, result int) {
	if s.Turn {
		operand = s.Side * s.Inner
	}
	if s.Back {
		result = s.Side * min(s.Rows, s.Long)
	}
	return operand, result
}

// ProductSum lowers a sum of products of matrices by group, the sum over blocks of a matrix product in blocks: workers
// take panels of rows of the groups' results, into which the products of the group's rows are added one after the
// other. The operands are read in place, through their indexes.
type ProductSum struct {
	Product *values.Val
	P       Product
	X, Y    Source
	Down    int // panels of a result
	Panel   int // rows of one
	Long    int // tuning.Products.LongSum
}

// InOwnPrecision is how many products are added in the kind of the result.
func (s *ProductSum) InOwnPrecision() int { return max(s.Long/s.P.K, 1) }

// Row is the row of the column that row r reads.
func (s Source) Row(r int) int {
	if s.Idx == nil {
		return r
	}
	return int(s.Idx.At[r])
}

// Relayout is the instruction that copies.
type Relayout struct {
	L    *values.Layout
	Back bool
}

// Product is batch products of m×k by k×n per row.
type Product struct {
	Batch, M, K, N int
	At, Bt         bool // the operand is stored transposed
}

// SpMM lowers sum(scalars * chunk[index]) to sparse times dense, or sum(scalars * (chunk[index] - chunk[index])): the
// chunks are read in place, through the index, and only the weights are computed row by row.
type SpMM struct {
	X     []Source        // the chunks; of two, the difference
	By    []values.Factor // the weights: results of the tree
	Cuts  [][2]int        // per lane: its groups
	Buf   []int           // bytes of weights that a lane needs at most
	Files FiledRows
}

// Source is a column in memory and the rows of it that are read; nil: row r is row r.
type Source struct {
	V    *values.Val
	Idx  *structure.Index
	File *values.RowFile // that SpMM reads the rows from; nil: from memory
	Held []int32         // SpMM's second rows where those of a group are one: it; idx is nil then
}

// SpMMBlocks is SpMM over groups whose rows read a column that is larger than the second-level cache, each row of it
// often: lanes of groups take it a block at a time. The structure phase sorts a lane's rows by block, then group.
type SpMMBlocks struct {
	By     []values.Factor
	X      Source
	Order  *structure.Index // of the rows, as lanes read them
	Cuts   [][2]int         // per lane: its groups
	Start  [][]int32        // per lane: where the rows of each block and group of it begin, and their end
	Blocks int
	Most   int // rows of a lane's block at most
	Wide   int // groups of a lane at most
}

// Scratch is where a block's sums lie in a worker's memory, behind the weights, and where they end.
func (s *SpMMBlocks) Scratch(in *Instr) (part, end int) {
	bytes := column.KindOf(in.V.Type).Bytes()
	part = column.Aligned(in.T.Bytes) + column.Aligned(s.Most*bytes)
	return part, part + column.Aligned(s.Wide*in.V.Type.Size()*bytes)
}

// FiledRows is how SpMM reads rows of columns in files: a piece of them at a time is copied to a worker's memory.
type FiledRows struct {
	Own   []int32 // 0, 1, …: the rows of a piece; nil: no column lies in a file
	Piece int     // bytes of one
	// bytes is what a worker needs for the pieces, and for the sums of a group that is larger than one; they count
	// under any budget
	Bytes int
}
