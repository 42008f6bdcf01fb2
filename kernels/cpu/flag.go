package cpu

import (
	"context"
	"sync/atomic"
)

// Flag is raised once, and tells those that wait for it. Make it with NewFlag.
type Flag struct {
	raised atomic.Uint32
	c      chan struct{}
}

// NewFlag makes a flag that is not raised.
func NewFlag() *Flag { return &Flag{c: make(chan struct{})} }

// Raise raises the flag. What was written before is there for who has waited.
func (f *Flag) Raise() {
	f.raised.Store(1)
	close(f.c)
}

// Await returns when the flag is raised, or with the context's error. stay says that nobody else wants the
// processor: as waking takes long (see helper), who waits then stays awake for a while.
func (f *Flag) Await(ctx context.Context, stay bool) error {
	if f.raised.Load() != 0 || stay && differs(&f.raised, 0, awake) {
		return nil
	}
	select {
	case <-f.c:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
