package engine

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"unsafe"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/train"
)

// stream gives the rows of steps from a relation that is read part by part. An epoch draws an order of the parts, and
// of the rows in each; the rows in this order are cut into steps. So a step reads few parts, and each is read once in
// an epoch. In memory are those of a step and, read meanwhile, those of the next one.
type stream struct {
	catalog.Stream
	config *train.Config
	seed   int64
	rows   []int64 // of the parts
	ctx    context.Context
	cancel context.CancelFunc

	lock  sync.Mutex
	epoch int64 // of order and ends; 0: none
	order []int32
	ends  []int64           // by place in order: rows up to the end of the part
	draws map[int32][]int32 // the orders of rows in parts that steps have come to
	step  int64             // whose rows now holds; 0: none
	now   []*column.Column
	parts map[int32][]*column.Column
	next  *fetch
}

// taken are rows of a part, in its order.
type taken struct {
	part int32
	rows []int32
}

// fetch reads parts in the background, which are there when done is closed.
type fetch struct {
	done  chan struct{}
	parts map[int32][]*column.Column
}

// open opens a batch whose rows are read as the steps need them.
func (b *Batch) open(ctx context.Context, from catalog.Streamer) error {
	s := &stream{config: b.config, seed: b.config.Seed, parts: map[int32][]*column.Column{}}
	s.ctx, s.cancel = context.WithCancel(ctx)
	var err error
	if s.Stream, err = from.Stream(s.ctx, b.Streamed.Func, b.Needs); err != nil {
		s.cancel()
		return sqlerr.In(err, b.Text)
	}
	b.stream, b.Rows = s, s.ofStep
	b.Cols, b.Types = s.Columns()
	s.rows = s.Parts()
	for _, n := range s.rows {
		b.N += int(n)
	}
	return b.weigh(s)
}

// weigh finds how many bytes the rows in memory take: the parts of a step and of the next one, of which the first and
// the last may have rows of other steps, and the rows of the step itself. Texts count as those of the first part.
func (b *Batch) weigh(s *stream) error {
	size := min(b.config.BatchSize, int64(b.N))
	if size == 0 {
		return nil
	}
	rows := min(2*size+3*slices.Max(s.rows), int64(b.N)) + size
	var first []*column.Column
	for i, c := range b.Cols {
		t := c.Type
		b.Bytes += rows * int64(column.Bytes(column.KindOf(t), 1<<10, t.Size(), t.Nullable)) >> 10
		if t.Kind != kernels.Text {
			continue
		}
		if first == nil {
			var err error
			if first, err = s.Read(s.ctx, 0); err != nil {
				return err
			}
		}
		texts := int64(0)
		for _, text := range first[i].Texts() {
			texts += int64(unsafe.Sizeof(text)) + int64(len(text))
		}
		b.Bytes += texts * rows / s.rows[0]
	}
	return nil
}

// Close ends what is read in the background.
func (b *Batch) Close() {
	if b == nil || b.stream == nil {
		return
	}
	s := b.stream
	s.cancel()
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.next != nil {
		<-s.next.done
	}
	s.next, s.now, s.parts, s.step = nil, nil, map[int32][]*column.Column{}, 0
}

// ofStep returns the rows of a step, in the order of the relation. Behind the second of two steps that follow each
// other, as those of a run do, the rows of the third are read in the background.
func (s *stream) ofStep(env *kernels.Env) ([]*column.Column, error) {
	if env.Step < 1 {
		return nil, sqlerr.New(sqlerr.Internal, "internal error: step %d has no batch", env.Step)
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	if env.Step == s.step {
		return s.now, nil
	}
	follows := env.Step == s.step+1 && s.step > 0
	list := s.taken(env.Step)
	if err := s.need(list); err != nil {
		return nil, err
	}
	s.now, s.step = s.gather(list), env.Step
	s.keep(list, env.Step, follows)
	return s.now, nil
}

// taken lists the rows of a step by parts.
func (s *stream) taken(step int64) (out []taken) {
	epoch, from, to := s.config.Slice(step)
	if epoch != s.epoch {
		s.epoch, s.order, s.ends = epoch, train.Permutation(s.seed, epoch, len(s.rows)), nil
		s.draws = map[int32][]int32{}
		end := int64(0)
		for _, part := range s.order {
			end += s.rows[part]
			s.ends = append(s.ends, end)
		}
	}
	at, _ := slices.BinarySearch(s.ends, from+1)
	for ; at < len(s.ends) && from < to; at++ {
		part := s.order[at]
		n := s.rows[part]
		begin := s.ends[at] - n
		until := min(to, s.ends[at])
		if s.draws[part] == nil {
			s.draws[part] = train.PermutationOf(s.seed, epoch, int(part), int(n))
		}
		rows := slices.Clone(s.draws[part][from-begin : until-begin])
		if until == s.ends[at] {
			delete(s.draws, part)
		}
		slices.Sort(rows)
		out, from = append(out, taken{part, rows}), until
	}
	slices.SortFunc(out, func(a, b taken) int { return cmp.Compare(a.part, b.part) })
	return out
}

// need has the parts of a step in memory.
func (s *stream) need(list []taken) error {
	if s.next != nil {
		<-s.next.done
		for part, cols := range s.next.parts {
			s.parts[part] = cols
		}
		s.next = nil // an error of a part that is needed is found again
	}
	for _, t := range list {
		if s.parts[t.part] == nil {
			cols, err := s.Read(s.ctx, int(t.part))
			if err != nil {
				return err
			}
			s.parts[t.part] = cols
		}
	}
	return nil
}

// gather takes the rows of a step from its parts.
func (s *stream) gather(list []taken) (out []*column.Column) {
	for i := range s.parts[list[0].part] {
		all := column.Gather(s.parts[list[0].part][i], list[0].rows)
		for _, t := range list[1:] {
			all.Append(column.Gather(s.parts[t.part][i], t.rows))
		}
		out = append(out, all)
	}
	return out
}

// keep forgets the parts that neither a step nor, where that will come, the next one needs, and begins to read those
// that the next one lacks.
func (s *stream) keep(list []taken, step int64, follows bool) {
	wanted := map[int32]bool{}
	for _, t := range list {
		wanted[t.part] = true
	}
	var lacking []int32
	if step < s.config.Steps() {
		for _, t := range s.taken(step + 1) {
			wanted[t.part] = true
			if s.parts[t.part] == nil {
				lacking = append(lacking, t.part)
			}
		}
	}
	for part := range s.parts {
		if !wanted[part] {
			delete(s.parts, part)
		}
	}
	if follows && len(lacking) > 0 {
		s.next = &fetch{done: make(chan struct{}), parts: map[int32][]*column.Column{}}
		go s.next.run(s, lacking)
	}
}

// run reads parts until one cannot be read.
func (f *fetch) run(s *stream, parts []int32) {
	defer close(f.done)
	for _, part := range parts {
		cols, err := s.Read(s.ctx, int(part))
		if err != nil {
			return
		}
		f.parts[part] = cols
	}
}
