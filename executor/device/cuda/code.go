package cuda

import (
	"context"
	"fmt"
	"slices"
	"time"
	"unsafe"

	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/values"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/kernels/cuda"
)

// code is a prepared list.
type code struct {
	d        *Device
	list     []*task
	alone    *chain                  // of this list
	inputs   map[string]cuda.Address // of the host's memory that kernels read, by where it lies
	kept     map[string][]byte       // lists that only kernels hold, by what they hold
	own      []cuda.Address          // memory of the list
	packs    []*pack                 // that its arrays lie in
	step     cuda.Address            // stepNumbers, then the flags: of errors that kernels find, and of instructions
	failure  cuda.Address            // the first flag
	flags    []*task                 // instructions that have one
	off      int                     // where a turn's memory has what is sent to step, and the flags
	scratch  int                     // bytes of a block's stored cells, where they do not fit into shared memory
	partials int                     // bytes of partial sums
	most     int                     // blocks of a launch that has scratch
	fails    bool                    // some kernel may find an error
	settled  bool                    // what has been found stops what changes parameters
}

// task is an instruction: kernels, or what the processors run.
type task struct {
	*device.Instr
	kernels []*launch
	host    device.Code
	why     string // why the processors run it
	parts   bool   // a sum by parts, which is never made
	flag    int    // its place among the flags; 0: none
	took    []time.Duration
}

func (d *Device) Prepare(list []*device.Instr, scratch int) (device.Code, error) {
	c := &code{d: d, inputs: map[string]cuda.Address{}, kept: map[string][]byte{}}
	ok := false
	defer func() {
		if !ok {
			c.Close()
		}
	}()
	var err error
	if c.step, err = c.allocate(stepBytes+8*(1+len(list)), nil); err != nil {
		return nil, err
	}
	c.failure = c.step + stepBytes
	for _, in := range list {
		t := &task{Instr: in}
		c.list = append(c.list, t)
		if err := c.translate(t, scratch); err != nil {
			return nil, err
		}
	}
	c.settleAtEnd()
	if err := c.link(); err != nil {
		return nil, err
	}
	c.alone = d.chained([]*code{c}, nil, nil)
	ok = true
	return c, nil
}

// translate makes the kernels of an instruction, or has the processors run it.
func (c *code) translate(t *task, scratch int) (err error) {
	if _, t.parts = t.Form.(*device.Distributed); t.parts {
		return nil
	}
	if t.kernels, err = c.kernels(t); err == nil || t.why == "" {
		c.fails = c.fails || slices.ContainsFunc(t.kernels, func(l *launch) bool { return l.fails })
		return err
	}
	t.host, err = c.d.host.Prepare([]*device.Instr{t.Instr}, scratch)
	return err
}

// kernels are those of an instruction. Where there are none it says why.
func (c *code) kernels(t *task) (out []*launch, err error) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case elsewhere:
			t.why, err = e.why, sqlerr.New(sqlerr.FeatureNotSupported, "the device has no kernel: %s", e.why)
		case failed:
			err = e.error
		default:
			panic(e)
		}
	}()
	switch f := t.Form.(type) {
	case nil:
		if t.By > 0 || len(t.Besides) > 0 {
			panic(elsewhere{"it runs over rows of chunks"})
		}
		if t.Grp != nil {
			return sumKernels(c, t.T, t.V, t.Sum, 0, t.Rows, nil), nil
		}
		if t.Rows == 0 {
			return nil, nil
		}
		return []*launch{mapKernel(c, t.T, []output{{t.T.Result[0], t.V.Data, t.Off}}, t.Rows, nil, nil)}, nil
	case *device.Fused:
		for _, m := range f.Members {
			if m.V.Op == values.OpAgg {
				out = append(out, sumKernels(c, t.T, m.V, m.Sum, m.Base, t.Rows, m.V.Groups.Perm)...)
			} else if t.Rows > 0 {
				out = append(out, mapKernel(c, t.T, []output{{t.T.Result[m.Base], m.V.Data, 0}}, t.Rows, nil, nil))
			}
		}
		return out, nil
	case *device.Relayout:
		return c.relayout(f, t), nil
	case *device.Windowed:
		return windowed(c, f, t), nil
	case *device.GEMM, *device.NarrowProduct, *device.Outers, *device.ProductSum:
		return c.products(t), nil
	case *device.Finite, *device.Clip, *device.Update:
		return c.stepped(t), nil
	}
	panic(elsewhere{fmt.Sprintf("its form is %T", t.Form)})
}

// flag is where an instruction notes what it finds: the list's flags begin with that of failures.
func (c *code) flag(t *task) cuda.Address {
	if t.flag == 0 {
		c.flags = append(c.flags, t)
		t.flag = len(c.flags)
	}
	return c.failure + cuda.Address(8*t.flag)
}

// clean says that nothing has been found.
const clean = ^uint64(0)

// flagged is the number of bytes of the flags; 0: nothing can be found.
func (c *code) flagged() int {
	if !c.fails && len(c.flags) == 0 {
		return 0
	}
	return 8 * (1 + len(c.flags))
}

// send sends the numbers of a step, and clears the flags; receive has the flags come back.
func (c *code) send(t *turn) error {
	if err := t.host.Send(c.step, c.off, stepBytes); err != nil {
		return err
	}
	if c.flagged() == 0 {
		return nil
	}
	return c.d.d.Fill(c.failure, 0xff, c.flagged())
}

func (c *code) receive(t *turn) error {
	if c.flagged() == 0 {
		return nil
	}
	return t.host.Receive(c.off+stepBytes, c.flagged(), c.failure)
}

// flagsOf are the flags that have come back.
func (c *code) flagsOf(t *turn) []uint64 {
	found := make([]uint64, c.flagged()/8)
	copy(bytesOf(found), t.host.Bytes[c.off+stepBytes:])
	return found
}

// found reports whether a run has found something.
func (c *code) found(t *turn) bool {
	return slices.ContainsFunc(c.flagsOf(t), func(x uint64) bool { return x != clean })
}

// tell says what a run has found, which has waited for all that was launched. Of an error it says so only where the
// list has run alone: what it has read is there.
func (c *code) tell(ctx context.Context, t *turn, alone bool) error {
	found := c.flagsOf(t)
	switch {
	case found[0] != clean && alone:
		return c.explain(ctx, &t.env)
	case found[0] != clean:
		return device.Again
	}
	for i, k := range c.flags {
		if e := found[i+1]; e != clean {
			d, slot := k.V.Data, k.Form.(*device.Finite).Slot
			if slot == device.Loss {
				return &device.NotFinite{Slot: slot}
			}
			if err := c.d.Fetch(d); err != nil {
				return err
			}
			return &device.NotFinite{Slot: slot, Row: int(e) / d.Size(), X: d.Float(int(e))}
		}
	}
	return nil
}

// relayout is the kernel that copies a column to another chunking.
func (c *code) relayout(f *device.Relayout, t *task) []*launch {
	l, from := f.L, t.V.Args[0].Data
	l.List()
	list := make([]int32, l.Rows*l.Cols)
	for r := range l.Rows {
		for i := range l.Cols {
			piece := i / l.Run * l.Run
			list[r*l.Cols+i] = int32(l.At(r, piece) + i - piece)
		}
	}
	if len(list) == 0 {
		return nil
	}
	b := newBuilder(c, t.T)
	s := newBody(nil)
	typ := ctype(t.V.Data.Kind())
	to, x, at := b.target(t.V.Data.Bytes(), typ), b.numbers(from), b.list(list)
	s.block(fmt.Sprintf("for (long long e = (long long) blockIdx.x * blockDim.x + threadIdx.x; e < %s; "+
		"e += (long long) gridDim.x * blockDim.x)", b.count(len(list))), func(s *body) {
		if f.Back {
			s.add("%s[%s[e]] = (%s) %s[e];", to, at, typ, x)
		} else {
			s.add("%s[e] = (%s) %s[%s[e]];", to, typ, x, at)
		}
	})
	return []*launch{b.finish(s, c.blocks(len(list), threads))}
}

// blocks is how many blocks do so much work, of which each does a part.
func (c *code) blocks(work, each int) int {
	return max(1, min((work+each-1)/each, 16*c.d.d.Multiprocessors))
}

// failed is an error amid the translation.
type failed struct{ error }

// allocate is memory of the list with these bytes; nil: with zeros. Those of packs are there when the list is linked.
func (c *code) allocate(bytes int, x []byte) (cuda.Address, error) {
	if bytes > mostPack || apart {
		make := c.d.d.Allocate
		if x != nil {
			make = c.d.d.Reserve
		}
		at, err := c.d.takeBy(make, bytes)
		if err != nil {
			return 0, err
		}
		if c.own = append(c.own, at); at >= nowhere {
			return at, nil
		}
		return at, c.d.d.UploadBeside(at, x)
	}
	var b *pack
	if n := len(c.packs); n > 0 {
		b = c.packs[n-1]
	}
	if b == nil || b.filled+bytes > len(b.host.Bytes) {
		var err error
		if b, err = c.d.pack(bytes); err != nil {
			return 0, err
		}
		c.packs = append(c.packs, b)
	}
	to := b.host.Bytes[b.filled : b.filled+bytes]
	clear(to[copy(to, x):])
	at := b.at + cuda.Address(b.filled)
	b.filled += (bytes + aligned - 1) / aligned * aligned
	return at, nil
}

// sendPacks uploads what lies in packs, while the device computes: what has read their memory has run.
func (c *code) sendPacks() error {
	for _, b := range c.packs {
		n := min(b.filled, len(b.host.Bytes))
		if b.at >= nowhere || n == 0 {
			continue
		}
		if err := b.host.SendBeside(b.at, 0, n); err != nil {
			return err
		}
	}
	return c.d.d.Join()
}

// keep is a list with these bytes that stays where it is.
func (c *code) keep(x []byte) []byte {
	if c.kept[string(x)] == nil {
		c.kept[string(x)] = slices.Clone(x)
	}
	return c.kept[string(x)]
}

// input is where a part of the host's memory lies on the device, uploaded if need be.
func (c *code) input(x []byte) cuda.Address {
	if at, ok := c.d.find(x); ok {
		return at
	}
	key := fmt.Sprintf("%p %d", unsafe.SliceData(x), len(x))
	if at, ok := c.inputs[key]; ok {
		return at
	}
	at, err := c.allocate(len(x), x)
	if err != nil {
		panic(failed{err})
	}
	c.inputs[key] = at
	return at
}

// link has all kernels be compiled before the list runs, and uploads their words.
func (c *code) link() error {
	var ls []*launch
	for _, t := range c.list {
		ls = append(ls, t.kernels...)
	}
	for _, l := range ls {
		if c.most = max(c.most, l.blocks); l.call == nil {
			c.d.texts.add(l.text)
		}
	}
	if err := c.place(ls); err != nil {
		return err
	}
	return c.sendPacks()
}

// place gives launches the memory that they share, and uploads their words.
func (c *code) place(ls []*launch) (err error) {
	shared := map[string]cuda.Address{}
	for what, bytes := range map[string]int{"scratch": c.scratch * c.most, "partials": c.partials} {
		if bytes > 0 {
			if shared[what], err = c.allocate(bytes, nil); err != nil {
				return err
			}
		}
	}
	var words []uint64
	for _, l := range ls {
		for what, i := range l.patch {
			l.words[i] = uint64(shared[what])
		}
		if l.call != nil && l.call.parts {
			l.call.out += shared["partials"]
		}
		l.at = uint64(len(words)) * 8
		words = append(words, l.words...)
	}
	if len(words) == 0 {
		return nil
	}
	at, err := c.allocate(8*len(words), bytesOf(words))
	if err != nil {
		return err
	}
	for _, l := range ls {
		l.at += uint64(at)
	}
	return nil
}

// Run runs the list once. Where there is no room the processors do: what the structure reads tells how much is needed.
func (c *code) Run(ctx context.Context, env *kernels.Env, timed bool) error {
	if c.d.room.absent > 0 {
		return c.explain(ctx, env)
	}
	return c.alone.run(ctx, env, timed)
}

func (d *Device) runTask(ctx context.Context, t *task, env *kernels.Env) error {
	if t.host != nil {
		return d.onHost(t.Instr, func() error { return t.host.Run(ctx, env, false) })
	}
	for _, l := range t.kernels {
		if l.kernel == nil && l.call == nil {
			if l.kernel = d.texts.kernels[l.text]; l.kernel == nil {
				return sqlerr.Broken("executor/device/cuda", "a kernel of %s has not been compiled", t.How)
			}
		}
		if err := l.run(); err != nil {
			return err
		}
	}
	return nil
}

func (l *launch) run() error {
	if l.call != nil {
		return l.call.run()
	}
	return l.kernel.Launch(l.blocks, threads, l.at)
}

// explain runs the list on the processors, which say what is wrong.
func (c *code) explain(ctx context.Context, env *kernels.Env) error {
	for _, t := range c.list {
		if t.parts {
			continue
		}
		code, err := c.d.host.Prepare([]*device.Instr{t.Instr}, t.T.Bytes)
		if err != nil {
			return err
		}
		err = c.d.onHost(t.Instr, func() error { return code.Run(ctx, env, false) })
		code.Close()
		if err != nil {
			return err
		}
	}
	return nil // as for a product that a kernel takes for too large
}

func (c *code) Took(i int) []time.Duration { return c.list[i].took }

func (c *code) Needed(i int) bool { return !c.list[i].parts }

// Elsewhere lists the instructions that the processors run, with the reasons.
func (c *code) Elsewhere() (out []string) {
	for _, t := range c.list {
		if _, exchange := t.Form.(*device.Exchange); t.host != nil && !exchange { // sites meet in the host's memory
			out = append(out, fmt.Sprintf("%s: %s", t.How, t.why))
		}
	}
	return out
}

func (c *code) Close() {
	for _, t := range c.list {
		if t.host != nil {
			t.host.Close()
		}
	}
	c.alone.Close()
	for _, at := range c.own {
		c.d.give(at)
	}
	for _, b := range c.packs {
		c.d.leave(b)
	}
	c.own, c.packs = nil, nil
}

// written lists the vals that an instruction writes.
func written(in *device.Instr) []*values.Val {
	switch f := in.Form.(type) {
	case *device.Finite:
		return nil
	case *device.Clip:
		return f.Numbers
	case *device.Update:
		return f.Changed(in)
	}
	return in.Outs()
}
