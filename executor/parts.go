package executor

import (
	"fmt"
	"strings"

	"github.com/relgrad/relgrad/executor/structure"
)

// distributed is a residual ±(X − A·B) that only sums read which distribute over it.
type distributed struct {
	r       *val
	product *val // A·B
	x       *val
	from    source // X in memory, once it is known
	flip    bool   // the residual is A·B − X
	rows    bool   // it has a row for each row of A; else a tile for each pair of rows of A and B
	k       int
	sides   [2]*tiled // A and B
	tiles   []int32   // the row of X by the rows of A and B; nil: all rows are one tile
	targets []*target
	inner   map[*val]bool // what the targets compute on the way from A·B
	norm    *val          // |X|²
	work    *val          // memory that it computes in
	plan    *distribution
	done    bool // at this step the targets have been computed so
}

// tiled is A or B: tiles of n × k numbers.
type tiled struct {
	v        *val
	idx      *structure.Index
	label    int
	count, n int
	turned   bool    // a tile is stored as k × n
	at       []int32 // the tile of each row of the residual
	wanted   bool    // some target is its gradient
}

// target is a sum that is computed.
type target struct {
	v       *val
	side    int // whose gradient it is, -1: the sum of squares
	turned  bool
	row     []int32  // its row by the side's tile
	scalars []factor // by which it is multiplied
	neg     bool
}

// size is how many rows the factor has in all.
func (d *distributed) size(side int) float64 { return float64(d.sides[side].count * d.sides[side].n) }

// distribution is the plan: what of the factors is multiplied at once, and where in the work memory things lie, in
// words of 8 bytes.
type distribution struct {
	panels  [2][]panel
	each    [2]int // rows of a panel at most
	runs    [2]int // products that are added in single precision, or none
	gram    [2]int // factorᵀ·factor
	part    [2]int // the lanes' parts of it
	pack    [2]int // a factor that is turned, as n × k
	sum     [2]int // in double precision, panels one after another
	acc     [2]int // the products of a run
	dots    [2]int // ⟨sum, factor⟩ by panel
	sample  int    // the sampled squares, by panel of the longer side: of the residual, and of X
	words   int
	scratch int // bytes per worker
}

// panel is some rows of a factor: n from row from of a tile on; at is where its sum begins.
type panel struct{ tile, from, n, at int }

const (
	gramLanes  = 16
	sampleRows = 64 // of a panel of A
)

// names lists the vals that are computed by parts.
func (d *distributed) names() string {
	var out []string
	for _, t := range d.targets {
		out = append(out, fmt.Sprintf("v%d", t.v.id))
	}
	return strings.Join(out, ", ")
}
