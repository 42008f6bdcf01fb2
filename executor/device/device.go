package device

import (
	"context"
	"errors"
	"time"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/tensor"
)

// Device runs instructions, and has the memory that they compute in.
//
// A device may have memory of its own. A buffer that it allocates then has an address in the host's memory, which only
// stands for the device's memory. What instructions compute there must be fetched before the host reads it, and what
// the host writes there must be stored before instructions read it; otherwise the host's memory there is undefined. All
// other columns, such as those of tables, are the host's: instructions read and write them in place.
type Device interface {
	// Allocate makes zeroed memory, which the buffer's Free gives back.
	Allocate(bytes int) (*tensor.Buffer, error)
	// Fetch copies a column from the device's memory to the host's. The copy is valid until instructions run again.
	Fetch(c *column.Column) error
	// Store copies a column to the device's memory. The host must have written all of it.
	Store(c *column.Column) error
	// Copy copies the numbers of a column to another one of the same length, whose kind may be wider.
	Copy(to, from *column.Column) error
	// Prepare makes instructions ready to run in this order, any number of times. scratch is the scratch memory that a
	// worker needs, in bytes.
	Prepare(list []*Instr, scratch int) (Code, error)
	// Join gives the device a site's end of a network, for the exchanges among its instructions.
	Join(p *Port)
	// Held is how many bytes the device keeps for its own use.
	Held() int64
	Close()
}

// Selective is a device that has only some forms: of a val that has others, too, it gets one of these. Of calls of
// kernels it computes some.
type Selective interface {
	Has(form string) bool
	Computes(x *kernels.Expr) bool
}

// Bounded is a device whose memory is bounded.
type Bounded interface {
	// Complete completes what has been prepared; it is an error where that, and what has been allocated, needs more memory
	// than there is. Then lists do not run. Those that are prepared before it are completed at once.
	Complete() error
	// Full reports whether most of the memory is in use, so that nobody should keep what is not needed at once.
	Full() bool
}

// Described is a device that says what it is, for plans.
type Described interface{ Describe() string }

// Partial is a list some of whose instructions the device has no kernel for: the processors run them. Elsewhere lists
// them, with the reasons.
type Partial interface{ Elsewhere() []string }

// Code is a list of instructions that is ready to run.
type Code interface {
	// Run runs the list once. If timed, it notes how long each instruction takes.
	Run(ctx context.Context, env *kernels.Env, timed bool) error
	// Took is how long the timed runs of instruction i took.
	Took(i int) []time.Duration
	// Needed reports whether the last run needed instruction i. Of a sum by parts and the instructions that replace it
	// where it is inexact, a run needs only one.
	Needed(i int) bool
	// Close gives back the memory that the list has taken from the device.
	Close()
}

// Chaining is a device that runs lists behind each other without the host.
type Chaining interface {
	// Chain has lists run as one. Before a run columns are stored (sent) as they are when it begins, and behind it others
	// are fetched; each is valid until the next End. It is nil where the host must do something amid the lists. The lists
	// must stay until the chain is closed.
	Chain(lists []Code, sent, fetched []*column.Column) Chained
}

// Chained are lists that run as one. A run may begin while the one before it goes on.
type Chained interface {
	Begin(ctx context.Context, env *kernels.Env) error
	// End waits for the first run that has begun and has not been ended, and fails as its lists do. Then it has changed no
	// column of a parameter, nor have the runs behind it, which are ended, too. Again is such an error.
	End(ctx context.Context) error
	Close()
}

// Again says that each list must be run by itself: the host may have to do something amid them.
var Again = errors.New("the lists must be run one by one")

// NewColumn makes a column in the device's memory.
func NewColumn(d Device, k column.Kind, n, size int, nullable bool) (*column.Column, error) {
	buf, err := d.Allocate(column.Bytes(k, n, size, nullable))
	if err != nil {
		return nil, err
	}
	c := column.Over(buf, k, n, size, nullable)
	return &c, nil
}
