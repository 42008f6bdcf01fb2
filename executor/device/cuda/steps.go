package cuda

import (
	"fmt"
	"math"

	"github.com/relgrad/relgrad/executor/device"
)

// stepped are the kernels of an instruction that follows the gradients.
func (c *code) stepped(t *task) []*launch {
	switch f := t.Form.(type) {
	case *device.Finite:
		return c.finite(f, t)
	case *device.Clip:
		return c.clip(f, t)
	}
	out := c.update(t.Form.(*device.Update), t)
	if len(out) > 0 && !c.settled && c.flagged() > 0 {
		out = append([]*launch{c.settle(t)}, out...)
	}
	return out
}

// finite is the kernel that looks for numbers that are not finite: it notes the first one's place. A loss may be NULL.
func (c *code) finite(f *device.Finite, t *task) []*launch {
	d := t.V.Data
	if d.Len()*d.Size() == 0 {
		return nil
	}
	b := newBuilder(c, t.T)
	s := newBody(nil)
	bad := fmt.Sprintf("!isfinite((double) %s[e])", b.numbers(d))
	if valid := d.Valid(); f.Slot == device.Loss && valid != nil {
		bad += fmt.Sprintf(" || !%s[e]", b.pointer(valid, "unsigned char"))
	}
	found := b.word("found", uint64(c.flag(t)), "unsigned long long *")
	s.block(fmt.Sprintf("for (long long e = (long long) blockIdx.x * blockDim.x + threadIdx.x; e < %s; "+
		"e += (long long) gridDim.x * blockDim.x)", b.count(d.Len()*d.Size())), func(s *body) {
		s.add("if (%s)", bad)
		s.add("\tk_fail(%s, (unsigned long long) e);", found)
	})
	return []*launch{b.finish(s, c.blocks(d.Len()*d.Size(), threads))}
}

// settle is the kernel that has nothing change from now on where something has been found.
func (c *code) settle(t *task) *launch {
	b, s := newBuilder(c, t.T), newBody(nil)
	c.settled = true
	s.add("if (blockIdx.x == 0 && threadIdx.x == 0 && k_found(%s, %d))",
		b.word("flags", uint64(c.failure), "const unsigned long long *"), 1+len(c.flags))
	s.add("\t*%s = 1;", b.word("stop", uint64(c.d.stop), "unsigned long long *"))
	return b.finish(s, 1)
}

// settleAtEnd does so for lists behind this one, which changes nothing itself.
func (c *code) settleAtEnd() {
	last := len(c.list) - 1
	for last >= 0 && c.list[last].parts {
		last--
	}
	if last >= 0 && !c.settled && c.flagged() > 0 && c.list[last].host == nil {
		c.list[last].kernels = append(c.list[last].kernels, c.settle(c.list[last]))
	}
}

// update is the kernel of an update.
func (c *code) update(u *device.Update, t *task) []*launch {
	if u.New == nil && u.Loop.Name == "simplex" {
		return c.simplex(u, t)
	}
	if u.New == nil {
		panic(elsewhere{fmt.Sprintf("%s has no expressions", u.Loop.Name)})
	}
	var outs []output
	for i, v := range u.Changed(t.Instr) {
		outs = append(outs, output{t.T.Result[i], v.Data, 0})
	}
	n, rows := changing(u)
	if n == 0 {
		return nil
	}
	l := mapKernel(c, t.T, outs, n, rows, unlessStopped)
	if l.fails { // it could not be computed again to say what is wrong
		panic(elsewhere{"an update may fail"})
	}
	return []*launch{l}
}

// unlessStopped has a kernel change nothing where those before it have found an error, or a number that is not finite,
// in this run or in one before that nobody has looked at yet.
func unlessStopped(b *builder, s *body) {
	s.add("if (*%s)", b.word("stop", uint64(b.c.d.stop), "const unsigned long long *"))
	s.add("\treturn;")
}

// changing are the rows that an update changes: how many, and which; nil: the first ones.
func changing(u *device.Update) (n int, rows rowsOf) {
	var list []int32
	for _, r := range u.Runs {
		for i := r[0]; i < r[1] && len(u.Runs) > 1; i++ {
			list = append(list, i)
		}
		n += int(r[1] - r[0])
	}
	switch {
	case len(u.Runs) > 1:
		rows = func(b *builder, i string) string { return fmt.Sprintf("(long long) %s[%s]", b.list(list), i) }
	case len(u.Runs) == 1 && u.Runs[0][0] > 0:
		rows = func(b *builder, i string) string { return fmt.Sprintf("(%s + %s)", i, b.count(int(u.Runs[0][0]))) }
	}
	return n, rows
}

// simplex is the kernel that projects rows on the simplex, each by a thread.
func (c *code) simplex(u *device.Update, t *task) []*launch {
	n, rows := changing(u)
	d := t.V.Data
	if n*d.Size() == 0 {
		return nil
	}
	b, s, row := newBuilder(c, t.T), newBody(nil), "i"
	unlessStopped(b, s)
	if rows != nil {
		row = rows(b, row)
	}
	s.block(fmt.Sprintf("for (long long i = (long long) blockIdx.x * blockDim.x + threadIdx.x; i < %s; "+
		"i += (long long) gridDim.x * blockDim.x)", b.count(n)), func(s *body) {
		s.add("k_simplex(%s + %s * %d, %[3]d);", b.target(d.Bytes(), ctype(d.Kind())), row, d.Size())
	})
	return []*launch{b.finish(s, c.blocks(n, threads))}
}

// clip are the kernels that measure gradients together: the norms of pieces, of these norms, until there is one.
func (c *code) clip(f *device.Clip, t *task) (out []*launch) {
	var pieces [][]int32 // of each gradient: where its pieces begin and end
	n := 0
	for i, v := range f.Gradients {
		d := v.Data
		if d.Len()*d.Size() > math.MaxInt32 {
			panic(elsewhere{"a gradient has more than 2^31 numbers"})
		}
		if f.Rows[i] == nil {
			pieces = append(pieces, cutAt(d.Len()*d.Size()))
		} else {
			var p []int32
			for _, r := range f.Rows[i] {
				p = append(p, r*int32(d.Size()), (r+1)*int32(d.Size()))
			}
			pieces = append(pieces, p)
		}
		n += len(pieces[i]) / 2
	}
	norms := []uint64{c.room(n)}
	for m := n; m > 1; {
		m = (m + partRows - 1) / partRows
		norms = append(norms, c.room(m))
	}
	n = 0
	for i, v := range f.Gradients {
		if p := pieces[i]; len(p) > 0 {
			b := newBuilder(c, t.T)
			out = append(out, normsOf(b, ctype(v.Data.Kind()), b.numbers(v.Data), p, norms[0]+8*uint64(n)))
			n += len(p) / 2
		}
	}
	for _, to := range norms[1:] {
		b, p := newBuilder(c, t.T), cutAt(n)
		out = append(out, normsOf(b, "double", b.word("norms", norms[0], "const double *"), p, to))
		norms, n = norms[1:], len(p)/2
	}
	b, s := newBuilder(c, t.T), newBody(nil)
	s.block("if (blockIdx.x == 0 && threadIdx.x == 0)", func(s *body) {
		s.add("double factor = %s ? *%s : 0;", b.count(n), b.word("norms", norms[0], "const double *"))
		if !f.Measure {
			s.add("factor = factor > %s ? %[1]s / factor : 1;", hexFloat(f.Bound))
		}
		for _, v := range f.Numbers {
			s.add("*%s = (%s) factor;", b.target(v.Data.Bytes(), ctype(v.Data.Kind())), ctype(v.Data.Kind()))
		}
	})
	return append(out, b.finish(s, 1))
}

// room is memory of the list for so many numbers.
func (c *code) room(numbers int) uint64 {
	at, err := c.allocate(8*max(numbers, 1), nil)
	if err != nil {
		panic(failed{err})
	}
	return uint64(at)
}

// cutAt cuts so many numbers into pieces, and lists where these begin and end.
func cutAt(n int) (out []int32) {
	for at := 0; at < n; at += partRows {
		out = append(out, int32(at), int32(min(at+partRows, n)))
	}
	return out
}

// normsOf is the kernel of the norms of pieces of a list, each computed by a block.
func normsOf(b *builder, typ, from string, pieces []int32, to uint64) *launch {
	s := newBody(nil)
	n, list := len(pieces)/2, b.list(pieces)
	s.add("__shared__ double memory[%d];", 2*threads)
	s.block(fmt.Sprintf("for (long long i = blockIdx.x; i < %s; i += gridDim.x)", b.count(n)), func(s *body) {
		s.add("double norm = k_norm<%s>(%s + %s[2 * i], %[3]s[2 * i + 1] - %[3]s[2 * i], memory);", typ, from, list)
		s.add("if (threadIdx.x == 0)")
		s.add("\t%s[i] = norm;", b.word("to", to, "double *"))
	})
	return b.finish(s, b.c.blocks(n, 1))
}
