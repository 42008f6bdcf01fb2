package layouts

import (
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/interop"
	"github.com/relgrad/relgrad/interop/delta"
)

// csf is a tree (section IV.E): a level for each dimension, whose nodes are indices (fid_zero, fid_one, …), and where
// the children of each node begin in the next level (fptr_zero, …), with the end of the last. The last level's nodes
// are the elements. A row of the table is the tree of some consecutive elements, from root_first to root_last.
var csf = &layout{
	fields: treeFields,
	write: func(w *writing) error {
		if len(w.t.Shape) > len(ordinals) {
			return sqlerr.New(sqlerr.ProgramLimit, "csf has %d dimensions at most, not %d", len(ordinals), len(w.t.Shape))
		}
		n, most := len(w.e.bits), w.chunk()
		if n == 0 {
			return w.row(w.tree(0, 0)...)
		}
		for from := 0; from < n; from += most {
			if err := w.row(w.tree(from, min(from+most, n))...); err != nil {
				return err
			}
		}
		return nil
	},
	read: func(r *reading) error {
		if r.b.empty() {
			return nil
		}
		names := each(treeFields(len(r.shape), ""), func(f interop.Field) string { return f.Name })
		where := []delta.Bound{{Column: "root_first", Max: r.b.to[0] - 1}, {Column: "root_last", Min: r.b.from[0]}}
		whole := !r.has("root_first")
		if whole {
			where = nil
		}
		return r.rows(names, where, func(v []any) error {
			if whole && r.seen.Add(1) > 1 {
				return corrupt("rows that do not say which part of the tensor they have")
			}
			return r.tree(v[2:])
		})
	},
}

func treeFields(rank int, value string) []interop.Field {
	out := []interop.Field{field("root_first", "long"), field("root_last", "long")}
	for d := range rank {
		if d < rank-1 {
			out = append(out, list("fptr_"+ordinal(d), "long"))
		}
		out = append(out, list("fid_"+ordinal(d), "long"))
	}
	return append(out, list("value", value))
}

// ordinals are the numbers in names of columns, as the paper writes the first two.
var ordinals = []string{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"}

func ordinal(d int) string { return ordinals[min(d, len(ordinals)-1)] }

// tree is the row of the elements from one to another.
func (w *writing) tree(from, to int) []any {
	rank := len(w.t.Shape)
	ids, pointers := make([][]int64, rank), make([][]int64, rank)
	for i := from; i < to; i++ {
		level := 0 // the first in which the element has a node of its own
		for ; i > from && level < rank && w.e.coords[level][i] == w.e.coords[level][i-1]; level++ {
			continue
		}
		for d := level; d < rank; d++ {
			if d < rank-1 {
				pointers[d] = append(pointers[d], int64(len(ids[d+1])))
			}
			ids[d] = append(ids[d], w.e.coords[d][i])
		}
	}
	row := []any{nil, nil}
	if to > from {
		row = []any{w.e.coords[0][from], w.e.coords[0][to-1]}
	}
	for d := range rank {
		if d < rank-1 {
			row = append(row, append(pointers[d], int64(len(ids[d+1]))))
		}
		row = append(row, ids[d])
	}
	return append(row, array(w.e.dtype, w.e.bits[from:to]))
}

// tree takes the elements of a row of the table.
func (r *reading) tree(v []any) error {
	rank := len(r.shape)
	ids, pointers := make([][]int64, rank), make([][]int64, rank)
	for d := range rank {
		if d < rank-1 {
			pointers[d] = integers(v[2*d])
			ids[d] = integers(v[2*d+1])
		} else {
			ids[d] = integers(v[2*d])
		}
	}
	bits, err := allBits(r.dtype, v[len(v)-1])
	if err != nil {
		return err
	}
	r.reserve(len(bits))
	if len(bits) != len(ids[rank-1]) {
		return corrupt("a tree of %d leaves and %d elements", len(ids[rank-1]), len(bits))
	}
	for d := range rank - 1 {
		p := pointers[d]
		if len(p) != len(ids[d])+1 || p[0] != 0 || p[len(p)-1] != int64(len(ids[d+1])) {
			return corrupt("level %d of a tree has %d nodes and %d pointers to %d others", d, len(ids[d]), len(p),
				len(ids[d+1]))
		}
		if err := ascending(p); err != nil {
			return err
		}
	}
	if r.whole(bits) && r.wholeTree(ids, pointers, bits) {
		return nil
	}
	index, node := make([]int64, rank), make([]int64, rank)
	for i, u := range bits {
		for d := rank - 1; d >= 0; d-- {
			if d == rank-1 {
				node[d] = int64(i)
			} else {
				for pointers[d][node[d]+1] <= node[d+1] {
					node[d]++
				}
			}
			index[d] = ids[d][node[d]]
		}
		if err := r.inside(index); err != nil {
			return err
		}
		r.b.take(r.out, index, u)
	}
	return nil
}

// wholeTree takes all elements of a tree, one dimension after the other, unless an index is none of the tensor.
func (r *reading) wholeTree(ids, pointers [][]int64, bits []uint64) bool {
	for d, list := range ids {
		if !below(list, r.shape[d]) {
			return false
		}
	}
	r.out.bits = append(r.out.bits, bits...)
	last := len(ids) - 1
	r.out.coords[last] = append(r.out.coords[last], ids[last]...)
	var leaves []int64 // the first leaf of each node of a level, and the end
	for d := last - 1; d >= 0; d-- {
		if leaves == nil {
			leaves = pointers[d]
		} else {
			leaves = each(pointers[d], func(k int64) int64 { return leaves[k] })
		}
		r.out.coords[d] = appendRuns(r.out.coords[d], ids[d], leaves)
	}
	return true
}
