package executor

import (
	"github.com/relgrad/relgrad/kernels/cpu"
)

func (a *addRows) run(in *task) error {
	return cpu.Apportion(in.m.ctx, in.m.workers, in.lanes(), func(_, lane int) error {
		lo, hi := lane*in.lane, min((lane+1)*in.lane, in.rows)
		if in.v.data.kind == f32 {
			addFew[float32](a, in.v, lo, hi)
		} else {
			addFew[float64](a, in.v, lo, hi)
		}
		return nil
	})
}

// addFew adds to the rows lo to hi, in the order of the columns.
func addFew[T float](a *addRows, v *val, lo, hi int) {
	var to, from []int32
	for _, s := range a.from {
		to, from = to[:0], from[:0]
		for i, at := range s.idx.At[lo:hi] {
			if at >= 0 {
				to, from = append(to, int32(lo+i)), append(from, at)
			}
		}
		cpu.AddAt(to, from, v.typ.Size(), of[T](s.v.data), of[T](v.data))
	}
}

// layoutLane is the number of elements that a lane copies.
const layoutLane = 1 << 15

func (x *relayout) run(in *task) error {
	m := in.m
	each := max(layoutLane/x.l.cols, 1)
	return cpu.Parallel(m.ctx, m.workers, (x.l.rows+each-1)/each, func(_, lane int) error {
		lo, hi := lane*each, min((lane+1)*each, x.l.rows)
		switch src, dst := in.v.args[0].data, in.v.data; {
		case dst.kind == f32:
			copyLayout(x.l, x.back, of[float32](src), of[float32](dst), lo, hi)
		case src.kind == f32: // a stored column of real, computed with in double precision
			widenLayout(x.l, of[float32](src), of[float64](dst), lo, hi)
		default:
			copyLayout(x.l, x.back, of[float64](src), of[float64](dst), lo, hi)
		}
		return nil
	})
}

// copyLayout copies the rows lo to hi of the matrix from where they are stored, or back.
func copyLayout[T float](l *layout, back bool, src, dst []T, lo, hi int) {
	for r := lo; r < hi; r++ {
		row := r * l.cols
		for c := 0; c < l.cols; c += l.run {
			at := l.at(r, c)
			switch {
			case l.run == 1 && back:
				dst[at] = src[row+c]
			case l.run == 1:
				dst[row+c] = src[at]
			case back:
				copy(dst[at:at+l.run], src[row+c:])
			default:
				copy(dst[row+c:row+c+l.run], src[at:])
			}
		}
	}
}

// widenLayout is copyLayout to double precision.
func widenLayout(l *layout, src []float32, dst []float64, lo, hi int) {
	for r := lo; r < hi; r++ {
		for c := 0; c < l.cols; c += l.run {
			at := l.at(r, c)
			for i, x := range src[at : at+l.run] {
				dst[r*l.cols+c+i] = float64(x)
			}
		}
	}
}
