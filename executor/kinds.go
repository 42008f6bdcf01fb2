package executor

import (
	"github.com/relgrad/relgrad/executor/structure"
)

// addRows computes x + y[·] + z[·] in the memory of the sum x, which nothing else reads: rows of x that have a row in
// neither y nor z, nearly all of them, stay as they are.
type addRows struct {
	base *val // the sum
	from []source
	rows int // that something is added to
}

// adding is a form of sum whose rows need not be made one by one.
type adding struct {
	how   string
	vals  []*val  // the results of the tree, in the kind of the sum: scalar factors first
	also  []*val  // columns that are read in place
	index []*val  // those of them that are read through an index
	near  []bool  // which of also something else in the tree has just read
	flops float64 // per row, besides the tree's

	scalars []factor    // by which chunks are weighted
	from    []source    // the chunk, or two of which it is the difference, where they are read in place
	terms   []outerTerm // outer products that are summed instead
}

// inParts tells that accumulators hold single precision, and double precision only where there are too many rows for it.
func (a *adding) inParts(v *val) bool { return a != nil && a.terms != nil && kindOf(v.typ) == f32 }

// outerTerm is xᵀ·y for each row, times scalars; x and y are vectors, or matrices with as many rows.
type outerTerm struct {
	scalars []factor
	x, y    *val
	each    int // rows of a matrix
}

// chain is over how many rows sums run in single precision.
const chain = 256

// fused is the pass: a tree whose results are stored or summed.
type fused struct{ members []*member }

// member is a val of the pass.
type member struct {
	v    *val
	how  string          // the lowering, for plans
	base int             // its first result in the tree
	sum  *adding         // how rows are added, nil: those of the result are
	own  bool            // its cell is no other member's, so that it may lie in the result's memory
	runs *structure.Runs // of a sum over rows that are in runs of one group, nil: of no such sum
}

// partials is how many bytes of partial sums the lanes of a pass hold for the aggregate v, and at least one lane.
func (v *val) partials() int {
	lanes := passLanes(v.typ.Size() * v.grp.Out.N)
	each := min(v.grp.Out.N, (v.grp.In.N+lanes-1)/lanes) // groups that a lane meets
	return 8 * v.typ.Size() * each * lanes
}

// passLanes is the number of lanes of a pass with sums of so many numbers.
func passLanes(numbers int) int { return max(8, min(256, 1<<20/max(numbers, 1))) }

// gemm lowers a product of few but large matrices: workers take panels of rows of the result.
type gemm struct {
	p        product
	x, y     *val
	rows     int // of a panel
	products int // of matrices of their own
}

// leastPanel is the number of rows or columns down to which a product is cut so that workers can share it.
const leastPanel = 128

// panelWidth is how many columns of a result a panel has, where there are few.
const panelWidth = 512

// across cuts so many columns of some results with so many rows into panels: wide ones, so that the library lays an
// operand out for itself as rarely as it may, where there are enough of them for the workers.
func across(results, panels, columns int) (n, width int) {
	width = 1024
	if results*panels*((columns+width-1)/width) < 4 {
		width = panelWidth
	}
	return (columns + width - 1) / width, width
}

// outers lowers a large sum of outer products: workers take tiles of the result.
type outers struct {
	x, y *val
	p, q int
}

const outersTile = 512 // rows of a tile

// tiles is how many tiles the result is cut into, down and across, and how wide they are.
func (o *outers) tiles() (down, n, width int) {
	down = (o.p + outersTile - 1) / outersTile
	n, width = across(1, down, o.q)
	return down, n, width
}

// productRows is over how many rows a large sum runs in single precision: as long as the sums are that a product of
// such matrices makes anyway.
const productRows = 1024

func inPartsBytes(k kind, n int) int { return span(n*k.bytes()) + span(n*f64.bytes()) }

// narrowProduct lowers products of a wide matrix and a narrow one of which either is transposed, such as the heads'
// projections of attention. Libraries lay a transposed operand out badly beside a narrow one. The wide matrix is
// therefore taken as it is stored, on the side of the product where it needs no turning, and what is narrow is turned
// instead: the other operand, and the result where it comes out transposed.
type narrowProduct struct {
	wide, narrow *val
	side, long   int  // of the narrow operand and of the result: narrow numbers beside so many
	inner        int  // numbers that are summed
	left         bool // the wide matrix stands left of the narrow one
	turn, back   bool // the narrow operand is turned, and the result
	rows         int  // of the result's long side in a panel
}

// scratch is how many numbers a worker needs: the narrow operand turned, and a panel of the result before it is.
func (s *narrowProduct) scratch() (operand, result int) {
	if s.turn {
		operand = s.side * s.inner
	}
	if s.back {
		result = s.side * min(s.rows, s.long)
	}
	return operand, result
}

// productSum lowers a sum of products of matrices by group, the sum over blocks of a matrix product in blocks: workers
// take panels of rows of the groups' results, into which the products of the group's rows are added one after the
// other. The operands are read in place, through their indexes.
type productSum struct {
	product *val
	p       product
	x, y    source
	down    int // panels of a result
	panel   int // rows of one
	long    int // Tuning.LongSum
}

// inOwnPrecision is how many products are added in the kind of the result.
func (s *productSum) inOwnPrecision() int { return max(s.long/s.p.k, 1) }

// row is the row of the column that row r reads.
func (s source) row(r int) int {
	if s.idx == nil {
		return r
	}
	return int(s.idx.At[r])
}

// relayout is the instruction that copies.
type relayout struct {
	l    *layout
	back bool
}

// product is batch products of m×k by k×n per row.
type product struct {
	batch, m, k, n int
	at, bt         bool // the operand is stored transposed
}

// spmm lowers sum(scalars * chunk[index]) to sparse times dense, or sum(scalars * (chunk[index] - chunk[index])): the
// chunks are read in place, through the index, and only the weights are computed row by row.
type spmm struct {
	x     []source // the chunks; of two, the difference
	by    []factor // the weights: results of the tree
	cuts  [][2]int // per lane: its groups
	buf   []int    // bytes of weights that a lane needs at most
	files filedRows
}

// source is a column in memory and the rows of it that are read; nil: row r is row r.
type source struct {
	v    *val
	idx  *structure.Index
	file *rowFile // that SpMM reads the rows from; nil: from memory
	held []int32  // SpMM's second rows where those of a group are one: it; idx is nil then
}

// spmmBlocks is SpMM over groups whose rows read a column that is larger than the second-level cache, each row of it
// often: lanes of groups take it a block at a time. The structure phase sorts a lane's rows by block, then group.
type spmmBlocks struct {
	by     []factor
	x      source
	order  *structure.Index // of the rows, as lanes read them
	cuts   [][2]int         // per lane: its groups
	start  [][]int32        // per lane: where the rows of each block and group of it begin, and their end
	blocks int
	most   int // rows of a lane's block at most
	wide   int // groups of a lane at most
}

// scratch is where a block's sums lie in a worker's memory, behind the weights, and where they end.
func (s *spmmBlocks) scratch(in *instr) (part, end int) {
	bytes := kindOf(in.v.typ).bytes()
	part = span(in.t.bytes) + span(s.most*bytes)
	return part, part + span(s.wide*in.v.typ.Size()*bytes)
}

// filedRows is how SpMM reads rows of columns in files: a piece of them at a time is copied to a worker's memory.
type filedRows struct {
	own   []int32 // 0, 1, …: the rows of a piece; nil: no column lies in a file
	piece int     // bytes of one
	// bytes is what a worker needs for the pieces, and for the sums of a group that is larger than one; they count under any
	// budget
	bytes int
}
