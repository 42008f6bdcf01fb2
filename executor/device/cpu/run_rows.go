package cpu

import (
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/values"
	"github.com/relgrad/relgrad/kernels/cpu"
)

var _ = registerForm(runAddRows)

func runAddRows(a *device.AddRows, in *task) error {
	return in.m.crew.Apportion(in.m.ctx, in.m.workers, in.Lanes(), func(_, lane int) error {
		lo, hi := lane*in.Lane, min((lane+1)*in.Lane, in.Rows)
		if in.V.Data.Kind() == column.F32 {
			addFew[float32](a, in.V, lo, hi)
		} else {
			addFew[float64](a, in.V, lo, hi)
		}
		return nil
	})
}

// addFew adds to rows lo to hi of the sum what the columns have for them, column by column.
func addFew[T column.Float](a *device.AddRows, v *values.Val, lo, hi int) {
	var to, from []int32
	for _, s := range a.From {
		to, from = to[:0], from[:0]
		for i, at := range s.Idx.At[lo:hi] {
			if at >= 0 {
				to, from = append(to, int32(lo+i)), append(from, at)
			}
		}
		cpu.AddAt(to, from, v.Type.Size(), column.Numbers[T](s.V.Data), column.Numbers[T](v.Data))
	}
}

// layoutLane is the number of elements that a lane copies.
const layoutLane = 1 << 15

var _ = registerForm(runRelayout)

func runRelayout(x *device.Relayout, in *task) error {
	m := in.m
	each := max(layoutLane/x.L.Cols, 1)
	return m.crew.Parallel(m.ctx, m.workers, (x.L.Rows+each-1)/each, func(_, lane int) error {
		lo, hi := lane*each, min((lane+1)*each, x.L.Rows)
		switch src, dst := in.V.Args[0].Data, in.V.Data; {
		case dst.Kind() == column.F32:
			copyLayout(x.L, x.Back, column.Numbers[float32](src), column.Numbers[float32](dst), lo, hi)
		case src.Kind() == column.F32: // a stored column of real, with which a wide graph computes in double precision
			widenLayout(x.L, column.Numbers[float32](src), column.Numbers[float64](dst), lo, hi)
		default:
			copyLayout(x.L, x.Back, column.Numbers[float64](src), column.Numbers[float64](dst), lo, hi)
		}
		return nil
	})
}

// copyLayout copies rows lo to hi of the matrix from the stored column, or with back to it.
func copyLayout[T column.Float](l *values.Layout, back bool, src, dst []T, lo, hi int) {
	for r := lo; r < hi; r++ {
		row := r * l.Cols
		for c := 0; c < l.Cols; c += l.Run {
			at := l.At(r, c)
			switch {
			case l.Run == 1 && back:
				dst[at] = src[row+c]
			case l.Run == 1:
				dst[row+c] = src[at]
			case back:
				copy(dst[at:at+l.Run], src[row+c:])
			default:
				copy(dst[row+c:row+c+l.Run], src[at:])
			}
		}
	}
}

// widenLayout is copyLayout to double precision.
func widenLayout(l *values.Layout, src []float32, dst []float64, lo, hi int) {
	for r := lo; r < hi; r++ {
		for c := 0; c < l.Cols; c += l.Run {
			at := l.At(r, c)
			for i, x := range src[at : at+l.Run] {
				dst[r*l.Cols+c+i] = float64(x)
			}
		}
	}
}
