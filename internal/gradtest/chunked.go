package gradtest

import (
	"fmt"
	"math"
	"math/rand"
	"strings"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/kernels"
)

// Chunked is a model over matrices, which can be stored in chunks of any size.
type Chunked struct {
	Name     string
	Axes     string         // letters of the axes
	Sizes    map[byte]int   // their lengths
	Matrices []string       // a name and two letters: "w ik"
	Params   []string       // names of matrices
	views    func(c *cut)   // the loss over them
	Einsum   bool           // products of matrices are written as einsum
	Filter   string         // a condition on pairs of w and h, or of the first two matrices; "" for none
	Holes    map[string]int // so many rows that a matrix lacks, by name
	Nulls    map[string]int // so many rows of a matrix are NULL, by name
	Special  bool           // some numbers are infinite, or none
	Twice    map[string]int // so many rows that a matrix has twice, by name; its table then has no key
}

// Size is a chunk's length along each axis; 0 stands for the whole axis.
type Size map[byte]int

// cut is a model in chunks.
type cut struct {
	*Chunked
	size  Size
	views []string
	where string
}

// Factors is a ≈ w·h, of n × m numbers and rank k: the sum of squares.
func Factors(n, m, k int) *Chunked {
	return &Chunked{Name: "factors", Axes: "ikj", Sizes: map[byte]int{'i': n, 'k': k, 'j': m},
		Matrices: []string{"a ij", "w ik", "h kj"}, Params: []string{"w", "h"},
		views: func(c *cut) {
			c.view("p", "SELECT w.i, h.j, "+c.product("w.v", "h.v", "ikj")+" AS v FROM w JOIN h ON w.k = h.k"+
				c.where+" GROUP BY w.i, h.j")
			c.view("loss", "SELECT "+c.squares("a.v - p.v", "ij")+" AS loss FROM a JOIN p USING (i, j)")
		}}
}

// Logistic is logistic regression of n rows and m features.
func Logistic(n, m int) *Chunked {
	return &Chunked{Name: "logistic", Axes: "ijo", Sizes: map[byte]int{'i': n, 'j': m, 'o': 1},
		Matrices: []string{"x ij", "w jo", "y io"}, Params: []string{"w"},
		views: func(c *cut) {
			c.view("p", "SELECT x.i, "+c.product("x.v", "w.v", "ijo")+" AS z FROM x JOIN w ON x.j = w.j"+c.where+" GROUP BY x.i")
			mean := "avg(softplus(z) - y.v * z)"
			if len(c.shape("io")) > 0 {
				mean = "avg(mean_elements(softplus(z) - y.v * z))"
			}
			c.view("loss", "SELECT "+mean+" AS loss FROM p JOIN y USING (i)")
		}}
}

// Perceptron is a network of two layers on n rows: t ≈ relu(x·u + b)·w.
func Perceptron(n, in, hidden, out int) *Chunked {
	return &Chunked{Name: "perceptron", Axes: "ifhco", Sizes: map[byte]int{'i': n, 'f': in, 'h': hidden, 'c': out, 'o': 1},
		Matrices: []string{"x if", "u fh", "w hc", "t ic", "b ho"}, Params: []string{"u", "w", "b"},
		views: func(c *cut) {
			c.view("inner_layer", "SELECT x.i, u.h, "+c.product("x.v", "u.v", "ifh")+" AS v FROM x JOIN u ON x.f = u.f"+
				c.where+" GROUP BY x.i, u.h")
			c.view("hidden", "SELECT l.i, l.h, relu(l.v + b.v) AS v FROM inner_layer l JOIN b ON l.h = b.h")
			c.view("p", "SELECT l.i, w.c, "+c.product("l.v", "w.v", "ihc")+
				" AS v FROM hidden l JOIN w ON l.h = w.h GROUP BY l.i, w.c")
			c.view("loss", "SELECT "+c.squares("p.v - t.v", "ic")+" AS loss FROM p JOIN t USING (i, c)")
		}}
}

func (c *cut) view(name, sql string) { c.views = append(c.views, name, sql) }

// along is the chunk's length along an axis.
func (c *cut) along(axis byte) int {
	if n := c.size[axis]; n > 0 {
		return n
	}
	return c.Sizes[axis]
}

// shape is that of a chunk: lengths of 1 are left out.
func (c *cut) shape(axes string) []int {
	var s []int
	for _, a := range []byte(axes) {
		if n := c.along(a); n > 1 {
			s = append(s, n)
		}
	}
	return s
}

// product is the sum of products of chunks over the axes m, k and n.
func (c *cut) product(x, y, axes string) string {
	a, b := c.shape(axes[:2]), c.shape(axes[1:])
	m, k, n := c.along(axes[0]) > 1, c.along(axes[1]) > 1, c.along(axes[2]) > 1
	switch {
	case len(a) == 0 || len(b) == 0:
		return "sum(" + x + " * " + y + ")"
	case !k && m && n:
		return "sum(outer(" + x + ", " + y + "))"
	case k && !m && !n:
		return "sum(dot(" + x + ", " + y + "))"
	}
	if c.Einsum && m && n {
		return "sum(einsum('ab,bc->ac', " + x + ", " + y + "))"
	}
	return "sum(matmul(" + x + ", " + y + "))"
}

func (c *cut) squares(x, axes string) string {
	if len(c.shape(axes)) == 0 {
		return "sum((" + x + ") ^ 2)"
	}
	return "sum(sqnorm(" + x + "))"
}

// Store puts the model's matrices, random numbers that depend on the names alone, into tables in chunks of a size,
// their rows in a random order where shuffled is set. A matrix's table has a column of whole numbers for each axis, the
// chunk's number, and v.
func (m *Chunked) Store(size Size, kind kernels.Kind, shuffled bool) (*memdb.DB, error) {
	c := &cut{Chunked: m, size: size}
	if m.Filter != "" {
		c.where = " WHERE " + m.Filter
	}
	db := memdb.New()
	for n, text := range m.Matrices {
		name, axes, _ := strings.Cut(text, " ")
		c.table(db, name, axes, int64(n), kind, shuffled)
	}
	m.views(c)
	for i := 0; i < len(c.views); i += 2 {
		if err := db.AddView(c.views[i], c.views[i+1]); err != nil {
			return nil, fmt.Errorf("%s: %w", c.views[i+1], err)
		}
	}
	return db, nil
}

func (c *cut) table(db *memdb.DB, name, axes string, seed int64, kind kernels.Kind, shuffled bool) {
	rows, cols := c.Sizes[axes[0]], c.Sizes[axes[1]]
	x := c.Numbers(seed, rows*cols)
	p, q := c.along(axes[0]), c.along(axes[1])
	down, across := rows/p, cols/q
	order := rand.New(rand.NewSource(seed + 100)).Perm(down * across)
	if !shuffled {
		for i := range order {
			order[i] = i
		}
	}
	order = order[c.Holes[name]:]
	order = append(order, order[:c.Twice[name]]...)
	key := [2]*column.Column{}
	for d := range key {
		key[d] = column.New(kernels.Type{Kind: kernels.Int}, len(order))
	}
	v := column.New(kernels.Type{Kind: kind, Shape: c.shape(axes)}, len(order))
	for r, at := range order {
		key[0].I64()[r], key[1].I64()[r] = int64(at/across), int64(at%across)
		for e := range p * q {
			y := x[(at/across*p+e/q)*cols+at%across*q+e%q]
			if v.Kind() == column.F32 {
				v.F32()[r*p*q+e] = float32(y)
			} else {
				v.F64()[r*p*q+e] = y
			}
		}
	}
	for r := range c.Nulls[name] {
		v.SetNull(r)
		clear(v.F64()[min(r*p*q, len(v.F64())):min((r+1)*p*q, len(v.F64()))])
		clear(v.F32()[min(r*p*q, len(v.F32())):min((r+1)*p*q, len(v.F32()))])
	}
	keys := 2
	if c.Twice[name] > 0 {
		keys = 0
	}
	db.Create(name, keys, memdb.Column{Name: axes[:1], Data: key[0]}, memdb.Column{Name: axes[1:], Data: key[1]},
		memdb.Column{Name: "v", Data: v})
}

// Numbers are those of matrix number seed, row by row: exact as real.
func (m *Chunked) Numbers(seed int64, n int) []float64 {
	rng, x := rand.New(rand.NewSource(seed)), make([]float64, n)
	for i := range x {
		x[i] = float64(float32(rng.NormFloat64())) / 8
		if m.Special && i < 2 {
			x[i] = []float64{math.Inf(1), math.NaN()}[i]
		}
	}
	return x
}

// Matrix puts the rows of a gradient of a parameter, its columns as Store makes them, together.
func (m *Chunked) Matrix(name string, size Size, cols []*column.Column) []float64 {
	c := &cut{Chunked: m, size: size}
	for _, text := range m.Matrices {
		n, axes, _ := strings.Cut(text, " ")
		if n != name {
			continue
		}
		p, q, wide := c.along(axes[0]), c.along(axes[1]), m.Sizes[axes[1]]
		out := make([]float64, m.Sizes[axes[0]]*wide)
		v := cols[2]
		for r := range v.Len() {
			for e := range p * q {
				at := (int(cols[0].I64()[r])*p+e/q)*wide + int(cols[1].I64()[r])*q + e%q
				if v.Kind() == column.F32 {
					out[at] = float64(v.F32()[r*p*q+e])
				} else {
					out[at] = v.F64()[r*p*q+e]
				}
			}
		}
		return out
	}
	return nil
}
