package device

import (
	"fmt"
	"strings"

	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/executor/values"
)

// Distributed is a residual ±(X − A·B) that only sums read which distribute over it.
type Distributed struct {
	R       *values.Val
	Product *values.Val // A·B
	X       *values.Val
	From    Source // X in memory, once it is known
	Flip    bool   // the residual is A·B − X
	Rows    bool   // it has a row for each row of A; else a tile for each pair of rows of A and B
	K       int
	Sides   [2]*Tiled // A and B
	Tiles   []int32   // the row of X by the rows of A and B; nil: all rows are one tile
	Targets []*Target
	Inner   map[*values.Val]bool // what the targets compute on the way from A·B
	Norm    *values.Val          // |X|²
	Work    *values.Val          // memory that it computes in
	Plan    *Distribution
	done    bool // at this step the targets have been computed so
}

// Tiled is A or B: tiles of n × k numbers.
type Tiled struct {
	V        *values.Val
	Idx      *structure.Index
	Label    int
	Count, N int
	Turned   bool    // a tile is stored as k × n
	At       []int32 // the tile of each row of the residual
	Wanted   bool    // some target is its gradient
}

// Target is a sum that is computed.
type Target struct {
	V       *values.Val
	Side    int // whose gradient it is, -1: the sum of squares
	Turned  bool
	Row     []int32         // its row by the side's tile
	Scalars []values.Factor // by which it is multiplied
	Neg     bool
}

// Size is how many rows the factor has in all.
func (d *Distributed) Size(side int) float64 { return float64(d.Sides[side].Count * d.Sides[side].N) }

// Distribution is the plan: what of the factors is multiplied at once, and where in the work memory things lie, in
// words of 8 bytes.
type Distribution struct {
	Panels  [2][]Panel
	Each    [2]int // rows of a panel at most
	Runs    [2]int // products that are added in single precision, or none
	Gram    [2]int // factorᵀ·factor
	Part    [2]int // the lanes' parts of it
	Pack    [2]int // a factor that is turned, as n × k
	Sum     [2]int // in double precision, panels one after another
	Acc     [2]int // the products of a run
	Dots    [2]int // ⟨sum, factor⟩ by panel
	Sample  int    // the sampled squares, by panel of the longer side: of the residual, and of X
	Words   int
	Scratch int // bytes per worker
}

// Panel is some rows of a factor: n from row from of a tile on; at is where its sum begins.
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
