package tuning

// Sizes are the sizes by which a device decides what is worth it. Results do not depend on them but for rounding.
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
	LaneWork       float64 // operations per lane
	LaneRows       int     // rows per lane of structure
	BlockScratch   int     // bytes of a block's cells: they stay in the second-level cache
	ProductScratch int     // the same of a block with products, which are worth more
}

// Grids are joins of relations that hold all combinations of their keys.
type Grids struct {
	GridPairs int // pairs of rows from which a join is looked at as a grid
	GridWork  int // multiplications from which a sum over a grid is looked at as a product
}

// Products are products of matrices.
type Products struct {
	SumProduct     int     // operations of one from which on its operands are not copied to be summed
	SumPanel       int     // rows of a panel of such a sum
	RowsOfChunks   int     // numbers of a chunk from which on its rows are computed apart
	ShareRows      int     // blocks of rows of such a product at least
	InPlaceMatrix  int     // numbers of a matrix from which on it is not copied for each row that it is multiplied by
	RowsTransposed int     // rows that are worth to transpose the matrix before it multiplies them
	RowsOfProduct  int     // rows of a product that are made and mapped at a time
	LargeFlops     float64 // operations of a product that the workers share
	// LargeMatrix is the numbers of a matrix that many vectors are multiplied by, or of a sum of outer products: from
	// there on panels take a third less of the processors' time than blocks of rows (layers of 1024 → 64 to 256 → 1000,
	// batches of 512)
	LargeMatrix int
	NarrowSide  int // numbers up to which the short side of a product is narrow
	NarrowPanel int // rows of the long side in a panel of such a product
	// LongSum is the length of a sum up to which it is left to the product of two matrices, which adds in its own
	// precision; longer ones are added in double precision, row by row of what is summed. (A sum of vectors' products is
	// so in any case.)
	LongSum int
}

// Passes compute several values over the same rows.
type Passes struct {
	GroupRows int // rows per group from which on a sum is worth an adder
	// PassRun is the rows per group from which on rows in group order are summed in a pass; fewer have an instruction of
	// their own that takes many groups at once.
	PassRun int
	// PassChunk is the numbers from which on chunks are summed by group in a pass in the order of the rows, where those
	// of a group follow each other; smaller ones are better read group by group.
	PassChunk int
}

// Parts are sums over a residual that are made by parts.
type Parts struct {
	DistributeFlops  float64 // operations of the sums as they stand
	DistributeSide   int     // rows and columns of a tile
	DistributePanel  int     // rows or columns of a tile that are multiplied at once
	DistributeRun    int     // rows or columns of X that a sum runs over in single precision
	DistributeReal   float64 // the loss may be wrong by so much, relatively, in the worst case: for columns of real,
	DistributeDouble float64 // and of double precision
}

// Sparse are sums of weighted rows in blocks, and rows that are added in place.
type Sparse struct {
	LaneSums    int // bytes of a lane's sums at most
	SourceBlock int // bytes of a block
	SourceReads int // how often a lane reads a row of the column at least
	BlockReads  int // how many of a block's rows a group reads, on average, at least
	SourceLanes int // lanes at least
	SparseRows  int // how many rows a sum has at least for each that something is added to
	SparseSize  int // and how many numbers a row
}

// Files are what lies in files for want of memory.
type Files struct {
	SpillBytes   int64 // the size from which something is worth a file
	FiledNumbers int   // numbers of a piece of a file that is read at once
}

// Default is that of a processor with a second-level cache of half a megabyte or more.
func Default() *Sizes {
	return &Sizes{
		Lanes: Lanes{LaneWork: 65536, LaneRows: 1 << 13, BlockScratch: 256 << 10, ProductScratch: 5 << 18},
		Grids: Grids{GridPairs: 32, GridWork: 1 << 16},
		Products: Products{SumProduct: 1 << 18, SumPanel: 512, RowsOfChunks: 1 << 16, ShareRows: 16, InPlaceMatrix: 1024,
			RowsTransposed: 32, RowsOfProduct: 128, LargeFlops: 1e8, LargeMatrix: 1 << 16, NarrowSide: 256, NarrowPanel: 1024,
			LongSum: 4096},
		Passes: Passes{GroupRows: 8, PassRun: 32, PassChunk: 4096},
		Parts: Parts{DistributeFlops: 1e8, DistributeSide: 32, DistributePanel: 512, DistributeRun: 512,
			DistributeReal: 1.0 / (1 << 10), DistributeDouble: 1.0 / (1 << 30)},
		Sparse: Sparse{LaneSums: 8 << 20, SourceBlock: 1 << 20, SourceReads: 4, BlockReads: 12, SourceLanes: 8, SparseRows: 4,
			SparseSize: 16},
		Files: Files{SpillBytes: 1 << 20, FiledNumbers: 1 << 16},
	}
}
