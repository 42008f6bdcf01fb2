package executor

import (
	"context"
	"flag"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/device/cpu"
	"github.com/relgrad/relgrad/executor/device/cuda"
	"github.com/relgrad/relgrad/executor/device/plain"
	"github.com/relgrad/relgrad/executor/tuning"
	"github.com/relgrad/relgrad/internal/need"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// Restructure does what Run does before it computes values.
func Restructure(p *Program, ctx context.Context, env kernels.Env) (err error) {
	defer guard(&err)
	return p.enterStep(ctx, env)
}

// Kept is how many columns are computed once and kept.
func Kept(p *Program) int { return len(p.sites[0].owned) }

// SpillFrom sets the size from which columns go to files.
func SpillFrom(t *tuning.Sizes, bytes int64) { t.SpillBytes = bytes }

// SumInPasses has sums over so many rows per group, or of chunks of so many numbers, share passes.
func SumInPasses(t *tuning.Sizes, rows, numbers int) { t.PassRun, t.PassChunk = rows, numbers }

// SmallGrids makes small joins grids.
func SmallGrids(t *tuning.Sizes) { t.GridPairs, t.GridWork = 8, 8 }

// SmallProducts treats small matrices as large ones, and adds few numbers at a time in single precision.
func SmallProducts(t *tuning.Sizes) {
	t.SumProduct, t.SumPanel, t.LongSum, t.NarrowSide, t.NarrowPanel = 8, 2, 6, 4, 2
	t.RowsOfChunks, t.RowsOfProduct, t.RowsTransposed, t.ShareRows, t.InPlaceMatrix = 8, 4, 2, 1, 8
	t.LargeFlops = 8
}

// LargeMatricesFrom treats matrices of so many numbers, by which many vectors are multiplied, as large ones.
func LargeMatricesFrom(t *tuning.Sizes, numbers int) { t.LargeMatrix = numbers }

// SmallParts lets sums of small matrices be made by parts, in panels of so many rows, of which run are summed in single
// precision.
func SmallParts(t *tuning.Sizes, panel, run int) {
	t.DistributeFlops, t.DistributeSide, t.DistributePanel, t.DistributeRun = 1, 2, panel, run
}

// AnyParts lets sums be made by parts however inexact they are.
func AnyParts(t *tuning.Sizes) { t.DistributeReal, t.DistributeDouble = math.Inf(1), math.Inf(1) }

// ByParts reports how many residuals' sums the last run made by parts, and how many it made with the residual instead.
func ByParts(p *Program) (parts, residuals int) {
	sched := p.sites[0].sched
	for i, in := range sched.Steps {
		if _, ok := in.Form.(*device.Distributed); ok && sched.Needed(i) {
			parts++
		} else if ok {
			residuals++
		}
	}
	return parts, residuals
}

// SmallSums leaves a lane of such sums no room.
func SmallSums(t *tuning.Sizes) { t.LaneSums = 0 }

// SmallBlocks reads small columns in blocks, however seldom their rows are read.
func SmallBlocks(t *tuning.Sizes) {
	t.SourceBlock, t.SourceReads, t.BlockReads, t.SourceLanes = 40, 1, 1, 1
}

// SmallWindows cuts few rows of windows into blocks.
func SmallWindows(t *tuning.Sizes) { t.WindowRows = 16 }

// SmallPieces reads few rows at once from files.
func SmallPieces(t *tuning.Sizes) { t.FiledNumbers = 1 }

// AddRowsInPlace adds rows to sums in place, however many and small they are.
func AddRowsInPlace(t *tuning.Sizes) { t.SparseRows, t.SparseSize = 0, 1 }

// LanesOf makes lanes of so many operations.
func LanesOf(t *tuning.Sizes, work float64) { t.LaneWork = work }

// SmallLanes makes lanes and blocks of few rows.
func SmallLanes(t *tuning.Sizes) { t.LaneWork, t.BlockScratch, t.LaneRows = 20, 200, 3 }

var onDevice = flag.String("device", "", "on which the tests of the executor run: plain, cuda, or the processors")

// Long skips a test of many seconds in a quick run on the processors. TestPlainDevice asks for quick runs on others.
func Long(t testing.TB) {
	t.Helper()
	if *onDevice == "" {
		need.Time(t)
	}
}

// byLibrary has all products made by cuBLASLt, and their parts added few at a time; without it none are.
var byLibrary = flag.Bool("library", false, "cuBLASLt makes the products of all sizes on the device cuda")

// CompileOn is Compile for the device of these tests.
func CompileOn(ctx context.Context, plan *ra.Plan, src ra.Source, opt Options) (*Program, error) {
	opt.Devices = devices(1)
	return Compile(ctx, plan, src, opt)
}

// graphics are the graphics processors that are open.
var graphics sync.Map

// closeDevices closes what devices has opened for a program that is closed; nil: all that are open.
func closeDevices(p *Program) {
	graphics.Range(func(d, _ any) bool {
		if p == nil || slices.ContainsFunc(p.sites, func(s *site) bool { return s.device == d }) {
			graphics.Delete(d)
			d.(*cuda.Device).Close()
		}
		return true
	})
}

// devices are the devices of these tests, for so many sites; nil: the processors.
func devices(sites int) (out []device.Device) {
	switch *onDevice {
	case "":
		return nil
	case "plain":
		for range sites {
			out = append(out, &plain.Plain{})
		}
		return out
	case "cuda":
		for range sites {
			d, err := cuda.Open(0, cpu.NewMachine(1, tuning.Default()))
			if err != nil {
				panic(err)
			}
			d.LargeProduct, d.StagedAtOnce = math.Inf(1), 512
			if *byLibrary {
				d.LargeProduct, d.PartsAtOnce = 0, 400
			}
			graphics.Store(d, true)
			out = append(out, d)
		}
		return out
	}
	panic("no device of these tests is called " + *onDevice)
}
