package randquery

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/kernels"
)

func shapeText(s []int) string {
	parts := lists.Map(s, strconv.Itoa)
	return "ARRAY[" + strings.Join(parts, ",") + "]"
}

// labels are the first letters of einsum for a shape, from a given letter on.
func labels(s []int, from int) string { return "abcdefghijklm"[from : from+len(s)] }

// arrayExpr draws a value of any shape.
func arrayExpr(g *gen, s *scope, shape []int, depth int) expr {
	if shape == nil {
		return scalarExpr(g, s, depth)
	}
	if len(shape) == 1 && depth > 0 && g.one(8) {
		return arrayOfRows(g, s, shape[0], depth)
	}
	return chunkExpr(g, s, shape, depth)
}

func constantExpr(g *gen, shape []int) expr {
	if shape == nil {
		return expr{sql: g.number(), mag: 1.2, draws: true}
	}
	return expr{sql: fmt.Sprintf("random_normal(%s, %d)", shapeText(shape), g.r.Intn(100)),
		shape: shape, mag: 2, draws: true}
}

// leafChunk draws a chunk with few operators: a column of the shape, or another value brought to it.
func leafChunk(g *gen, s *scope, shape []int) expr {
	if cs := s.floats(shape); len(cs) > 0 {
		return g.choose(cs)
	}
	if cs := s.chunks(); len(cs) > 0 && g.one(2) {
		return adaptShape(g, g.choose(cs), shape)
	}
	return adaptShape(g, leafScalar(g, s), shape)
}

// adaptShape brings a value to a shape by a linear map.
func adaptShape(g *gen, e expr, shape []int) expr {
	if e.kind == kernels.Int {
		e = asScalar(g, e)
	}
	// a map between these would be a chunk of a high rank
	if len(e.shape)+len(shape) > 4 && !slices.Equal(e.shape, shape) {
		e = reduceExpr(g, e)
	}
	switch {
	case slices.Equal(e.shape, shape) && (e.shape == nil) == (shape == nil):
		return e
	case shape == nil:
		return reduceExpr(g, e)
	case e.shape == nil && g.one(2):
		g.use("scalar with chunk")
		e.sql, e.mag = fmt.Sprintf("(%s * %s)", e.sql, constantExpr(g, shape).sql), 2*e.mag
	case e.shape == nil:
		g.use("kernel:full")
		e.sql = fmt.Sprintf("full(%s, %s)", shapeText(shape), e.sql)
	default:
		all := append(slices.Clone(e.shape), shape...)
		in, out := labels(e.shape, 0), labels(shape, len(e.shape))
		g.use("kernel:einsum")
		e.sql, e.mag = fmt.Sprintf("einsum('%s,%s%s->%s', %s, %s)", in, in, out, out, e.sql,
			constantExpr(g, all).sql), 4*e.mag
	}
	e.shape, e.bare = shape, false
	return tame(g, e, 20)
}

// chunkExpr draws a chunk of a shape.
func chunkExpr(g *gen, s *scope, shape []int, depth int) expr {
	if shape == nil {
		return scalarExpr(g, s, depth)
	}
	if depth <= 0 || !spendBudget(g) {
		return leafChunk(g, s, shape)
	}
	switch g.pick(10, 14, 10, 14, 20, 6, 5, 6, 6, 6, 4) {
	case 1:
		return arithChunk(g, chunkExpr(g, s, shape, depth-1), chunkExpr(g, s, shape, depth-1))
	case 2:
		return scaleChunk(g, scalarExpr(g, s, depth-1), chunkExpr(g, s, shape, depth-1))
	case 3:
		return unaryScalar(g, chunkExpr(g, s, shape, depth-1))
	case 4:
		return adaptShape(g, kernelExpr(g, s, depth-1), shape)
	case 5:
		return caseChunk(g, s, shape, depth-1)
	case 6:
		return coalesceChunk(g, s, shape)
	case 7:
		if len(shape) > 2 {
			return leafChunk(g, s, shape)
		}
		return productExpr(g, s, shape, depth-1)
	case 8:
		return piecesExpr(g, s, shape, depth-1)
	case 9:
		if x := chunkExpr(g, s, shape, depth-1); x.draws && x.dep && !s.above {
			return dropoutExpr(g, x)
		}
	case 10:
		return broadcastExpr(g, s, shape, depth-1)
	}
	return leafChunk(g, s, shape)
}

func arithChunk(g *gen, a, b expr) expr {
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
		b = tame(g, b, 4)
		out.sql, out.mag = fmt.Sprintf("(%s / (square(%s) + 0.5))", a.sql, b.sql), 2*a.mag
	}
	return tame(g, out, 20)
}

// scaleChunk combines a scalar with a chunk.
func scaleChunk(g *gen, x, v expr) expr {
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
		x = tame(g, x, 4)
		out.sql, out.mag = fmt.Sprintf("(%s / (square(%s) + 0.5))", v.sql, x.sql), 2*v.mag
	}
	return tame(g, out, 20)
}

// broadcastExpr combines a chunk with one of its last axis.
func broadcastExpr(g *gen, s *scope, shape []int, depth int) expr {
	small := shape[len(shape)-1:]
	if g.one(2) {
		small = append(slices.Clone(shape[:len(shape)-1]), 1)
	}
	a, b := chunkExpr(g, s, shape, depth), chunkExpr(g, s, small, 0)
	g.use("broadcast")
	out := arithChunk(g, a, b)
	if g.one(2) {
		out = arithChunk(g, b, a)
	}
	out.shape = shape
	return out
}

func caseChunk(g *gen, s *scope, shape []int, depth int) expr {
	x, y := chunkExpr(g, s, shape, depth), chunkExpr(g, s, shape, depth)
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

func coalesceChunk(g *gen, s *scope, shape []int) expr {
	x := leafChunk(g, s, shape)
	g.use("chunk coalesce")
	y := constantExpr(g, shape)
	if g.one(2) {
		y = leafChunk(g, s, shape)
	}
	return expr{sql: fmt.Sprintf("COALESCE(%s, %s)", x.sql, y.sql), shape: shape, mag: max(x.mag, y.mag),
		dep: x.dep || y.dep, null: x.null && y.null}
}

// productExpr makes a chunk of a shape by matmul, outer or transpose.
func productExpr(g *gen, s *scope, shape []int, depth int) expr {
	k := 2 + g.r.Intn(2)
	var a, b expr
	name := "matmul"
	switch {
	case len(shape) == 1:
		a, b = chunkExpr(g, s, []int{k}, depth), chunkExpr(g, s, []int{k, shape[0]}, depth)
		if g.one(2) {
			a, b = chunkExpr(g, s, []int{shape[0], k}, depth), chunkExpr(g, s, []int{k}, depth)
		}
	case g.one(3):
		name = "outer"
		a, b = chunkExpr(g, s, shape[:1], depth), chunkExpr(g, s, shape[1:], depth)
	case g.one(2):
		e := chunkExpr(g, s, []int{shape[1], shape[0]}, depth)
		g.use("kernel:transpose")
		e.sql, e.shape, e.bare = fmt.Sprintf("transpose(%s)", e.sql), shape, false
		return e
	default:
		a, b = chunkExpr(g, s, []int{shape[0], k}, depth), chunkExpr(g, s, []int{k, shape[1]}, depth)
	}
	g.use("kernel:" + name)
	out := expr{sql: fmt.Sprintf("%s(%s, %s)", name, a.sql, b.sql), shape: shape, mag: 3 * a.mag * b.mag,
		dep: a.dep || b.dep, draws: a.draws && b.draws, null: a.null || b.null}
	return tame(g, out, 20)
}

// nullConcat counts || with an operand that may be NULL: NULL in a loss, the other operand in Postgres.
const nullConcat = "concat of NULL"

// piecesExpr makes a chunk of a shape from parts of others: ||, a slice or a reshape.
func piecesExpr(g *gen, s *scope, shape []int, depth int) expr {
	if n := shape[0]; n > 1 && g.one(2) {
		cut := 1 + g.r.Intn(n-1)
		a := chunkExpr(g, s, append([]int{cut}, shape[1:]...), depth)
		b := chunkExpr(g, s, append([]int{n - cut}, shape[1:]...), depth)
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
	e := chunkExpr(g, s, larger, depth)
	e.sql, e.shape, e.bare = "("+e.sql+")"+text, shape, false
	return e
}

// asScalar brings a kernel's result to a scalar.
func asScalar(g *gen, e expr) expr {
	if e.kind == kernels.Int {
		e.kind, e.mag, e.bare = kernels.Float64, e.mag/2, false
		e.sql = fmt.Sprintf("(0.5 * %s)", e.sql)
	}
	return reduceExpr(g, e)
}
