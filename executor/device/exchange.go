package device

import (
	"context"
	"fmt"
	"sync"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/values"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels/cpu"
)

// Exchange makes a column of rows that lie at several sites. All sites run it together: none writes what it sends
// before all have read it.
type Exchange struct{ *values.Exchange }

// Network joins the sites of a process.
type Network struct {
	ports []*Port
	stay  bool // each site has a processor: who waits stays awake
	mu    sync.Mutex
	turns map[int]*turn
}

// Port is a site's end of a network, or of one to other processes. It is for one goroutine at a time.
type Port struct {
	net   *Network
	turns Turns // nil: all sites are in this process
	site  int
	taken int           // how many turns it has taken
	moved map[int]int64 // by exchange: bytes that its last turn has brought from other sites
}

// Moved is how many bytes the last turn of an exchange has brought from other sites.
func (p *Port) Moved(number int) int64 { return p.moved[number] }

// turn is one exchange of all sites.
type turn struct {
	number     int
	sent       []*column.Column
	come, gone int
	ready      *cpu.Flag // all have come
	over       *cpu.Flag // all have gone
}

// NewNetwork joins so many sites.
func NewNetwork(sites int) *Network {
	n := &Network{turns: map[int]*turn{}, stay: sites <= cpu.Processors()}
	for s := range sites {
		n.ports = append(n.ports, &Port{net: n, site: s, moved: map[int]int64{}})
	}
	return n
}

// Stay reports whether each site has a processor, so that who waits for another may stay awake.
func (n *Network) Stay() bool { return n.stay }

// Port is the end of a site.
func (n *Network) Port(site int) *Port { return n.ports[site] }

// Reset forgets exchanges that were not finished. No site may be in one.
func (n *Network) Reset() {
	n.turns = map[int]*turn{}
	for _, p := range n.ports {
		p.taken = 0
	}
}

// Exchange fills a column with the rows that arrive at the site, once all sites have come to the same exchange. It
// returns when all sites have what they read of this one's rows.
func (p *Port) Exchange(ctx context.Context, x *Exchange, to *column.Column) error {
	var sent *column.Column
	if x.Sent != nil {
		sent = x.Sent.Data
	}
	if p.turns != nil {
		return p.call(ctx, x, sent, to)
	}
	t, err := p.come(x.Number, sent)
	if err != nil {
		return err
	}
	if err := t.ready.Await(ctx, p.net.stay); err != nil {
		return err
	}
	if err := p.arrive(x, t.sent, to); err != nil {
		return err
	}
	p.net.leave(t)
	return t.over.Await(ctx, p.net.stay)
}

// come takes part in the site's next turn.
func (p *Port) come(number int, sent *column.Column) (*turn, error) {
	n := p.net
	n.mu.Lock()
	defer n.mu.Unlock()
	t := n.turns[p.taken]
	if t == nil {
		t = &turn{number: number, sent: make([]*column.Column, len(n.ports)), ready: cpu.NewFlag(), over: cpu.NewFlag()}
		n.turns[p.taken] = t
	}
	if t.number != number {
		return nil, sqlerr.Broken("executor", "site %d is at exchange %d while others are at %d", p.site, number, t.number)
	}
	t.sent[p.site] = sent
	p.taken++
	if t.come++; t.come == len(n.ports) {
		delete(n.turns, p.taken-1)
		t.ready.Raise()
	}
	return t, nil
}

func (n *Network) leave(t *turn) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if t.gone++; t.gone == len(n.ports) {
		t.over.Raise()
	}
}

// arrive copies the rows that come to the site.
func (p *Port) arrive(x *Exchange, sent []*column.Column, to *column.Column) error {
	at, moved := 0, 0
	for _, part := range x.Parts {
		if part.N == 0 {
			continue
		}
		from := sent[part.Site]
		if from == nil || from.Kind() != to.Kind() || from.Size() != to.Size() || at+part.N > to.Len() {
			return sqlerr.Broken("executor", "exchange %d brings %s from site %d to rows %d to %d of %s at site %d", x.Number,
				describe(from), part.Site, at, at+part.N, describe(to), p.site)
		}
		into := to.Rows(at, at+part.N)
		copyRows(&into, from, part.Rows)
		if at += part.N; part.Site != p.site {
			moved += len(into.Bytes()) + len(into.Valid())
		}
	}
	p.moved[x.Number] = int64(moved)
	if at != to.Len() {
		return sqlerr.Broken("executor", "exchange %d brings %d rows to site %d, which expects %d", x.Number, at, p.site,
			to.Len())
	}
	return nil
}

func describe(c *column.Column) string {
	if c == nil {
		return "nothing"
	}
	return fmt.Sprintf("%d x %d numbers of kind %d", c.Len(), c.Size(), c.Kind())
}

// copyRows copies rows, with what is NULL among them; nil: all.
func copyRows(to, from *column.Column, rows []int32) {
	size := from.Size() * from.Kind().Bytes()
	src, dst := from.Bytes(), to.Bytes()
	if rows == nil {
		copy(dst, src[:to.Len()*size])
		copy(to.Texts(), from.Texts())
	}
	for i, r := range rows {
		if to.Kind() == column.Str {
			to.Texts()[i] = from.Texts()[r]
		}
		copy(dst[i*size:(i+1)*size], src[int(r)*size:])
	}
	for i := range to.Valid() {
		r := i
		if rows != nil {
			r = int(rows[i])
		}
		to.Valid()[i] = 1
		if from.IsNull(r) {
			to.Valid()[i] = 0
		}
	}
}
