package structure

import (
	"slices"

	"github.com/relgrad/relgrad/ra"
)

// fewPartners reports whether a semi-join is better computed from its partners: in a step, where they are few and the
// rows of slot 0, with their table of keys, stay the same for the whole run.
func (j *joiner) fewPartners() bool {
	for _, f := range j.preds {
		if !f.done {
			return false
		}
	}
	return j.n.Op == ra.SemiJoin && j.st.parent != nil && len(j.equis) > 0 && j.lasting(0) && 4*j.size(1) <= j.size(0)
}

// rowsOfPartners looks up the partners' keys in slot 0 and lists the rows found.
func (j *joiner) rowsOfPartners() (*Relation, error) {
	if err := j.add(1); err != nil {
		return nil, err
	}
	m, err := j.match(0, j.conditions(0))
	if err != nil {
		return nil, err
	}
	found, rows := make([]bool, m.Enc.Count), 0
	for _, k := range m.code {
		if k >= 0 && !found[k] {
			found[k] = true
			rows += int(m.start[k+1] - m.start[k])
		}
	}
	at := j.st.Arrays.Ints(rows)[:0]
	for k, is := range found {
		if !is {
			continue
		}
		for i := m.start[k]; i < m.start[k+1]; i++ {
			at = append(at, m.row(i))
		}
	}
	if m.rows != nil {
		slices.Sort(at)
	}
	return j.chosen(at), nil
}

// chosen is the structure of a semi-join or anti-join that keeps the given rows, in order.
func (j *joiner) chosen(at []int32) *Relation {
	from := j.in[0].Space
	if len(at) == from.N {
		return &Relation{Space: from, Indexes: []*Index{nil}}
	}
	sp := j.st.Space(len(at))
	return &Relation{Space: sp, Indexes: []*Index{j.st.Indexer.Index(sp, from, at)}}
}
