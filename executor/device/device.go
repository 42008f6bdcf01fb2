package device

import (
	"context"
	"time"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/tensor"
)

// Device is what instructions run on, with the memory that they compute in.
//
// A device may have memory of its own. A buffer that it allocates is then the place in the host's memory that stands
// for it: what is computed there is to be fetched before the host reads it, and what the host writes there is to be
// stored before instructions read it. In between the host's memory holds nothing that counts. Columns elsewhere, such
// as those of tables, are the host's: instructions read and write them where they are.
type Device interface {
	// Allocate makes zeroed memory, which Free of the buffer gives back.
	Allocate(bytes int) (*tensor.Buffer, error)
	// Fetch brings a column in the device's memory to the host's, until instructions run again.
	Fetch(c *column.Column) error
	// Store brings a column that the host has written, all of it, to the device's memory.
	Store(c *column.Column) error
	// Copy copies the numbers of a column to one of the same length, whose kind may be wider.
	Copy(to, from *column.Column) error
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

// NewColumn makes a column in the device's memory.
func NewColumn(d Device, k column.Kind, n, size int, nullable bool) (*column.Column, error) {
	buf, err := d.Allocate(column.Bytes(k, n, size, nullable))
	if err != nil {
		return nil, err
	}
	c := column.Over(buf, k, n, size, nullable)
	return &c, nil
}
