package cuda

import (
	"context"
	"slices"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/kernels/cuda"
)

// chain is lists that run behind each other, as one. A run may begin before the one before it has ended.
type chain struct {
	d             *Device
	codes         []*code
	sent, fetched []part
	bytes         int // of a turn's memory that is pinned
	stretches     []*stretch
	turns         [2]*turn
	begun, ended  int // runs
}

// turn is what a run sends and what comes back. Of two runs that follow each other each has its own.
type turn struct {
	number int
	host   *cuda.Pinned // for each list its step numbers and its flags, then what is sent and fetched
	behind *cuda.Mark
	env    kernels.Env
	flies  bool
}

// part is memory of the host that stands for the device's, and its place among what a turn has pinned.
type part struct {
	host []byte
	at   cuda.Address
	off  int
}

// chained makes a chain.
func (d *Device) chained(codes []*code, sent, fetched []*column.Column) *chain {
	h := &chain{d: d, codes: codes}
	for _, c := range codes {
		c.off, h.bytes = h.bytes, h.bytes+stepBytes+8*(1+len(c.list))
	}
	parts := func(cols []*column.Column) (out []part) {
		for _, c := range cols {
			for _, x := range [][]byte{c.Bytes(), c.Valid()} {
				if at, ok := d.find(x); ok {
					out = append(out, part{x, at, h.bytes})
					h.bytes += (len(x) + 7) / 8 * 8
				}
			}
		}
		return out
	}
	h.sent, h.fetched = parts(sent), parts(fetched)
	var all []*task
	for _, c := range codes {
		all = append(all, c.list...)
	}
	h.stretches = stretchesOf(all)
	return h
}

// Chain has lists run behind each other. There is none where the processors run some of their instructions.
func (d *Device) Chain(codes []device.Code, sent, fetched []*column.Column) device.Chained {
	var own []*code
	for _, c := range codes {
		own = append(own, c.(*code))
		if slices.ContainsFunc(c.(*code).list, func(t *task) bool { return t.host != nil }) {
			return nil
		}
	}
	return d.chained(own, sent, fetched)
}

// turn is the next run's.
func (h *chain) turn() (t *turn, err error) {
	n := h.begun % len(h.turns)
	if h.turns[n] != nil {
		return h.turns[n], nil
	}
	t = &turn{number: n}
	if t.host, err = h.d.d.Pin(h.bytes); err != nil {
		return nil, err
	}
	if t.behind, err = h.d.d.Mark(); err != nil {
		t.host.Free()
		return nil, err
	}
	h.turns[n] = t
	return t, nil
}

// Begin begins a run.
func (h *chain) Begin(ctx context.Context, env *kernels.Env) error { return h.begin(ctx, env, false) }

func (h *chain) begin(ctx context.Context, env *kernels.Env, timed bool) error {
	if err := h.d.Complete(); err != nil {
		return err
	}
	t, err := h.turn()
	if err != nil {
		return err
	}
	if t.flies { // its memory is still used
		if err := h.d.d.Wait(); err != nil {
			return err
		}
	}
	if h.d.unseen {
		if err := h.d.goOn(); err != nil {
			return err
		}
	}
	t.env, t.flies = *env, true
	if err := h.launch(ctx, t, timed); err != nil {
		h.d.unseen = true
		return err
	}
	h.begun++
	return nil
}

// launch launches all of a run.
func (h *chain) launch(ctx context.Context, t *turn, timed bool) error {
	for _, c := range h.codes {
		copy(t.host.Bytes[c.off:], bytesOf(stepNumbers(&t.env)))
	}
	for _, p := range h.sent {
		copy(t.host.Bytes[p.off:], p.host)
	}
	for _, s := range h.stretches {
		if err := ctx.Err(); err != nil {
			return err
		}
		if s.looks {
			if err := h.lookAmid(ctx, t); err != nil {
				return err
			}
		}
		if err := s.run(ctx, h, t, timed); err != nil {
			return err
		}
	}
	return t.behind.Set()
}

// lookAmid looks at what has been found before the processors change something.
func (h *chain) lookAmid(ctx context.Context, t *turn) error {
	if err := h.receive(t); err != nil {
		return err
	}
	if err := h.d.d.Wait(); err != nil {
		return err
	}
	return h.found(ctx, t)
}

// End waits for the first run that has not been ended, and tells what its kernels have found. Then the runs begun
// behind it have changed nothing, and are ended, too.
func (h *chain) End(ctx context.Context) error {
	t := h.turns[h.ended%len(h.turns)]
	h.ended++
	if err := t.behind.Await(); err != nil {
		return err
	}
	t.flies = false
	for _, p := range h.fetched {
		copy(p.host, t.host.Bytes[p.off:p.off+len(p.host)])
	}
	return h.found(ctx, t)
}

// found tells what the kernels of a run have found.
func (h *chain) found(ctx context.Context, t *turn) error {
	for _, c := range h.codes {
		if !c.found(t) {
			continue
		}
		h.ended = h.begun
		if err := h.d.goOn(); err != nil {
			return err
		}
		return c.tell(ctx, t, len(h.codes) == 1)
	}
	return nil
}

// send sends what a run is given, and clears its flags; receive has what it brings come back.
func (h *chain) send(t *turn) error {
	for _, c := range h.codes {
		if err := c.send(t); err != nil {
			return err
		}
	}
	for _, p := range h.sent {
		if err := t.host.Send(p.at, p.off, len(p.host)); err != nil {
			return err
		}
	}
	return nil
}

func (h *chain) receive(t *turn) error {
	for _, c := range h.codes {
		if err := c.receive(t); err != nil {
			return err
		}
	}
	for _, p := range h.fetched {
		if err := t.host.Receive(p.off, len(p.host), p.at); err != nil {
			return err
		}
	}
	return nil
}

// run runs the lists once, and waits.
func (h *chain) run(ctx context.Context, env *kernels.Env, timed bool) error {
	h.begun, h.ended = 0, 0
	if err := h.begin(ctx, env, timed); err != nil {
		return err
	}
	return h.End(ctx)
}

// Close gives back what the chain has for itself.
func (h *chain) Close() {
	if h == nil {
		return
	}
	if slices.ContainsFunc(h.turns[:], func(t *turn) bool { return t != nil && t.flies }) {
		h.d.d.Wait()
		h.d.unseen = true
	}
	for _, s := range h.stretches {
		s.forget()
	}
	for _, t := range slices.DeleteFunc(h.turns[:], func(t *turn) bool { return t == nil }) {
		t.host.Free()
		t.behind.Free()
	}
}
