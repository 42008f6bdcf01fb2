package physical

import (
	"math"
	"math/bits"
	"slices"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/ra"
)

// Stats knows how many rows lie where, exactly or by estimate.
type Stats interface {
	// Rows returns how many rows n holds at each site. Each site of a partial has rows of its own.
	Rows(n *Node) []int64
	// Stays returns how many rows of the input of n, a Shuf or a Halo, lie at a site and are sent to the same one.
	Stays(n *Node) int64
}

// Move is what an exchange moves.
type Move struct {
	Node *Node
	// Model counts floats as TRA does: s copies of all rows for a BCAST, all rows once for a SHUF, wherever they lie
	// before. TRA has no halo: of one each row counts once for each site that needs it.
	Model int64
	// Exact counts the floats that leave a site for another: a row that lies where it is wanted does not move.
	Exact int64
	// Rows are those that leave a site for another, Bytes what they take without what tells them apart.
	Rows           int64
	Bytes          float64
	Busiest        float64   // bytes that the site sends or receives that does most, without those
	Sent, Received []float64 // rows, by site
	Holds          float64   // bytes that the site keeps that has most rows then
	// Prepares are the bytes that each site touches before it sends: those of the rows among which it finds those of a
	// halo, and those that it writes, where numbers are computed to be sent.
	Prepares []float64
}

// busiest are the rows that the site sends or receives that does most.
func (m Move) busiest() float64 { return max(slices.Max(m.Sent), slices.Max(m.Received)) }

// Width is the floats of a row: the numbers that are none of its identity.
func Width(n *ra.Node) (out int64) {
	for _, c := range n.Cols {
		if !n.IsKey(c.ID) {
			out += int64(c.Type.Size())
		}
	}
	return out
}

// Moves predicts what each exchange of the plan moves, inputs first.
func (p *Plan) Moves(stats Stats) (out []Move, err error) {
	for _, n := range p.Nodes() {
		if n.Op == Local {
			continue
		}
		m, err := predict(n, stats)
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// Crossing is how many rows leave a site for another in an exchange. Of a replicated relation it reads one replica, and
// sites need none of its rows.
func Crossing(n *Node, stats Stats) int64 {
	at := stats.Rows(n.Inputs[0])
	all := total(at)
	switch {
	case n.Inputs[0].Place.Kind == Replicated:
		return 0
	case n.Op == Bcast:
		return int64(len(at)-1) * all // each site lacks the rows of all others
	case n.Op == Shuf:
		return all - stats.Stays(n)
	case n.Op == Halo:
		return total(stats.Rows(n)) - stats.Stays(n)
	}
	return all - at[n.Site]
}

// predict tells what an exchange moves.
func predict(n *Node, stats Stats) (Move, error) {
	at := stats.Rows(n.Inputs[0])
	all := total(at)
	if n.Inputs[0].Place.Kind == Replicated {
		all = slices.Max(at)
	}
	if n.Op == Halo {
		all = total(stats.Rows(n))
	}
	of := n.Relation()
	copies, width := int64(1), Width(of)
	if n.Op == Bcast {
		copies = int64(len(at))
	}
	if high, low := bits.Mul64(uint64(all), uint64(copies*width)); high > 0 || low>>63 > 0 {
		return Move{}, sqlerr.New(sqlerr.ProgramLimit, "%v moves %d rows of %d floats to %d sites: more than can be counted",
			n.Op, all, width, copies)
	}
	out := Move{Node: n, Model: all * copies * width, Rows: Crossing(n, stats)}
	out.Exact = out.Rows * width
	whole, keys := rowBytes(of), keyBytes(of)
	out.Sent, out.Received = crossings(n, at, stats.Rows(n), all, out.Rows)
	out.Bytes, out.Busiest = float64(out.Rows)*(whole-keys), out.busiest()*(whole-keys)
	out.Holds = float64(slices.Max(stats.Rows(n))) * whole
	each := 0.0
	if out.Rows > 0 {
		each = computedBytes(of)
	}
	if n.Op == Halo {
		each += whole
	}
	for _, rows := range at {
		out.Prepares = append(out.Prepares, each*float64(rows))
	}
	return out, nil
}

// computedBytes are the bytes of a row that is in memory only where it is sent.
func computedBytes(n *ra.Node) (out float64) {
	for _, c := range n.Cols {
		if c.Dep && made(n, c.ID) != nil {
			out += bytes(c.Type)
		}
	}
	return out
}

// crossings are the rows that each site sends and receives. Of a SHUF each site is taken to send, and to receive, the
// same share of the rows that it has.
func crossings(n *Node, before, after []int64, all, crossing int64) (sent, received []float64) {
	sent, received = make([]float64, len(before)), make([]float64, len(before))
	if crossing == 0 {
		return sent, received
	}
	share, from := float64(crossing)/float64(all), math.Max(1, float64(total(before))) // estimates may know of no rows
	for s := range before {
		switch {
		case n.Op == Bcast:
			sent[s], received[s] = float64(before[s])*float64(len(before)-1), float64(all-before[s])
		case n.Op == Gather && s == n.Site:
			received[s] = float64(all - before[s])
		case n.Op == Gather:
			sent[s] = float64(before[s])
		case n.Op == Halo:
			sent[s], received[s] = float64(before[s])/from*float64(crossing), float64(after[s])*share
		default:
			sent[s], received[s] = float64(before[s])*share, float64(after[s])*share
		}
	}
	return sent, received
}
