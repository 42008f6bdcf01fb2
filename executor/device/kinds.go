package device

import (
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/executor/values"
	"github.com/relgrad/relgrad/ra"
)

// AddRows computes x + y[·] + z[·] in the memory of the sum x, which nothing else reads. Nearly all rows of x have a
// row in neither y nor z: they are not touched.
type AddRows struct {
	Base *values.Val // the sum
	From []Source
	Rows int // that have a row in some of From
}

// Adding says how a sum adds its rows without computing each of them first.
type Adding struct {
	How   string
	Vals  []*values.Val // the tree's results, in the kind of the sum: scalar factors first
	Also  []*values.Val // columns that are read in place
	Index []*values.Val // those of Also that are read through an index
	Near  []bool        // per column of Also: something else in the tree has just read these rows
	Flops float64       // per row, without those of the tree

	Scalars []values.Factor // by which chunks are weighted
	From    []Source        // the chunk that is read in place; of two, their difference
	Terms   []OuterTerm     // outer products that are summed instead
}

// InParts reports whether accumulators sum in single precision, over at most Chain rows at a time, and add these sums
// in double precision.
func (a *Adding) InParts(v *values.Val) bool {
	return a != nil && a.Terms != nil && column.KindOf(v.Type) == column.F32
}

// OuterTerm is xᵀ·y for each row, times scalars; x and y are vectors, or matrices with equally many rows.
type OuterTerm struct {
	Scalars []values.Factor
	X, Y    *values.Val
	Each    int // rows of a matrix
}

// Chain is the number of rows over which sums run in single precision at most.
const Chain = 256

// Fused is a pass: one tree whose results are stored or summed, each for a member.
type Fused struct{ Members []*Member }

// Member is a val that a pass computes.
type Member struct {
	V    *values.Val
	How  string          // the lowering, for plans
	Base int             // its first result in the tree
	Sum  *Adding         // how rows are added; nil: the tree's result is added
	Own  bool            // no other member has its cell, so it may be computed in the result's memory
	Runs *structure.Runs // the runs of rows of one group, for a sum whose rows are sorted by group; else nil
}

// Partials is the number of bytes of partial sums that the lanes of a pass hold for the aggregate v.
func Partials(v *values.Val) int {
	lanes := PassLanes(v.Type.Size() * v.Groups.Out.N)
	each := min(v.Groups.Out.N, (v.Groups.In.N+lanes-1)/lanes) // groups that a lane meets
	return 8 * v.Type.Size() * each * lanes
}

// PassLanes is the number of lanes of a pass whose sums have so many numbers.
func PassLanes(numbers int) int { return max(8, min(256, 1<<20/max(numbers, 1))) }

// GEMM computes few products of large matrices. Workers take panels of rows of the result.
type GEMM struct {
	P        Product
	X, Y     *values.Val
	Rows     int // of a panel
	Products int // how many products there are, each of its own matrices
}

// LeastPanel is the least number of rows or columns of a part into which a product is cut for several workers.
const LeastPanel = 128

// PanelWidth is the number of columns of a result's panel, if wider panels would be too few for the workers.
const PanelWidth = 512

// Across cuts the columns of each result into n panels of this width. panels is how many panels of rows a result has.
// Wide panels are better, as the library packs an operand again for each; but there should be enough for the workers.
func Across(results, panels, columns int) (n, width int) {
	width = 1024
	if results*panels*((columns+width-1)/width) < 4 {
		width = PanelWidth
	}
	return (columns + width - 1) / width, width
}

// Outers computes a large sum of outer products. Workers take tiles of the result.
type Outers struct {
	X, Y *values.Val
	P, Q int
}

const OutersTile = 512 // rows of a tile

// Tiles returns into how many tiles the result is cut, down and across, and how wide they are.
func (o *Outers) Tiles() (down, n, width int) {
	down = (o.P + OutersTile - 1) / OutersTile
	n, width = Across(1, down, o.Q)
	return down, n, width
}

// ProductRows is the number of rows over which a large sum runs in single precision. Products of such large matrices
// have sums of this length in any case.
const ProductRows = 1024

func InPartsBytes(k column.Kind, n int) int {
	return column.Aligned(n*k.Bytes()) + column.Aligned(n*column.F64.Bytes())
}

// NarrowProduct computes products of a wide matrix and a narrow one, either of them transposed, such as the heads'
// projections in attention. Libraries are slow at packing a transposed operand beside a narrow one. So the wide matrix
// is used as it is stored, on the side where that is not transposed. The narrow operand is transposed instead, and the
// result where it comes out transposed.
type NarrowProduct struct {
	Of           *GEMM // the products, as a device without such a form computes them
	Wide, Narrow *values.Val
	Side, Long   int  // the narrow operand's and the result's short and long side
	Inner        int  // length of the sums
	Left         bool // the wide matrix stands left of the narrow one
	Turn, Back   bool // the narrow operand is transposed; the result is
	Rows         int  // rows of a panel, along the result's long side
}

// Scratch is how many numbers a worker needs for the transposed narrow operand and for a panel of a transposed result.
func (s *NarrowProduct) Scratch() (operand, result int) {
	if s.Turn {
		operand = s.Side * s.Inner
	}
	if s.Back {
		result = s.Side * min(s.Rows, s.Long)
	}
	return operand, result
}

// ProductSum computes sums of products of matrices by group, as in the product of matrices that are stored in blocks.
// Workers take panels of rows of the groups' results and add the products of the group's rows one after the other. The
// operands are read in place, through their indexes.
type ProductSum struct {
	Product *values.Val
	P       Product
	X, Y    Source
	Down    int // panels of a result
	Panel   int // rows of a panel
	Long    int // tuning.Products.LongSum
}

// InOwnPrecision is the number of products that are added in the result's own kind, before double precision takes over.
func (s *ProductSum) InOwnPrecision() int { return max(s.Long/s.P.K, 1) }

// Row is the column's row that row r of the reader reads.
func (s Source) Row(r int) int {
	if s.Idx == nil {
		return r
	}
	return int(s.Idx.At[r])
}

// Relayout copies a column to another chunking, or back.
type Relayout struct {
	L    *values.Layout
	Back bool
}

// Product is the shape of a product: per row, Batch products of m×k by k×n.
type Product struct {
	Batch, M, K, N int
	At, Bt         bool // the operand is stored transposed
}

// SpMM computes sum(scalars * chunk[index]), a sparse matrix times a dense one, or sum(scalars * (chunk[index] -
// chunk[index])). The chunks are read in place through the index; only the weights are computed row by row.
type SpMM struct {
	X     []Source        // the chunks; of two, the difference
	By    []values.Factor // the weights: results of the tree
	Cuts  [][2]int        // per lane: its groups
	Buf   []int           // bytes of weights that a lane needs at most
	Files FiledRows
}

// Source is a column in memory that is read through an index; nil: row r reads row r.
type Source struct {
	V    *values.Val
	Idx  *structure.Index
	File *values.RowFile // the file from which SpMM reads the rows; nil: from memory
	Held []int32         // per group the row of SpMM's second chunk, where all its rows read one; Idx is nil then
}

// SpMMBlocks is SpMM for a column larger than the second-level cache whose rows are each read often. A lane of groups
// reads the column one block after the other. The structure phase sorts a lane's rows by block, then by group.
type SpMMBlocks struct {
	By     []values.Factor
	X      Source
	Order  *structure.Index // of the rows, in the order in which lanes read them
	Cuts   [][2]int         // per lane: its groups
	Start  [][]int32        // per lane: where the rows of each block and group begin, and where the last end
	Blocks int
	Most   int // most rows of a block in a lane
	Wide   int // most groups in a lane
}

// Scratch returns where a block's sums begin and end in a worker's memory, behind the weights, in bytes.
func (s *SpMMBlocks) Scratch(in *Instr) (part, end int) {
	bytes := column.KindOf(in.V.Type).Bytes()
	part = column.Aligned(in.T.Bytes) + column.Aligned(s.Most*bytes)
	return part, part + column.Aligned(s.Wide*in.V.Type.Size()*bytes)
}

// FiledRows says how SpMM reads rows of columns in files: a piece of rows after the other is copied to a worker's
// memory.
type FiledRows struct {
	Own   []int32 // 0, 1, …: the rows of a piece; nil: no column lies in a file
	Piece int     // bytes of a piece
	// what a worker needs for pieces, and for the sums of a group that is larger than a piece, in bytes; counted in any
	// budget
	Bytes int
}

// Windowed sums or counts a column over a frame of rows for each row. A frame that begins with its partition is a
// running sum; of a number of rows, sums over parts of the frame are joined. Nothing is ever subtracted.
type Windowed struct {
	Order *structure.Order
	Frame ra.Frame
	Block int // rows of a block of running sums: its sum is taken first, so that workers can go on from all blocks
}

// Running reports whether frames begin with their partitions.
func (w *Windowed) Running() bool { return w.Frame.Lo == -ra.Unbounded }

// Width bounds the number of rows of a frame that is a number of rows.
func (w *Windowed) Width() int {
	return int(max(min(w.Frame.Hi-w.Frame.Lo+1, int64(w.Order.Longest())), 0))
}

// Lane is the number of rows that a worker takes at once; it must be much longer than a frame.
func (w *Windowed) Lane() int {
	if w.Running() {
		return w.Block
	}
	return max(w.Block, 4*w.Width())
}

// Scratch is what a worker needs for rows of this size, in bytes: the sum of each end of a part of the frame, and its
// number of rows.
func (w *Windowed) Scratch(size int) int {
	if w.Running() {
		return 0
	}
	return 8 * w.Width() * (size + 1)
}

// Carried is what the sums of blocks take, in bytes.
func (w *Windowed) Carried(size int) int {
	if !w.Running() {
		return 0
	}
	return 8 * (w.Order.Space.N/w.Block + 2) * (size + 1)
}

// Extremes finds the least or greatest of each row's frame, or the rank of the row by its value, or, with Among, sums a
// column over the rows that attain the extreme.
type Extremes struct {
	Order *structure.Order
	Frame ra.Frame
	Among *ra.Extremes // nil: the extreme itself, which the function of the val names
	Block int          // partitions are taken together until they have so many rows
}

// Kept is what is kept between runs, in bytes: the rows that may still attain an extreme and those that did and, for
// each row, its value, which of these are in its frame, and the sum of an end of a part of these.
func (e *Extremes) Kept() int { return 32 * e.Order.Space.N }
