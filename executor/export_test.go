package executor

import (
	"context"
	"math"
	"testing"

	"github.com/relgrad/relgrad/kernels"
)

// Restructure does what Run does before it computes values.
func Restructure(p *Program, ctx context.Context, env kernels.Env) (err error) {
	defer guard(&err)
	return p.enterStep(ctx, env)
}

// Kept is how many columns are computed once and kept.
func Kept(p *Program) int { return len(p.owned) }

// SpillFrom sets the size from which columns go to files, and returns what sets it back.
func SpillFrom(bytes int64) (back func()) {
	old := spillBytes
	spillBytes = bytes
	return func() { spillBytes = old }
}

// SumInPasses has sums over so many rows per group, or of chunks of so many numbers, share passes until the test ends.
func SumInPasses(t testing.TB, rows, numbers int) {
	run, chunk := passRun, passChunk
	passRun, passChunk = rows, numbers
	t.Cleanup(func() { passRun, passChunk = run, chunk })
}

// SmallGrids makes small joins grids until the test ends.
func SmallGrids(t testing.TB) {
	pairs, work := gridPairs, gridWork
	gridPairs, gridWork = 8, 8
	t.Cleanup(func() { gridPairs, gridWork = pairs, work })
}

// SmallProducts treats small matrices as large ones, and adds few numbers at a time in single precision, until the test ends.
func SmallProducts(t testing.TB) {
	for p, v := range map[*int]int{&sumProduct: 8, &sumPanel: 2, &longSum: 6, &narrowSide: 4, &narrowPanel: 2, &rowsOfChunks: 8, &rowsOfProduct: 4, &rowsTransposed: 2, &shareRows: 1, &inPlaceMatrix: 8} {
		set(t, p, v)
	}
	set(t, &largeFlops, 8)
}

// set gives a variable a value until the test ends.
func set[T any](t testing.TB, p *T, v T) {
	old := *p
	*p = v
	t.Cleanup(func() { *p = old })
}

// SmallParts lets sums of small matrices be made by parts until the test ends, in panels of so many rows, of which run are summed
// in single precision.
func SmallParts(t testing.TB, panel, run int) {
	flops, side, rows, length := distributeFlops, distributeSide, distributePanel, distributeRun
	distributeFlops, distributeSide, distributePanel, distributeRun = 1, 2, panel, run
	t.Cleanup(func() { distributeFlops, distributeSide, distributePanel, distributeRun = flops, side, rows, length })
}

// AnyParts lets sums be made by parts however inexact they are, until the function that it returns is called.
func AnyParts() (back func()) {
	single, double := distributeReal, distributeDouble
	distributeReal, distributeDouble = math.Inf(1), math.Inf(1)
	return func() { distributeReal, distributeDouble = single, double }
}

// ByParts reports how many residuals' sums the last run made by parts, and how many it made with the residual instead.
func ByParts(p *Program) (parts, residuals int) {
	for _, in := range p.sched.steps {
		if d, ok := in.lower.(*distributed); ok && d.done {
			parts++
		} else if ok {
			residuals++
		}
	}
	return parts, residuals
}

// SmallSums leaves a lane of such sums no room, until the test ends.
func SmallSums(t testing.TB) {
	most := laneSums
	laneSums = 0
	t.Cleanup(func() { laneSums = most })
}

// SmallBlocks reads small columns in blocks, however seldom their rows are read, until the test ends.
func SmallBlocks(t testing.TB) {
	block, reads, groups, lanes := sourceBlock, sourceReads, blockReads, sourceLanes
	sourceBlock, sourceReads, blockReads, sourceLanes = 40, 1, 1, 1
	t.Cleanup(func() { sourceBlock, sourceReads, blockReads, sourceLanes = block, reads, groups, lanes })
}

// SmallPieces reads few rows at once from files, until the test ends.
func SmallPieces(t testing.TB) {
	numbers := filedNumbers
	filedNumbers = 1
	t.Cleanup(func() { filedNumbers = numbers })
}

// AddRowsInPlace adds rows to sums in place, however many and small they are.
func AddRowsInPlace(t testing.TB) {
	rows, size := sparseRows, sparseSize
	sparseRows, sparseSize = 0, 1
	t.Cleanup(func() { sparseRows, sparseSize = rows, size })
}

// LanesOf makes lanes of so many operations.
func LanesOf(t testing.TB, work float64) {
	before := laneWork
	laneWork = work
	t.Cleanup(func() { laneWork = before })
}

// SmallLanes makes lanes and blocks of few rows.
func SmallLanes(t testing.TB) {
	work, scratch, rows := laneWork, blockScratch, laneRows
	laneWork, blockScratch, laneRows = 20, 200, 3
	t.Cleanup(func() { laneWork, blockScratch, laneRows = work, scratch, rows })
}
