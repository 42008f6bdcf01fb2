package cuda

import (
	"fmt"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/tensor"
)

// streamOf is the stream of a row's draws: a hash of its key, the arguments from first on, begun with h.
func streamOf(b *builder, s *body, o *device.Op, first int, h string, p point) string {
	for i := first; i < len(o.Args); i++ {
		for e := range b.t.Cells[o.Args[i]].Size {
			x := b.argument(s, o, i, point{p.slot, p.row, fmt.Sprint(e)})
			if b.t.Cells[o.Args[i]].Kind != column.I64 {
				x = fmt.Sprintf("__double_as_longlong((double) %s)", x)
			}
			h = fmt.Sprintf("k_mix(%s ^ (unsigned long long) %s)", h, x)
		}
	}
	return b.let(s, fmt.Sprintf("stream %d %s", o.Out, p.row), "unsigned long long", func() string { return h })
}

// start is where a hash begins.
var start = fmt.Sprintf("%#xull", tensor.HashKey())

func rowKey(b *builder, s *body, o *device.Op, p point) string {
	return fmt.Sprintf("(long long) %s", streamOf(b, s, o, 0, start, p))
}

func uniform(b *builder, s *body, o *device.Op, p point) string {
	return fmt.Sprintf("k_uniform(%s, %s, %s)", b.argument(s, o, 0, p), streamOf(b, s, o, 1, start, p), p.idx)
}

func randomInt(b *builder, s *body, o *device.Op, p point) string {
	top, seed := b.argument(s, o, 0, p), b.argument(s, o, 1, p)
	b.check(s, o, p, top+" < 1")
	v := b.let(s, fmt.Sprintf("drawn %d %s %s", o.Out, p.row, p.idx), "long long", func() string {
		return fmt.Sprintf("(long long) ((double) %s * k_uniform(%s, %s, %s))", top, seed,
			streamOf(b, s, o, 2, start, p), p.idx)
	})
	return fmt.Sprintf("(%s < %s ? %[1]s : %[2]s - 1)", v, top)
}

func dropMask(b *builder, s *body, o *device.Op, p point) string {
	attr := o.V.Expr.Attr
	step := b.word("step", uint64(b.c.step), "const long long *__restrict__")
	h := fmt.Sprintf("k_mix(k_mix(%s ^ %#xull) ^ (unsigned long long) %s[1])", start, uint64(attr.Int), step)
	return fmt.Sprintf("(k_kept(%s[0], %s, %s, %du) ? %s : 0)", step, streamOf(b, s, o, 0, h, p), p.idx,
		tensor.Threshold(attr.Num), literal(1/(1-attr.Num), b.t.Cells[o.Out].Kind))
}

// stepNumbers are what the words "step" point at: what a run has of its environment.
func stepNumbers(env *kernels.Env) []int64 { return []int64{env.Seed, env.Step, env.Epoch} }

// stepBytes is how many bytes these are.
const stepBytes = 24

func normal(b *builder, s *body, o *device.Op, p point) string {
	return fmt.Sprintf("k_normal(%s, %s, %s)", b.argument(s, o, 0, p), streamOf(b, s, o, 1, start, p), p.idx)
}

// glorot is a uniform draw between bounds that depend on two numbers behind the key.
func glorot(b *builder, s *body, o *device.Op, p point) string {
	drawn := *o
	drawn.Args = o.Args[:2]
	sum := b.let(s, fmt.Sprintf("fans %d %s", o.Out, p.row), "double", func() string {
		return fmt.Sprintf("(double) %s + (double) %s", b.argument(s, o, 2, p), b.argument(s, o, 3, p))
	})
	b.check(s, o, p, fmt.Sprintf("!(%s > 0)", sum))
	return fmt.Sprintf("sqrt(6 / %s) * (2 * %s - 1)", sum, uniform(b, s, &drawn, p))
}
