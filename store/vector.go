package store

import (
	"math"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/store/lite"
)

// GoValue is row i of a vector in the form of Result.Rows.
func GoValue(v *ra.Vector, i int) any {
	switch {
	case v.IsNull(i):
		return nil
	case v.Type.IsChunk():
		return v.Tensor(i)
	case v.Type.IsFloat():
		return vectorFloat(v, i)
	case v.Type.Kind == kernels.Bool:
		return v.Ints[i] != 0
	case v.Type.Kind == kernels.Int:
		return v.Ints[i]
	}
	return v.Texts[i]
}

// setVector puts row k of a vector into parameter p of a statement, in the form of type t.
func setVector(s *lite.Stmt, p int, v *ra.Vector, k int, t Type, sl *slot) error {
	switch {
	case v.IsNull(k):
		s.SetNull(p)
	case t.isChunk():
		b := s.Room(p, lite.Blob, 4+4*len(v.Type.Shape)+v.Type.Size()*t.dtype().Size())
		putChunk(b, v, k, t.dtype())
		if sl != nil {
			return sl.note(b)
		}
	case v.Type.IsFloat() && t.isFloat():
		x := vectorFloat(v, k)
		if math.IsNaN(x) {
			return sqlerr.New(sqlerr.NumericOutOfRange, "NaN in a scalar column").WithDetail("Row %d of the new values is not a number.", k+1)
		}
		if t.is(tReal) {
			x = float64(float32(x))
		}
		s.SetFloat(p, x)
	case v.Type.IsFloat():
		x, err := convert(vectorFloat(v, k), tDouble, t)
		if err != nil {
			return err
		}
		return setAny(s, p, x, t)
	case v.Texts != nil:
		if t.is(tText) || t.isTime() || t.Array {
			return s.Set(p, v.Texts[k])
		}
		x, err := textIn(v.Texts[k], t)
		if err != nil {
			return err
		}
		return setAny(s, p, x, t)
	case t.isFloat():
		s.SetFloat(p, float64(v.Ints[k]))
	case t.isInt() || t.is(tBool):
		s.SetInt(p, v.Ints[k])
	default:
		return setAny(s, p, v.Ints[k], t)
	}
	return nil
}

func setAny(s *lite.Stmt, p int, x any, t Type) error {
	y, err := toStored(x, t)
	if err != nil {
		return err
	}
	return s.Set(p, y)
}
