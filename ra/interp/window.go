package interp

import (
	"slices"
	"strings"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// windowed aggregates for each row, one row of its frame after the other.
func windowed(n *ra.Node, rows []Row) []Row {
	out := make([]Row, 0, len(rows))
	counts := func(_ int, frame []int) []int { return frame }
	if n.Over.Among != nil {
		counts = attaining(n, rows)
	}
	Frames(n, rows, func(r int, frame []int) {
		frame = counts(r, frame)
		row := make(Row, 0, len(n.Cols))
		for _, id := range n.Over.Pass {
			row = append(row, rows[r][n.Inputs[0].Index(id)])
		}
		for i, a := range n.Aggs {
			if a.Fn == ra.Rank {
				row = append(row, ranked(n, a, rows, r, frame))
				continue
			}
			row = append(row, folded(n, a, rows, frame, n.Cols[len(n.Over.Pass)+i].Type))
		}
		out = append(out, row)
	})
	return out
}

// attaining tells which rows of a row's frame count, where only those do that attain an extreme.
func attaining(n *ra.Node, rows []Row) func(row int, frame []int) []int {
	e := n.Over.Among
	at := n.Inputs[0].Index(e.Col)
	of := n.Over.Frame
	if e.Back {
		of = of.Mirrored()
	}
	extreme := make([]kernels.Value, len(rows))
	frames(n, of, rows, func(r int, frame []int) {
		extreme[r] = folded(n, ra.Agg{Fn: e.Fn, Arg: e.Col}, rows, frame, n.Inputs[0].Cols[at].Type)
	})
	equal := func(top, x kernels.Value) bool { return !top.Null && !x.Null && kernels.Compare(top, x) == 0 }
	return func(row int, frame []int) (out []int) {
		for _, r := range frame {
			if !e.Back && equal(extreme[row], rows[r][at]) || e.Back && equal(extreme[r], rows[row][at]) {
				out = append(out, r)
			}
		}
		return out
	}
}

// Frames calls f for each row of a Window, in the order of Eval: the row of the input, and the rows in its frame.
func Frames(n *ra.Node, rows []Row, f func(row int, frame []int)) { frames(n, n.Over.Frame, rows, f) }

func frames(n *ra.Node, of ra.Frame, rows []Row, f func(row int, frame []int)) {
	parts, order := map[string][]int{}, []string(nil)
	for r, row := range rows {
		var b strings.Builder
		for _, id := range n.Over.Partition {
			writeKey(&b, row[n.Inputs[0].Index(id)])
		}
		if parts[b.String()] == nil {
			order = append(order, b.String())
		}
		parts[b.String()] = append(parts[b.String()], r)
	}
	for _, k := range order {
		part := parts[k]
		compare := func(a, b int) int { return precedes(n, rows[a], rows[b]) }
		slices.SortStableFunc(part, compare)
		for i, r := range part {
			lo, hi := frameOf(of, part, i, compare)
			f(r, part[lo:hi])
		}
	}
}

// precedes orders rows of a partition.
func precedes(n *ra.Node, a, b Row) int {
	for _, s := range n.Over.Order {
		x, y := a[n.Inputs[0].Index(s.Col)], b[n.Inputs[0].Index(s.Col)]
		c := 0
		switch {
		case x.Null && y.Null:
		case x.Null || y.Null:
			if c = 1; x.Null == s.NullsFirst {
				c = -1
			}
		default:
			if c = kernels.Compare(x, y); s.Desc {
				c = -c
			}
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

// frameOf is the frame of row i of a sorted partition.
func frameOf(f ra.Frame, part []int, i int, compare func(a, b int) int) (lo, hi int) {
	if !f.Peers {
		lo = int(min(max(int64(i)+f.Lo, 0), int64(len(part))))
		hi = int(min(max(int64(i)+f.Hi+1, 0), int64(len(part))))
		return lo, max(lo, hi)
	}
	lo, hi = 0, len(part)
	if f.Lo == 0 {
		for lo = i; lo > 0 && compare(part[lo-1], part[i]) == 0; {
			lo--
		}
	}
	if f.Hi == 0 {
		for hi = i + 1; hi < len(part) && compare(part[hi], part[i]) == 0; {
			hi++
		}
	}
	return lo, hi
}

// ranked counts the rows of a frame, in the order of the window, that precede the row r by value or place.
func ranked(n *ra.Node, a ra.Agg, rows []Row, r int, frame []int) kernels.Value {
	at, before, met := n.Inputs[0].Index(a.Arg), int64(0), false
	x := rows[r][at]
	if x.Null {
		return kernels.NullOf(kernels.Type{Kind: kernels.Int})
	}
	for _, o := range frame {
		met = met || o == r
		if y := rows[o][at]; !y.Null {
			if c := kernels.Compare(y, x); c < 0 || c == 0 && !met {
				before++
			}
		}
	}
	return kernels.IntValue(before)
}

func folded(n *ra.Node, a ra.Agg, rows []Row, frame []int, t kernels.Type) kernels.Value {
	acc := kernels.NullOf(t)
	switch a.Fn {
	case ra.CountRows:
		return kernels.IntValue(int64(len(frame)))
	case ra.Count:
		acc = kernels.IntValue(0)
	case ra.GradSum:
		acc = zero(t)
	}
	for _, r := range frame {
		accumulate(a.Fn, &acc, rows[r][n.Inputs[0].Index(a.Arg)])
	}
	return acc
}
