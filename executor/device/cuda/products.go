package cuda

import (
	"fmt"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/values"
)

// side is the number of rows and of columns of a result's tile, which a block computes; deep is how many numbers of its
// sums lie in shared memory at a time. They are those of k_tile.
const (
	side = 64
	deep = 16
)

// product is the kernel of products of large matrices: of sums of them, result by result.
type product struct {
	v    *values.Val
	p    device.Product
	x, y *column.Column
	// A term is a part of a product: from number from to number to of its sums. Its matrices begin at row row of x and y.
	row      [2][]int32
	from, to []int32
	pieces   parts // of terms
}

// products are the kernels of an instruction of products.
func (c *code) products(t *task) []*launch {
	switch f := t.Form.(type) {
	case *device.GEMM:
		return c.gemm(f, t)
	case *device.NarrowProduct:
		return c.gemm(f.Of, t)
	case *device.Outers:
		return c.outers(f, t)
	}
	return c.productSum(t.Form.(*device.ProductSum), t)
}

// gemm are the kernels of products of matrices of their own.
func (c *code) gemm(g *device.GEMM, t *task) []*launch {
	x := &product{v: t.V, p: g.P, x: g.X.Data, y: g.Y.Data}
	for i := range g.Products {
		begin := len(x.from)
		x.term(matrixOf(g.X, i), matrixOf(g.Y, i))
		x.piece(begin, i)
	}
	return c.product(x, t)
}

// matrixOf is which of a val's matrices product i reads.
func matrixOf(v *values.Val, i int) int32 {
	if v.Uniform() {
		return 0
	}
	return int32(i)
}

// outers are the kernels of a sum of outer products: one product of matrices that have a row for each of them.
func (c *code) outers(o *device.Outers, t *task) []*launch {
	x := &product{v: t.V, x: o.X.Data, y: o.Y.Data,
		p: device.Product{Batch: 1, M: o.P, K: t.Rows, N: o.Q, At: true}}
	x.term(0, 0)
	x.piece(0, 0)
	return c.product(x, t)
}

// productSum are the kernels of sums of products by group.
func (c *code) productSum(s *device.ProductSum, t *task) []*launch {
	x := &product{v: t.V, p: s.P, x: s.X.V.Data, y: s.Y.V.Data}
	for g := range t.Grp.Out.N {
		begin, first, last := len(x.from), 0, t.Rows
		if t.Grp.Start != nil {
			first, last = int(t.Grp.Start[g]), int(t.Grp.Start[g+1])
		}
		for r := first; r < last; r++ {
			x.term(int32(s.X.Row(r)), int32(s.Y.Row(r)))
		}
		x.piece(begin, g)
	}
	return c.product(x, t)
}

// term adds a product. Its sums are cut where they are long.
func (x *product) term(a, b int32) {
	for k := 0; k < x.p.K; k += device.ProductRows {
		x.row[0], x.row[1] = append(x.row[0], a), append(x.row[1], b)
		x.from, x.to = append(x.from, int32(k)), append(x.to, int32(min(k+device.ProductRows, x.p.K)))
	}
}

// piece makes the terms from begin on a result. In one piece sums are in the result's own precision; pieces of a result
// are added in double precision, in order.
func (x *product) piece(begin, result int) {
	p, end, long := &x.pieces, len(x.from), 0
	var cuts []int
	for i := begin; i < end; i++ {
		n := int(x.to[i] - x.from[i])
		if long > 0 && long+n > device.ProductRows {
			cuts, long = append(cuts, i), 0
		}
		long += n
	}
	if cuts == nil {
		p.add(int32(begin), int32(end), int32(result))
		return
	}
	p.group, p.first = append(p.group, int32(result)), append(p.first, int32(p.partials))
	for _, cut := range append(cuts, end) {
		p.add(int32(begin), int32(cut), int32(-1-p.partials))
		p.partials++
		begin = cut
	}
	p.last = append(p.last, int32(p.partials))
}

// product makes the kernels.
func (c *code) product(x *product, t *task) []*launch {
	if len(x.pieces.from) == 0 || x.p.M*x.p.N == 0 {
		return nil
	}
	if ls := c.library(x, t); ls != nil {
		return ls
	}
	y := &summing{builder: newBuilder(c, t.T), v: x.v, size: x.p.M * x.p.N, acc: "double"}
	typ, s := ctype(x.v.Data.Kind()), newBody(nil)
	partials := "(char *) 0"
	if x.pieces.partials > 0 {
		partials = y.word("partials", 0, "char *")
		y.partials = partials
		c.partials = max(c.partials, x.pieces.partials*(y.size+1)*8)
	}
	out, valid := y.target(x.v.Data.Bytes(), typ), "(unsigned char *) 0"
	if x.v.Data.Valid() != nil {
		valid = y.target(x.v.Data.Valid(), "unsigned char")
	}
	s.add("__shared__ k_four<%s> memory[%d];", typ, 2*deep*(side+four)/four)
	s.add("k_product<%s> p;", typ)
	fields := []string{"x", y.numbers(x.x), "y", y.numbers(x.y), "out", out, "valid", valid, "partials", partials,
		"m", y.builder.count(x.p.M), "n", y.builder.count(x.p.N), "k", y.builder.count(x.p.K),
		"counts", y.builder.count(x.pieces.partials * y.size * 8),
		"row_x", y.list(x.row[0]), "row_y", y.list(x.row[1]), "from", y.list(x.from), "to", y.list(x.to),
		"first", y.list(x.pieces.from), "last", y.list(x.pieces.to), "dest", y.list(x.pieces.dest)}
	for i := 0; i < len(fields); i += 2 {
		s.add("p.%s = %s;", fields[i], fields[i+1])
	}
	tiles := (x.p.M + side - 1) / side * ((x.p.N + side - 1) / side) * len(x.pieces.from)
	s.block(fmt.Sprintf("for (long long task = blockIdx.x; task < %s; task += gridDim.x)", y.builder.count(tiles)),
		func(s *body) { s.add("k_tile<%s, %t, %t>(p, (%[1]s *) memory, task);", typ, x.p.At, x.p.Bt) })
	ls := []*launch{y.finish(s, c.blocks(tiles, 1))}
	if x.pieces.partials > 0 {
		ls = append(ls, y.combine(c, &x.pieces))
	}
	return ls
}
