package structure

import (
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/ra/einsum"
)

// Labelled tells the labels, as the query has them, of what the rows of a node are read through and grouped by.
type Labelled struct {
	st   *Stage
	node *ra.Node
	by   []ra.ColumnID // what the rows are grouped by; nil: they are not, or into one group
}

// LabelsOf is for the rows of n, grouped by columns.
func LabelsOf(st *Stage, n *ra.Node, by []ra.ColumnID) *Labelled { return &Labelled{st, n, by} }

// Of lists the labels of indexes from rows of the space: those of the keys of the relation that is read through each.
// The rows are the node's, or those of a relation below it, where a call has been moved to its rows. ok is false
// where an index is none through which the query reads.
func (l *Labelled) Of(rows *Space, idx []*Index) (labels [][]int, ok bool) {
	r := l.st.env.Sums.Rows(l.node)
	for base := range r.Reads {
		rel, err := l.st.Relation(r.Reads[base].Node)
		if err != nil || rel.Space != rows {
			continue
		}
		through := l.through(r, base)
		if labels := labelsOf(r, through, idx); labels != nil {
			return labels, true
		}
	}
	return nil, false
}

// Groups are the labels that the node's rows are grouped by.
func (l *Labelled) Groups() []int { return l.st.env.Sums.Rows(l.node).By(l.by) }

// read is a relation and the index by which it is read; nil: row by row.
type read struct {
	number int
	by     *Index
}

// through lists what is read in each row of a read: by indexes that there are, for nobody has read through others.
func (l *Labelled) through(r *einsum.Rows, i int) []read {
	out, ok := []read{{number: i}}, false
	rel, err := l.st.Relation(r.Reads[i].Node)
	if err != nil {
		return out
	}
	for s, in := range r.Reads[i].Inputs {
		if in < 0 {
			continue
		}
		var by *Index
		switch {
		case r.Reads[i].Node.Op == ra.Aggregate:
			if rel.Groups != nil {
				continue
			}
		case s >= len(rel.Indexes):
			continue
		default:
			by = rel.Indexes[s]
		}
		for _, x := range l.through(r, in) {
			if x.by, ok = l.st.Indexer.known(by, x.by); ok {
				out = append(out, x)
			}
		}
	}
	return out
}

// labelsOf looks indexes up among those that relations are read by: of several, the fewest labels tell the rows apart.
func labelsOf(r *einsum.Rows, through []read, idx []*Index) (labels [][]int) {
	for _, x := range idx {
		found := false
		var keys []int
		for _, t := range through {
			if k := r.Reads[t.number].Keys; t.by == x && (!found || len(k) < len(keys)) {
				keys, found = k, true
			}
		}
		if !found {
			return nil
		}
		labels = append(labels, keys)
	}
	return labels
}
