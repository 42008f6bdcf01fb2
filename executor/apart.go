package executor

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/executor/values"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer/physical"
	"github.com/relgrad/relgrad/ra"
)

// Sites of other processes have no memory in common with this one. What they would read of each other's structure they
// send each other: for each exchange one message in which a HALO asks for rows, and one that says which rows come.

// CompileApart is CompileSites for one site of a plan, whose others are in other processes: these compile the same plan
// and do what this program does, in the same order. src has the rows of tables that lie at the site.
func CompileApart(ctx context.Context, plan *physical.Plan, number int, src ra.Source, turns device.Turns,
	opt Options) (_ *Program, err error) {
	defer guard(&err)
	p := &Program{roots: plan.Logical().Roots}
	f, steps := cut(plan), false
	for n := range plan.Sites {
		own, whole, b := f.site(n)
		flow := structure.Analyse(own)
		ra.Walk(func(n *ra.Node) { steps = steps || flow.Structure[n] }, own.Nodes()...)
		if n != number {
			continue
		}
		var d device.Device
		if len(opt.Devices) > 0 {
			d = opt.Devices[0]
		}
		s := newSite(own, src, opt, d)
		s.number, s.whole, s.links, s.received, s.nodes = n, whole, f.links, b.received, b.done
		s.sites, s.turns = plan.Sites, turns
		s.port = device.Apart(n, turns)
		s.device.Join(s.port)
		p.sites = []*site{s}
	}
	p.sites[0].steps, p.exchanges = steps, steps
	for _, l := range f.links {
		p.exchanges = p.exchanges || l.perStep || slices.Contains(l.varies, true)
	}
	return p.compiled(ctx, opt)
}

// talk is what a site and those of other processes say of an exchange.
type talk struct {
	*stage
	l *link
	d *departure // the site's own
}

// turn has the site take a turn with the others: 0 is that of what is needed, 1 that of what leaves.
func (t talk) turn(phase int, out [][]byte) ([][]byte, error) {
	in, err := t.p.turns.Turn(t.Ctx, -1-2*t.l.number-phase, out)
	if err == nil && len(in) != t.p.sites {
		err = internal("%d sites send what belongs to %d", len(in), t.p.sites)
	}
	return in, err
}

// comes reports whether rows may come from a site to another one through an exchange.
func (l *link) comes(from, to int) bool {
	return l.send[from] != nil && l.receive[to] != nil && slices.Contains(l.sources(to), from)
}

// ask tells the other sites which rows this one needs of a HALO, and hears which they need.
func (st talk) ask() error {
	l, d := st.l, st.d
	d.asked.Raise()
	if st.p.turns == nil || l.node.Op != physical.Halo {
		return nil
	}
	out, own := make([][]byte, st.p.sites), packedNeeds(d)
	for s := range out {
		if s != st.p.number && l.comes(s, st.p.number) {
			out[s] = own
		}
	}
	in, err := st.turn(0, out)
	if err != nil {
		return err
	}
	heard := make([]*departure, st.p.sites)
	for s, b := range in {
		heard[s] = &departure{}
		if s != st.p.number && l.comes(st.p.number, s) && l.partner[s] != nil {
			if err := heard[s].hearNeeds(l, b); err != nil {
				return err
			}
		}
	}
	heard[st.p.number], st.heard[l] = d, heard
	return nil
}

func packedNeeds(d *departure) []byte {
	out := []byte{byte(len(d.needs))}
	for _, c := range d.needs {
		out = column.Pack(out, c, nil)
	}
	return out
}

// hearNeeds reads which rows a site needs.
func (d *departure) hearNeeds(l *link, from []byte) error {
	if len(from) == 0 || from[0] != 0 && int(from[0]) != len(l.node.On) {
		return sqlerr.Broken("executor", "a site asks for rows by no keys of exchange %d", l.number)
	}
	keys, from := int(from[0]), from[1:]
	for i := range keys {
		c, rest, err := column.Unpack(from, l.node.Inputs[1].Relation().Col(l.node.On[i]).Type)
		if err != nil {
			return err
		}
		d.needs, from = append(d.needs, c), rest
	}
	return nil
}

// say tells the other sites what leaves this one, and hears what leaves them.
func (st talk) say() error {
	l, d := st.l, st.d
	d.said.Raise()
	if st.p.turns == nil {
		return nil
	}
	out := make([][]byte, st.p.sites)
	var all []byte
	for s := range out {
		switch {
		case s == st.p.number || !l.comes(st.p.number, s):
		case d.rows != nil:
			out[s] = packedRows(d, d.rows[s], len(d.rows[s]))
		default:
			if all == nil {
				all = packedRows(d, nil, d.n)
			}
			out[s] = all
		}
	}
	in, err := st.turn(1, out)
	if err != nil {
		return err
	}
	heard := make([]*departure, st.p.sites)
	for s, b := range in {
		heard[s] = &departure{}
		if s != st.p.number && l.comes(s, st.p.number) {
			if err := heard[s].hearRows(l, b); err != nil {
				return err
			}
		}
	}
	heard[st.p.number], st.heard[l] = d, heard
	return nil
}

// What is said of a column of rows that leave.
const (
	numbersCome = 1 << iota // its numbers come with each run
	mayBeNull
	comesNow
)

func packedRows(d *departure, rows []int32, n int) []byte {
	out := binary.AppendUvarint(nil, uint64(n))
	for i := range d.vals {
		what := byte(0)
		if v := d.vals[i]; v != nil {
			if what = numbersCome; v.Type.Nullable {
				what |= mayBeNull
			}
		}
		if d.now[i] != nil {
			what |= comesNow
		}
		if out = append(out, what); d.now[i] != nil {
			out = column.Pack(out, d.now[i], rows)
		}
	}
	return out
}

// hearRows reads what comes from a site: all of the rows are for this one.
func (d *departure) hearRows(l *link, from []byte) error {
	broken := func() error { return sqlerr.Broken("executor", "a site says nothing of exchange %d", l.number) }
	n, used := binary.Uvarint(from)
	if used <= 0 || n > structure.MaxRows {
		return broken()
	}
	of := l.relation()
	d.n, d.vals, d.now, from = int(n), make([]*values.Val, len(of.Cols)), make([]*column.Column, len(of.Cols)), from[used:]
	for i, c := range of.Cols {
		if len(from) == 0 {
			return broken()
		}
		what := from[0]
		if from = from[1:]; what&numbersCome != 0 {
			d.vals[i] = &values.Val{Type: kernels.Type{Nullable: what&mayBeNull != 0}}
		}
		if what&comesNow == 0 {
			continue
		}
		var err error
		if d.now[i], from, err = column.Unpack(from, c.Type); err != nil {
			return err
		}
		if d.now[i].Len() != d.n {
			return broken()
		}
	}
	return nil
}

// leaves says which rows leave for which site of another process.
func (st talk) leaves() []*values.Leave {
	if st.p.turns == nil {
		return nil
	}
	out, d := make([]*values.Leave, st.p.sites), st.d
	for s := range out {
		switch {
		case s == st.p.number || !st.l.comes(st.p.number, s):
		case d.rows == nil:
			out[s] = &values.Leave{All: true}
		default:
			out[s] = &values.Leave{Rows: d.rows[s]}
		}
	}
	return out
}
