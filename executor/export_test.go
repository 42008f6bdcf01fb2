package executor

import (
	"context"
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

// SmallGrids makes small joins grids until the test ends.
func SmallGrids(t testing.TB) {
	pairs, work := gridPairs, gridWork
	gridPairs, gridWork = 8, 8
	t.Cleanup(func() { gridPairs, gridWork = pairs, work })
}
