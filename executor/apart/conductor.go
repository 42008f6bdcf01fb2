package apart

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// Caller reaches a member. It is for one call at a time.
type Caller interface {
	Call(ctx context.Context, message []byte) (reply []byte, err error)
}

// Conductor is the end of the site from which the others are conducted. It implements device.Turns for that site.
type Conductor struct {
	own     int
	members []Caller // by site; nil: the conductor's own

	mu    sync.Mutex
	ended int // sites that have done their part of the command
	round *round
	sums  Counted
}

// Counted is what has gone to members and come from them, in bytes of messages.
type Counted struct{ Calls, Sent, Received int64 }

// round is a turn of all sites.
type round struct {
	number int
	came   int
	out    [][][]byte // by site from which, by site to which
	over   chan struct{}
	err    error
}

// Failed is an error of a site.
type Failed struct {
	Site int
	Err  error
}

func (e *Failed) Error() string { return e.Err.Error() }

// Unwrap is the error at the site.
func (e *Failed) Unwrap() error { return e.Err }

// NewConductor conducts members, by site; nil is that of the conductor.
func NewConductor(members []Caller) *Conductor {
	c := &Conductor{members: members}
	for i, m := range members {
		if m == nil {
			c.own = i
		}
	}
	return c
}

// Counted tells what has been sent so far.
func (c *Conductor) Counted() Counted {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sums
}

// Do is DoEach with one command for all members.
func (c *Conductor) Do(ctx context.Context, text []byte, f func(ctx context.Context) error) ([][]byte, error) {
	return c.DoEach(ctx, slices.Repeat([][]byte{text}, len(c.members)), f)
}

// Close does nothing: the members are their owners'.
func (c *Conductor) Close() {}

// DoEach has each member do a command, by site, while f does it here; it returns their replies by site. Where it fails
// at one site, it ends at all of them with that error, which is a *Failed if a member's.
func (c *Conductor) DoEach(ctx context.Context, texts [][]byte, f func(ctx context.Context) error) ([][]byte, error) {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	c.ended, c.round = 0, nil
	replies, fails := make([][]byte, len(c.members)), make([]error, len(c.members))
	var all sync.WaitGroup
	for site, m := range c.members {
		if site == c.own {
			continue
		}
		all.Go(func() {
			reply, err := c.conduct(inner, site, m, append([]byte{command}, texts[site]...))
			if replies[site] = reply; err != nil {
				fails[site] = &Failed{site, err}
				cancel()
			}
			c.end(site)
		})
	}
	if fails[c.own] = f(inner); fails[c.own] != nil {
		cancel()
	}
	c.end(c.own)
	all.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return replies, cause(fails)
}

// cause is the first site's error among those that are not only behind another site's.
func cause(fails []error) (out error) {
	const none, behind, own = 0, 1, 2
	least := none
	for _, err := range fails {
		rank := own
		switch {
		case err == nil:
			continue
		case errors.Is(err, context.Canceled), errors.Is(err, errAlone):
			rank = behind
		}
		if rank > least {
			least, out = rank, err
		}
	}
	return out
}

// conduct has a member do a command: it brings the member what others send until the command is done.
func (c *Conductor) conduct(ctx context.Context, site int, m Caller, message []byte) ([]byte, error) {
	for {
		reply, err := m.Call(ctx, message)
		if err != nil {
			return nil, err
		}
		c.mu.Lock()
		c.sums.Calls++
		c.sums.Sent += int64(len(message))
		c.sums.Received += int64(len(reply))
		c.mu.Unlock()
		if len(reply) == 0 {
			return nil, sqlerr.Broken("executor/apart", "site %d answers nothing", site)
		}
		switch reply[0] {
		case answered:
			return reply[1:], nil
		case failed:
			return nil, unpackedError(reply[1:])
		case busy:
			message = []byte{continu}
		case turned:
			number, out, err := unpacked(reply[1:], len(c.members))
			if err != nil {
				return nil, err
			}
			in, err := c.come(ctx, site, number, out)
			if err != nil {
				return nil, err
			}
			message = packed(number, in)
		default:
			return nil, sqlerr.Broken("executor/apart", "site %d answers in an unknown way", site)
		}
	}
}

// Turn implements device.Turns for the conductor's site.
func (c *Conductor) Turn(ctx context.Context, number int, out [][]byte) (in [][]byte, err error) {
	return c.come(ctx, c.own, number, out)
}

// come takes part in a turn, and returns what others have sent to the site.
func (c *Conductor) come(ctx context.Context, site, number int, out [][]byte) ([][]byte, error) {
	c.mu.Lock()
	r := c.round
	if r == nil {
		r = &round{number: number, out: make([][][]byte, len(c.members)), over: make(chan struct{})}
		c.round = r
	}
	r.out[site] = out
	r.came++
	switch {
	case r.number != number:
		c.over(r, sqlerr.Broken("executor/apart", "site %d is at turn %d while others are at %d", site, number, r.number))
	case r.came == len(c.members):
		c.over(r, nil)
	default:
		c.alone(r)
	}
	c.mu.Unlock()
	select {
	case <-r.over:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if r.err != nil {
		return nil, r.err
	}
	in := make([][]byte, len(c.members))
	for from, list := range r.out {
		if from != site && site < len(list) {
			in[from] = list[site]
		}
	}
	return in, nil
}

// over ends a turn.
func (c *Conductor) over(r *round, err error) {
	if r.err == nil {
		r.err = err
	}
	if c.round == r {
		c.round = nil
		close(r.over)
	}
}

// end notes that a site has done its part.
func (c *Conductor) end(site int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended++; c.round != nil {
		c.alone(c.round)
	}
}

// alone ends a turn to which some sites cannot come any more.
func (c *Conductor) alone(r *round) {
	if c.ended > 0 && r.came+c.ended == len(c.members) {
		c.over(r, fmt.Errorf("%w: %d sites are at turn %d while others have ended", errAlone, r.came, r.number))
	}
}

// errAlone is an error behind another one: the sites that have ended have failed, or it is internal.
var errAlone = sqlerr.Broken("executor/apart", "sites take different turns")
