package chunking

import (
	"fmt"
	"strings"

	"github.com/relgrad/relgrad/ra"
)

// bounds finds how many keys each label has, and tells why the rows are no full grid, if they are none.
func (b *builder) bounds(v *vertex) (why string, err error) {
	r := v.e.Rows
	v.bound = make([]int64, len(r.Keys))
	by := make([]string, len(r.Keys)) // who said so
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
			count, err := b.count(n.Table, n.TableCols[at])
			if err != nil {
				return "", err
			}
			name := n.Table.Name + "." + c.Name
			if by[l] != "" && v.bound[l] != count && !r.Part(i) {
				return fmt.Sprintf("%s has %d keys, %s %d: their join is no full grid", by[l], v.bound[l], name, count), nil
			}
			if by[l] == "" || !r.Part(i) {
				v.bound[l], by[l] = count, name
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

func (b *builder) count(t *ra.Table, col int) (int64, error) {
	at := stored{t, col}
	n, ok := b.counts[at]
	if !ok {
		var err error
		if n, err = b.keys(b.ctx, t, col); err != nil {
			return 0, err
		}
		b.counts[at] = n
	}
	return n, nil
}
