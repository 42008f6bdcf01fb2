package device

import (
	"context"
	"time"

	"github.com/relgrad/relgrad/kernels"
)

// Device is what instructions run on.
type Device interface {
	// Prepare makes instructions ready to run one after the other, as often as is wanted. A worker needs so many
	// bytes of scratch memory.
	Prepare(list []*Instr, scratch int) (Code, error)
	// Held is how much memory the device keeps for its own use.
	Held() int64
	Close()
}

// Code is a list of instructions that is ready to run.
type Code interface {
	// Run runs the list once; timed has it note how long each instruction takes.
	Run(ctx context.Context, env *kernels.Env, timed bool) error
	// Took is how long the timed runs of instruction i took.
	Took(i int) []time.Duration
	// Needed reports whether the last run needed instruction i: of a sum by parts and those that stand in for it only
	// one is.
	Needed(i int) bool
	// Close gives back what the list has borrowed of the device.
	Close()
}
