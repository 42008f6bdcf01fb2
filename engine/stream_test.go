package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/train"
)

// parts is a relation of one column, its row numbers, which counts what is read of it.
type parts struct {
	rows   []int64
	lock   sync.Mutex
	reads  map[int]int
	broken map[int]error
	began  chan int // if it is not nil, each read says that it has begun and waits for its context
}

func (p *parts) Columns() ([]ra.Column, []string) { return nil, nil }
func (p *parts) Parts() []int64                   { return p.rows }
func (p *parts) Hash() string                     { return "" }

func (p *parts) Read(ctx context.Context, part int) ([]*column.Column, error) {
	p.lock.Lock()
	p.reads[part]++
	began, err := p.began, p.broken[part]
	p.lock.Unlock()
	if began != nil {
		began <- part
		<-ctx.Done()
		return nil, ctx.Err()
	}
	first := int64(0)
	for _, n := range p.rows[:part] {
		first += n
	}
	c := column.New(kernels.Type{Kind: kernels.Int}, 0)
	for k := range p.rows[part] {
		c.AddI64(first + k)
	}
	c.SetLen(int(p.rows[part]))
	return []*column.Column{c}, err
}

// newStream streams parts of 7 to 16 rows.
func newStream(t *testing.T, size, epochs int64) (*stream, *parts, int64) {
	t.Helper()
	p, total := &parts{reads: map[int]int{}, broken: map[int]error{}}, int64(0)
	for i := range int64(10) {
		p.rows = append(p.rows, 7+i)
		total += 7 + i
	}
	c := train.Default()
	c.Batch, c.BatchSize, c.Epochs, c.Seed = "points", size, epochs, 5
	if err := c.SetRows(total); err != nil {
		t.Fatal(err)
	}
	s := &stream{Stream: p, config: &c, seed: 5, rows: p.rows, parts: map[int32][]*column.Column{}}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	t.Cleanup(func() { (&Batch{stream: s}).Close() })
	return s, p, total
}

func (s *stream) keysOf(t *testing.T, step int64) []int64 {
	t.Helper()
	cols, err := s.ofStep(&kernels.Env{Seed: 5, Step: step})
	if err != nil {
		t.Fatalf("step %d: %v", step, err)
	}
	return cols[0].I64()
}

// TestStream: an epoch has all rows once, and another order than others; a part is read once in it; what is in memory
// are the parts of a step and of the next one; a run that begins at any step has the same rows.
func TestStream(t *testing.T) {
	const epochs = 3
	for _, size := range []int64{1, 5, 16, 40, 1000} {
		s, p, total := newStream(t, size, epochs)
		per := (total + size - 1) / size
		firsts, seen := map[string]bool{}, map[int64]bool{}
		for step := int64(1); step <= epochs*per; step++ {
			if (step-1)%per == 0 {
				seen = map[int64]bool{}
			}
			keys := s.keysOf(t, step)
			for i, k := range keys {
				if seen[k] || i > 0 && keys[i-1] >= k {
					t.Fatalf("batches of %d: step %d has %v, of which some were there before", size, step, keys)
				}
				seen[k] = true
			}
			if step%per == 0 && int64(len(seen)) != total {
				t.Errorf("batches of %d: an epoch has %d rows of %d", size, len(seen), total)
			}
			if (step-1)%per == 0 && size < total {
				firsts[fmt.Sprint(keys)] = true
			}
			if most := 2 * (2 + int(size)/7); len(s.parts) > most {
				t.Errorf("batches of %d: %d parts are in memory, at most %d should be", size, len(s.parts), most)
			}
			other, _, _ := newStream(t, size, epochs)
			if got := other.keysOf(t, step); fmt.Sprint(got) != fmt.Sprint(keys) {
				t.Errorf("batches of %d: a run that begins at step %d has %v, not %v", size, step, got, keys)
			}
		}
		if size < total && len(firsts) != epochs {
			t.Errorf("batches of %d: %d of %d epochs have an order of their own", size, len(firsts), epochs)
		}
		for part := range p.rows {
			if n := p.reads[part]; n < 1 || n > epochs {
				t.Errorf("batches of %d: part %d is read %d times in %d epochs", size, part, n, epochs)
			}
		}
	}
}

// TestStreamAhead: the parts of the next step are read while a step is computed, once two steps have followed each
// other, and closing the batch ends that.
func TestStreamAhead(t *testing.T) {
	s, p, _ := newStream(t, 30, 1)
	s.keysOf(t, 1)
	if s.next != nil {
		t.Error("after a single step more is read")
	}
	if err := s.need(s.taken(2)); err != nil {
		t.Fatal(err)
	}
	p.began = make(chan int)
	s.keysOf(t, 2)
	select {
	case <-p.began:
	case <-time.After(20 * time.Second):
		t.Fatal("nothing is read ahead")
	}
	closed := make(chan bool)
	go func() {
		(&Batch{stream: s}).Close()
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(10 * time.Second):
		s.cancel()
		t.Fatal("closing waits for what is read")
	}
}

// TestStreamBroken: a part that cannot be read is an error of the step that needs it, also if it was read ahead.
func TestStreamBroken(t *testing.T) {
	s, p, _ := newStream(t, 30, 1)
	first := map[int32]int64{}
	for step := int64(4); step > 0; step-- {
		for _, x := range s.taken(step) {
			first[x.part] = step
		}
	}
	broken := errors.New("broken")
	for part, step := range first {
		if step == 3 {
			p.broken[int(part)] = broken
		}
	}
	if len(p.broken) == 0 {
		t.Fatal("no part begins in step 3")
	}
	s.keysOf(t, 1)
	s.keysOf(t, 2)
	if _, err := s.ofStep(&kernels.Env{Step: 3}); err != broken {
		t.Error(err)
	}
	p.lock.Lock()
	p.broken = nil
	p.lock.Unlock()
	s.keysOf(t, 3)
}
