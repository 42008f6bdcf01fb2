package executor

import (
	"context"
	"fmt"
	"strings"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/values"
	"github.com/relgrad/relgrad/internal/encoded"
	"github.com/relgrad/relgrad/optimizer/physical"
)

// Exchanged is what an exchange of a program brings from site to site, in all columns that come with a run. What comes
// once, with the structure, such as keys, is not counted.
type Exchanged struct {
	Node      *physical.Node
	Columns   []string
	Rows      int64 // that leave a site for another
	Predicted int64 // bytes, by the rows that the structure has
	Moved     int64 // bytes that the last run has moved, or the first, of what is moved once; 0: none has run
	Once      bool  // all of it is moved in the first run only
}

// Exchanges lists the exchanges of a program of several sites, in the order in which they run. Where rows change from
// step to step, they are those of the last step.
func (p *Program) Exchanges() (out []Exchanged, err error) {
	defer guard(&err)
	if p.PerStep() && p.sites[0].step == nil { // there is no step yet
		return nil, nil
	}
	far, err := p.crossings()
	if err != nil {
		return nil, err
	}
	for n, l := range p.sites[0].links {
		x := Exchanged{Node: l.node, Once: true}
		if far == nil {
			x.Rows = physical.Crossing(l.node, present{p})
		}
		for _, c := range far {
			x.Rows, x.Moved = x.Rows+c.Rows[n], x.Moved+c.Moved[n]
		}
		for i, c := range l.relation().Cols {
			st := p.sites[0].now()
			if !st.moves(l, i) {
				continue
			}
			v, err := st.moved(l, i)
			if err != nil {
				return nil, err
			}
			row := int64(v.Type.Size() * column.KindOf(v.Type).Bytes())
			if v.Type.Nullable {
				row++
			}
			x.Columns, x.Predicted, x.Once = append(x.Columns, c.Name), x.Predicted+x.Rows*row, x.Once && !v.Vary
			for _, s := range p.sites {
				if far == nil {
					x.Moved += s.port.Moved(l.number + i)
				}
			}
		}
		if x.Columns != nil {
			out = append(out, x)
		}
	}
	return out, nil
}

// crossing is what exchanges have brought to a site from others.
type crossing struct{ Rows, Moved []int64 } // by exchange

// crossings are those of all sites, where others are in other processes; else nil.
func (p *Program) crossings() (out []crossing, err error) {
	if p.leads == nil {
		return nil, nil
	}
	text, err := encoded.Append(nil, order{Counts: true}, nil)
	if err != nil {
		return nil, err
	}
	var own crossing
	replies, err := p.leads.Do(context.Background(), text, func(context.Context) (err error) {
		own, err = crossed(p.sites[0])
		return err
	})
	if err != nil {
		return nil, err
	}
	out = []crossing{own}
	for _, r := range replies {
		if r == nil {
			continue
		}
		var c crossing
		if _, err := encoded.Read(r, &c, nil); err != nil {
			return nil, err
		}
		if len(c.Rows) != len(own.Rows) || len(c.Moved) != len(own.Rows) {
			return nil, internal("a site has counted %d exchanges of %d", len(c.Rows), len(own.Rows))
		}
		out = append(out, c)
	}
	return out, nil
}

// crossed counts what has come to the site.
func crossed(p *site) (out crossing, err error) {
	for _, l := range p.links {
		parts, err := p.now().parts(l)
		if err != nil {
			return out, err
		}
		rows, moved := int64(0), int64(0)
		for _, part := range parts {
			if part.Site != p.number {
				rows += int64(part.N)
			}
		}
		for i := range l.relation().Cols {
			moved += p.port.Moved(l.number + i)
		}
		out.Rows, out.Moved = append(out.Rows, rows), append(out.Moved, moved)
	}
	return out, nil
}

// present are the rows of the program as they lie now.
type present struct{ p *Program }

// Rows implements physical.Stats.
func (x present) Rows(n *physical.Node) []int64 {
	out := make([]int64, len(x.p.sites))
	for s, site := range x.p.sites {
		if of := site.nodes[n]; of != nil {
			rows, err := rowsOf(site, of)
			if err != nil {
				panic(err)
			}
			out[s] = rows
		}
	}
	return out
}

// Stays implements physical.Stats.
func (x present) Stays(n *physical.Node) (rows int64) {
	for s, site := range x.p.sites {
		for _, l := range site.links {
			if l.node != n {
				continue
			}
			parts, err := site.now().parts(l)
			if err != nil {
				panic(err)
			}
			for _, part := range parts {
				if part.Site == s {
					rows += int64(part.N)
				}
			}
		}
	}
	return rows
}

// explainExchanges prints what the exchanges move.
func (p *Program) explainExchanges(b *strings.Builder) error {
	list, err := p.Exchanges()
	for _, x := range list {
		b.WriteString(x.String() + "\n")
	}
	return err
}

// String says on one line what an exchange moves.
func (x Exchanged) String() string {
	s := fmt.Sprintf("%v of %s: %d rows, %s", x.Node.Op, strings.Join(x.Columns, ", "), x.Rows,
		values.Size(float64(x.Predicted)))
	if x.Once {
		s += " once"
	}
	if x.Moved > 0 {
		s += "; moved " + values.Size(float64(x.Moved))
	}
	if x.Moved > 0 && x.Moved != x.Predicted {
		s += fmt.Sprintf(", %d bytes of %d that were foretold", x.Moved, x.Predicted)
	}
	return s
}
