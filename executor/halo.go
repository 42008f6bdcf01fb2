package executor

import (
	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/ra"
)

// A HALO sends each site the rows that its rows of a partner join. The site that needs them says by which keys, each of
// them once, and the sites that have rows look the keys up.

// needed lists the rows of this site that each site needs.
func (st *stage) needed(l *link) ([][]int32, error) {
	table, err := st.keyed(l)
	if err != nil {
		return nil, err
	}
	rows := make([][]int32, st.p.sites)
	for site := range rows {
		if l.partner[site] == nil {
			continue
		}
		d, err := st.asks(site, l)
		if err != nil {
			return nil, err
		}
		rows[site] = table.Having(d.needs, st.Arrays)
	}
	return rows, nil
}

// keyed is the table of the keys of what a HALO sends from this site. Where they stay the same while partners change
// from step to step, it is made once.
func (st *stage) keyed(l *link) (*structure.Lookup, error) {
	of := l.send[st.p.number]
	stays := !st.p.flow.Structure[of]
	for _, id := range l.node.By {
		stays = stays && !st.p.flow.Column[structure.ColumnOf{Node: of, Col: of.Index(id)}]
	}
	if stays && st.parent != nil {
		st = st.parent
	}
	if t := st.lookups[l]; t != nil {
		return t, nil
	}
	keys, _, err := st.Vectors(of, l.node.By)
	if err != nil {
		return nil, err
	}
	t := structure.NewLookup(keys, keys[0].Len(), l.asFloat())
	if l.perStep {
		st.lookups[l] = t
	}
	return t, nil
}

// needing finds the keys of the rows that the site's rows of the partner need.
func (st *stage) needing(l *link, d *departure) error {
	keys, _, err := st.Vectors(l.partner[st.p.number], l.node.On)
	if err == nil {
		d.needs = structure.Distinct(keys, keys[0].Len(), l.asFloat())
	}
	return err
}

// asFloat tells which keys of a HALO are floats. Of these a source may have integers.
func (l *link) asFloat() (out []bool) {
	float := func(of *ra.Node, id ra.ColumnID) bool { return of.Col(id).Type.IsFloat() }
	for i, id := range l.node.By {
		out = append(out, float(l.relation(), id) || float(l.node.Inputs[1].Relation(), l.node.On[i]))
	}
	return out
}
