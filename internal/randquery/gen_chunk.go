package randquery

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/kernels"
)

func shapeText(s []int) string {
	parts := make([]string, len(s))
	for i, d := range s {
		parts[i] = strconv.Itoa(d)
	}
	return "ARRAY[" + strings.Join(parts, ",") + "]"
}

// labels are the first letters of einsum for a shape, from a given letter on.
func labels(s []int, from int) string { return "abcdefghijklm"[from : from+len(s)] }

// value draws a value of any shape.
func (g *gen) value(s *scope, shape []int, depth int) expr {
	if shape == nil {
		return g.scalar(s, depth)
	}
	if len(shape) == 1 && depth > 0 && g.one(8) {
		return g.array(s, shape[0], depth)
	}
	return g.chunk(s, shape, depth)
}

// constant is a constant of a shape.
func (g *gen) constant(shape []int) expr {
	if shape == nil {
		return expr{sql: g.number(), mag: 1.2, draws: true}
	}
	return expr{sql: fmt.Sprintf("random_normal(%s, %d)", shapeText(shape), g.r.Intn(100)),
		shape: shape, mag: 2, draws: true}
}

// leafChunk draws a chunk with few operators: a column of the shape, or another value brought to it.
func (g *gen) leafChunk(s *scope, shape []int) expr {
	if cs := s.floats(shape); len(cs) > 0 {
		return g.choose(cs)
	}
	if cs := s.chunks(); len(cs) > 0 && g.one(2) {
		return g.adapt(g.choose(cs), shape)
	}
	return g.adapt(g.leafScalar(s), shape)
}

// adapt brings a value to a shape by a linear map.
func (g *gen) adapt(e expr, shape []int) expr {
	if e.kind == kernels.Int {
		e = g.asScalar(e)
	}
	// a map between these would be a chunk of a high rank
	if len(e.shape)+len(shape) > 4 && !slices.Equal(e.shape, shape) {
		e = g.reduce(e)
	}
	switch {
	case slices.Equal(e.shape, shape) && (e.shape == nil) == (shape == nil):
		return e
	case shape == nil:
		return g.reduce(e)
	case e.shape == nil && g.one(2):
		g.use("scalar with chunk")
		e.sql, e.mag = fmt.Sprintf("(%s * %s)", e.sql, g.constant(shape).sql), 2*e.mag
	case e.shape == nil:
		g.use("kernel:full")
		e.sql = fmt.Sprintf("full(%s, %s)", shapeText(shape), e.sql)
	default:
		all := append(slices.Clone(e.shape), shape...)
		in, out := labels(e.shape, 0), labels(shape, len(e.shape))
		g.use("kernel:einsum")
		e.sql, e.mag = fmt.Sprintf("einsum('%s,%s%s->%s', %s, %s)", in, in, out, out, e.sql, g.constant(all).sql), 4*e.mag
	}
	e.shape, e.bare = shape, false
	return g.tame(e, 20)
}

// chunk draws a chunk of a shape.
func (g *gen) chunk(s *scope, shape []int, depth int) expr {
	if shape == nil {
		return g.scalar(s, depth)
	}
	if depth <= 0 || !g.spend() {
		return g.leafChunk(s, shape)
	}
	switch g.pick(10, 14, 10, 14, 20, 6, 5, 6, 6, 6, 4) {
	case 1:
		return g.arithChunk(g.chunk(s, shape, depth-1), g.chunk(s, shape, depth-1))
	case 2:
		return g.scaleChunk(g.scalar(s, depth-1), g.chunk(s, shape, depth-1))
	case 3:
		return g.unary(g.chunk(s, shape, depth-1))
	case 4:
		return g.adapt(g.kernel(s, depth-1), shape)
	case 5:
		return g.caseChunk(s, shape, depth-1)
	case 6:
		return g.coalesceChunk(s, shape)
	case 7:
		if len(shape) > 2 {
			return g.leafChunk(s, shape)
		}
		return g.product(s, shape, depth-1)
	case 8:
		return g.pieces(s, shape, depth-1)
	case 9:
		if x := g.chunk(s, shape, depth-1); x.draws && x.dep && !s.above {
			return g.dropout(x)
		}
	case 10:
		return g.broadcast(s, shape, depth-1)
	}
	return g.leafChunk(s, shape)
}

func (g *gen) arithChunk(a, b expr) expr {
	g.use("chunk with chunk")
	out := expr{shape: a.shape, dep: a.dep || b.dep, draws: a.draws && b.draws, null: a.null || b.null, mag: a.mag + b.mag}
	switch g.pick(3, 3, 3, 1) {
	case 0:
		out.sql = fmt.Sprintf("(%s + %s)", a.sql, b.sql)
	case 1:
		out.sql = fmt.Sprintf("(%s - %s)", a.sql, b.sql)
	case 2:
		out.sql, out.mag = fmt.Sprintf("(%s * %s)", a.sql, b.sql), a.mag*b.mag
	case 3:
		b = g.tame(b, 4)
		out.sql, out.mag = fmt.Sprintf("(%s / (square(%s) + 0.5))", a.sql, b.sql), 2*a.mag
	}
	return g.tame(out, 20)
}

// scaleChunk combines a scalar with a chunk.
func (g *gen) scaleChunk(x, v expr) expr {
	g.use("scalar with chunk")
	out := expr{shape: v.shape, dep: x.dep || v.dep, draws: x.draws && v.draws, null: x.null || v.null, mag: x.mag + v.mag}
	switch g.pick(4, 2, 2, 2, 1) {
	case 0:
		out.sql, out.mag = fmt.Sprintf("(%s * %s)", x.sql, v.sql), x.mag*v.mag
	case 1:
		out.sql, out.mag = fmt.Sprintf("(%s * %s)", v.sql, x.sql), x.mag*v.mag
	case 2:
		out.sql = fmt.Sprintf("(%s + %s)", v.sql, x.sql)
	case 3:
		out.sql = fmt.Sprintf("(%s - %s)", x.sql, v.sql)
	case 4:
		x = g.tame(x, 4)
		out.sql, out.mag = fmt.Sprintf("(%s / (square(%s) + 0.5))", v.sql, x.sql), 2*v.mag
	}
	return g.tame(out, 20)
}

// broadcast combines a chunk with one of its last axis.
func (g *gen) broadcast(s *scope, shape []int, depth int) expr {
	small := shape[len(shape)-1:]
	if g.one(2) {
		small = append(slices.Clone(shape[:len(shape)-1]), 1)
	}
	a, b := g.chunk(s, shape, depth), g.chunk(s, small, 0)
	g.use("broadcast")
	out := g.arithChunk(a, b)
	if g.one(2) {
		out = g.arithChunk(b, a)
	}
	out.shape = shape
	return out
}

func (g *gen) caseChunk(s *scope, shape []int, depth int) expr {
	x, y := g.chunk(s, shape, depth), g.chunk(s, shape, depth)
	g.use("chunk case")
	out := expr{shape: shape, mag: max(x.mag, y.mag), dep: x.dep || y.dep, null: x.null || y.null}
	c := g.cond(s, 0)
	if g.one(3) {
		c = g.valueCond(s, 0)
		g.use("case on values")
	}
	out.sql = fmt.Sprintf("(CASE WHEN %s THEN %s ELSE %s END)", c.sql, x.sql, y.sql)
	return out
}

func (g *gen) coalesceChunk(s *scope, shape []int) expr {
	x := g.leafChunk(s, shape)
	g.use("chunk coalesce")
	y := g.constant(shape)
	if g.one(2) {
		y = g.leafChunk(s, shape)
	}
	return expr{sql: fmt.Sprintf("COALESCE(%s, %s)", x.sql, y.sql), shape: shape, mag: max(x.mag, y.mag),
		dep: x.dep || y.dep, null: x.null && y.null}
}

// product makes a chunk of a shape by matmul, outer or transpose.
func (g *gen) product(s *scope, shape []int, depth int) expr {
	k := 2 + g.r.Intn(2)
	var a, b expr
	name := "matmul"
	switch {
	case len(shape) == 1:
		a, b = g.chunk(s, []int{k}, depth), g.chunk(s, []int{k, shape[0]}, depth)
		if g.one(2) {
			a, b = g.chunk(s, []int{shape[0], k}, depth), g.chunk(s, []int{k}, depth)
		}
	case g.one(3):
		name = "outer"
		a, b = g.chunk(s, shape[:1], depth), g.chunk(s, shape[1:], depth)
	case g.one(2):
		e := g.chunk(s, []int{shape[1], shape[0]}, depth)
		g.use("kernel:transpose")
		e.sql, e.shape, e.bare = fmt.Sprintf("transpose(%s)", e.sql), shape, false
		return e
	default:
		a, b = g.chunk(s, []int{shape[0], k}, depth), g.chunk(s, []int{k, shape[1]}, depth)
	}
	g.use("kernel:" + name)
	out := expr{sql: fmt.Sprintf("%s(%s, %s)", name, a.sql, b.sql), shape: shape, mag: 3 * a.mag * b.mag,
		dep: a.dep || b.dep, draws: a.draws && b.draws, null: a.null || b.null}
	return g.tame(out, 20)
}

// nullConcat counts || with an operand that may be NULL: NULL in a loss, the other operand in Postgres.
const nullConcat = "concat of NULL"

// pieces makes a chunk of a shape from parts of others: ||, a slice or a reshape.
func (g *gen) pieces(s *scope, shape []int, depth int) expr {
	if n := shape[0]; n > 1 && g.one(2) {
		cut := 1 + g.r.Intn(n-1)
		a := g.chunk(s, append([]int{cut}, shape[1:]...), depth)
		b := g.chunk(s, append([]int{n - cut}, shape[1:]...), depth)
		g.use("concat")
		if a.null || b.null {
			g.use(nullConcat)
		}
		return expr{sql: fmt.Sprintf("(%s || %s)", a.sql, b.sql), shape: shape, mag: max(a.mag, b.mag),
			dep: a.dep || b.dep, draws: a.draws && b.draws, null: a.null || b.null}
	}
	larger, text := slices.Clone(shape), ""
	for i, d := range shape {
		from := g.r.Intn(2)
		larger[i] = d + from + g.r.Intn(2)
		text += fmt.Sprintf("[%d:%d]", from+1, from+d)
	}
	g.use("slice")
	e := g.chunk(s, larger, depth)
	e.sql, e.shape, e.bare = "("+e.sql+")"+text, shape, false
	return e
}

// asScalar brings a kernel's result to a scalar.
func (g *gen) asScalar(e expr) expr {
	if e.kind == kernels.Int {
		e.kind, e.mag, e.bare = kernels.Float64, e.mag/2, false
		e.sql = fmt.Sprintf("(0.5 * %s)", e.sql)
	}
	return g.reduce(e)
}
