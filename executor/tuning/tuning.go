package tuning

// Sizes are the thresholds by which a device decides what is worth its cost. Results depend on them only by rounding.
// Tests make them small, so that small data take every path.
type Sizes struct {
	Lanes
	Grids
	Products
	Passes
	Parts
	Sparse
	Files
}

// Lanes and blocks are how work over rows is cut.
type Lanes struct {
	LaneWork       float64 // operations in a lane, at least
	LaneRows       int     // rows in a lane of structure
	WindowRows     int     // rows of a window in a lane, at least: running sums go on from the sums of such blocks
	BlockScratch   int     // bytes of a block's cells: as many as fit into the second-level cache
	ProductScratch int     // the same for a block with products, for which more pay
	Levels         int     // of a recursive query, at most: one that goes on further is taken not to end
}

// Grids are joins of relations that hold all combinations of their keys.
type Grids struct {
	GridPairs int // pairs of rows from which on a join is tried as a grid
	GridWork  int // multiplications from which on a sum over a grid is tried as a product
}

// Products are products of matrices.
type Products struct {
	SumProduct     int     // operations of a product from which on its operands are not copied to be summed
	SumPanel       int     // rows of a panel of such a sum
	RowsOfChunks   int     // numbers of a chunk from which on its rows are computed one by one
	ShareRows      int     // blocks of rows of such a product, at least
	InPlaceMatrix  int     // numbers of a matrix from which on it is not copied for each row that it multiplies
	RowsTransposed int     // rows from which on a matrix is transposed before it multiplies them
	RowsOfProduct  int     // rows of a product that are made and mapped at once
	LargeFlops     float64 // operations of a product from which on the workers share it
	// LargeMatrix is the numbers of a matrix that many vectors are multiplied by, or of a sum of outer products, from
	// which on panels are used: they take a third less of the processors' time than blocks of rows (layers of 1024 → 64
	// to 256 → 1000, batches of 512)
	LargeMatrix int
	NarrowSide  int // numbers up to which the short side of a product counts as narrow
	NarrowPanel int // rows of the long side in a panel of such a product
	// LongSum is the length of a sum up to which a product of two matrices computes it, in its own precision. Longer
	// sums are added in double precision, row by row of what is summed. (A sum of vectors' products is always computed
	// so.)
	LongSum int
}

// Passes compute several values over the same rows at once.
type Passes struct {
	GroupRows int // rows of a group from which on a sum gets an adder
	// PassRun is the rows of a group from which on rows in group order are summed in a pass. Smaller groups are summed
	// by an instruction of their own, which takes many groups at once.
	PassRun int
	// PassChunk is the numbers of a chunk from which on chunks are summed by group in a pass, where the rows of a group
	// follow each other. Smaller chunks are better read group by group.
	PassChunk int
}

// Parts are sums over a residual that are computed by parts (docs/adr/0018-sums-by-parts.md).
type Parts struct {
	DistributeFlops  float64 // operations of the sums without parts, at least
	DistributeSide   int     // rows and columns of a tile
	DistributePanel  int     // rows or columns of a tile in one multiplication
	DistributeRun    int     // rows or columns of X over which a sum runs in single precision
	DistributeReal   float64 // relative error allowed in the loss, in the worst case: for real,
	DistributeDouble float64 // and for double precision
}

// Sparse are sums of weighted rows by blocks, and rows that are added in place.
type Sparse struct {
	LaneSums    int // bytes of a lane's sums, at most
	SourceBlock int // bytes of a block
	SourceReads int // reads of a row of the column by a lane, at least
	BlockReads  int // rows of a block that a group reads on average, at least
	SourceLanes int // lanes at least
	SparseRows  int // rows of a sum for each row that something is added to, at least
	SparseSize  int // numbers in such a row, at least
}

// Files hold what does not fit into memory.
type Files struct {
	SpillBytes   int64 // size from which on an array may lie in a file
	SpillLevel   int64 // and an intermediate result, where no larger one is left
	FiledNumbers int   // numbers of a file that are read at once
}

// Default is for a processor with a second-level cache of half a megabyte or more.
func Default() *Sizes {
	return &Sizes{
		Lanes: Lanes{LaneWork: 65536, LaneRows: 1 << 13, WindowRows: 1 << 12,
			BlockScratch: 256 << 10, ProductScratch: 5 << 18, Levels: 100_000},
		Grids: Grids{GridPairs: 32, GridWork: 1 << 16},
		Products: Products{SumProduct: 1 << 18, SumPanel: 512, RowsOfChunks: 1 << 16, ShareRows: 16, InPlaceMatrix: 1024,
			RowsTransposed: 32, RowsOfProduct: 128, LargeFlops: 1e8, LargeMatrix: 1 << 16, NarrowSide: 256, NarrowPanel: 1024,
			LongSum: 4096},
		Passes: Passes{GroupRows: 8, PassRun: 32, PassChunk: 4096},
		Parts: Parts{DistributeFlops: 1e8, DistributeSide: 32, DistributePanel: 512, DistributeRun: 512,
			DistributeReal: 1.0 / (1 << 10), DistributeDouble: 1.0 / (1 << 30)},
		Sparse: Sparse{LaneSums: 8 << 20, SourceBlock: 1 << 20, SourceReads: 4, BlockReads: 12, SourceLanes: 8, SparseRows: 4,
			SparseSize: 16},
		Files: Files{SpillBytes: 1 << 20, SpillLevel: 1 << 14, FiledNumbers: 1 << 16},
	}
}
