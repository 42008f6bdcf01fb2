package apart

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// Member is the end of a site in its own process: it does the commands that arrive. It implements device.Turns for what
// they run. It is for one caller at a time.
type Member struct {
	// Obey does a command.
	Obey     func(ctx context.Context, command []byte) (reply []byte, err error)
	patience atomic.Int64 // see Wait

	sites   int
	inside  sync.Mutex // held while no call is being answered, or the database is asked
	ends    context.CancelFunc
	answer  chan []byte // of the command that runs; nil: none does
	brought chan []byte
}

// NewMember is a member of a plan of so many sites.
func NewMember(sites int, obey func(ctx context.Context, command []byte) ([]byte, error)) *Member {
	m := &Member{Obey: obey, sites: sites}
	m.inside.Lock()
	return m
}

// Wait sets how long a call waits for the site, before it answers that it still computes; 0: without end. It is so from
// the next call on.
func (m *Member) Wait(patience time.Duration) { m.patience.Store(int64(patience)) }

// Within runs f while a call is being answered: then the database may be asked.
func (m *Member) Within(f func() error) error {
	m.inside.Lock()
	defer m.inside.Unlock()
	return f()
}

// Call answers a message of the conductor.
func (m *Member) Call(ctx context.Context, message []byte) (reply []byte, err error) {
	m.inside.Unlock()
	defer m.inside.Lock()
	broken := func(what string) ([]byte, error) { return nil, sqlerr.Broken("executor/apart", "%s", what) }
	if len(message) == 0 {
		return broken("an empty message")
	}
	switch message[0] {
	case command:
		m.end()
		m.begin(ctx, message[1:])
	case turned:
		if m.answer == nil {
			return broken("a turn of no command")
		}
		select {
		case m.brought <- message[1:]:
		default:
			return broken("a turn that nobody takes")
		}
	case continu:
		if m.answer == nil {
			return broken("no command is being done")
		}
	default:
		return broken("a message of an unknown kind")
	}
	return m.await(ctx)
}

// await waits for what the command that runs has to say.
func (m *Member) await(ctx context.Context) ([]byte, error) {
	var late <-chan time.Time
	if patience := time.Duration(m.patience.Load()); patience > 0 {
		timer := time.NewTimer(patience)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case reply := <-m.answer:
		if reply[0] != turned {
			m.ends()
			m.answer = nil
		}
		return reply, nil
	case <-late:
		return []byte{busy}, nil
	case <-ctx.Done():
		m.ends()
		return nil, ctx.Err()
	}
}

// begin begins a command. It outlives the call that brings it.
func (m *Member) begin(ctx context.Context, text []byte) {
	inner, ends := context.WithCancel(context.WithoutCancel(ctx))
	answer := make(chan []byte, 1)
	m.ends, m.answer, m.brought = ends, answer, make(chan []byte, 1)
	go func() {
		reply, err := m.Obey(inner, text)
		if err != nil {
			answer <- packedError(err)
			return
		}
		answer <- append([]byte{answered}, reply...)
	}()
}

// Close ends a command that still runs, and waits for it.
func (m *Member) Close() {
	m.inside.Unlock() // it may want to ask the database
	defer m.inside.Lock()
	m.end()
}

func (m *Member) end() {
	if m.answer == nil {
		return
	}
	m.ends()
	for reply := range m.answer {
		if reply[0] != turned {
			break
		}
	}
	m.answer = nil
}

// Turn implements device.Turns.
func (m *Member) Turn(ctx context.Context, number int, out [][]byte) (in [][]byte, err error) {
	select {
	case m.answer <- packed(number, out):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case b := <-m.brought:
		at, in, err := unpacked(b, m.sites)
		if err == nil && at != number {
			err = sqlerr.Broken("executor/apart", "turn %d is brought to a site at turn %d", at, number)
		}
		return in, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
