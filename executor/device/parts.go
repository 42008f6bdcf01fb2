package device

import (
	"fmt"
	"strings"

	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/executor/values"
)

// Distributed is a residual ±(X − A·B), read only by sums that can be computed by parts: from X and from A·B.
type Distributed struct {
	R       *values.Val
	Product *values.Val // A·B
	X       *values.Val
	From    Source // X in memory, once it is known
	Flip    bool   // the residual is A·B − X
	Rows    bool   // it has a row for each row of A; else for each pair of rows of A and B, a tile
	K       int
	Sides   [2]*Tiled // A and B
	Tiles   []int32   // the row of X for each pair of tiles of A and B; nil: all rows are one tile
	Targets []*Target
	Inner   map[*values.Val]bool // vals between A·B and the targets, which are not computed
	Norm    *values.Val          // |X|²
	Work    *values.Val          // the memory for intermediate results
	Plan    *Distribution
	done    bool // this step has computed the targets by parts
}

// Tiled is A or B, cut into Count tiles of n × k numbers.
type Tiled struct {
	V        *values.Val
	Idx      *structure.Index
	Label    int
	Count, N int
	Turned   bool    // a tile is stored as k × n
	At       []int32 // the tile of each row of the residual
	Wanted   bool    // a target is its gradient
}

// Target is a sum that is computed by parts.
type Target struct {
	V       *values.Val
	Side    int // the factor whose gradient it is; -1: the sum of squares
	Turned  bool
	Row     []int32         // its row for each tile of the side
	Scalars []values.Factor // which multiply it
	Neg     bool
}

// Size is the number of rows of a factor, all tiles together.
func (d *Distributed) Size(side int) float64 { return float64(d.Sides[side].Count * d.Sides[side].N) }

// Distribution is the plan of a Distributed: into which panels the factors are cut, and where in Work things are, in
// words of 8 bytes.
type Distribution struct {
	Panels  [2][]Panel
	Each    [2]int // most rows of a panel
	Runs    [2]int // how many products a run adds in single precision
	Gram    [2]int // factorᵀ·factor
	Part    [2]int // the lanes' parts of Gram
	Pack    [2]int // a factor stored as k × n, transposed to n × k
	Sum     [2]int // sums in double precision, panel by panel
	Acc     [2]int // sums in single precision of the products of a run
	Dots    [2]int // ⟨sum, factor⟩ by panel
	Sample  int    // sampled sums of squares by panel of the longer side: of the residual, and of X
	Words   int
	Scratch int // bytes per worker
}

// Panel is N rows of a factor, from row From of a tile on. Its sum begins at At.
type Panel struct{ Tile, From, N, At int }

const (
	GramLanes  = 16
	SampleRows = 64 // of a panel of A
)

// Names lists the vals that are computed by parts.
func (d *Distributed) Names() string {
	var out []string
	for _, t := range d.Targets {
		out = append(out, fmt.Sprintf("v%d", t.V.ID))
	}
	return strings.Join(out, ", ")
}
