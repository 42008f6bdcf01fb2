package chunking

import (
	"fmt"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/ra"
)

// bounds finds how many keys each label has, and tells why the rows are no full grid, if they are none.
func (b *builder) bounds(v *vertex) (why string, err error) {
	r := v.e.Rows
	v.bound = make([]int64, len(r.Keys))
	by, domain := make([]string, len(r.Keys)), make([]Domain, len(r.Keys)) // who said so
	for i, read := range r.Reads {
		n := read.Node
		switch {
		case !r.Part(i) && len(n.Pred) > 0:
			return "a condition chooses rows, which are then no full grid", nil
		case !r.Part(i) && (n.Op == ra.SemiJoin || n.Op == ra.AntiJoin):
			return "rows are chosen by whether they have a partner", nil
		case len(r.Computed(i)) > 0:
			return "a key is computed", nil
		}
		if n.Op != ra.Scan {
			continue
		}
		for at, c := range n.Cols {
			l, ok := r.Label(i, c.ID)
			if !ok || n.TableCols[at] == ra.RowID {
				continue
			}
			name := n.Table.Name + "." + c.Name
			if !r.Part(i) && n.Table.Rows > 1 && !slices.Contains(read.Keys, l) {
				return fmt.Sprintf("%s is joined and no key: the rows of %s are no full grid", name, n.Table.Name), nil
			}
			has, err := b.count(n.Table, n.TableCols[at])
			if err != nil {
				return "", err
			}
			switch {
			case by[l] == "":
				v.bound[l], domain[l], by[l] = has.Count, has, name
			case domain[l] == has:
			case domain[l].Count == has.Count:
				return fmt.Sprintf("%s and %s have other keys: their rows are no full grid", by[l], name), nil
			default:
				return fmt.Sprintf("%s has %d keys, %s %d: their rows are no full grid", by[l], v.bound[l], name, has.Count), nil
			}
		}
	}
	return b.full(v)
}

// full tells which relation is no full grid of its keys; "" where all are.
func (b *builder) full(v *vertex) (why string, err error) {
	for i, read := range v.e.Rows.Reads {
		all := int64(1)
		var text []string
		for _, l := range read.Keys {
			if v.bound[l] == 0 {
				return fmt.Sprintf("how many keys %s has is not known", v.names[l]), nil
			}
			all *= v.bound[l]
			text = append(text, fmt.Sprintf("%d %s", v.bound[l], v.names[l]))
		}
		if read.Node.Op == ra.Scan && !v.e.Rows.Part(i) && all != read.Node.Table.Rows {
			return fmt.Sprintf("%s has %d rows, which are no full grid of %s", read.Node.Table.Name, read.Node.Table.Rows,
				strings.Join(text, " × ")), nil
		}
	}
	return "", nil
}

func (b *builder) count(t *ra.Table, col int) (Domain, error) {
	at := stored{t, col}
	n, ok := b.counts[at]
	if !ok {
		var err error
		if n, err = b.keys(b.ctx, t, col); err != nil {
			return Domain{}, err
		}
		b.counts[at] = n
	}
	return n, nil
}
