package columns

import (
	"math"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/store/lite"
)

// SetVector sets parameter p of a statement to row k of a vector, stored as type t.
func SetVector(s *lite.Stmt, p int, v *column.Column, k int, t catalog.Type, sl *Slot) error {
	switch {
	case v.IsNull(k):
		s.SetNull(p)
	case t.IsChunk():
		b := s.Room(p, lite.Blob, 4+4*len(v.Type().Shape)+v.Size()*t.DType().Size())
		PutChunk(b, v, k, t.DType())
		if sl != nil {
			return sl.Note(b)
		}
	case v.Type().IsFloat() && t.IsFloat():
		x := vectorFloat(v, k)
		if math.IsNaN(x) {
			return sqlerr.New(sqlerr.NumericOutOfRange, "NaN in a scalar column").
				WithDetail("Row %d of the new values is not a number.", k+1)
		}
		if t.Is(catalog.Float4) {
			x = float64(float32(x))
		}
		s.SetFloat(p, x)
	case v.Type().IsFloat():
		x, err := Convert(vectorFloat(v, k), catalog.Float8, t)
		if err != nil {
			return err
		}
		return SetValue(s, p, x, t)
	case v.Kind() == column.Str:
		if t.Is(catalog.Text) || t.IsTime() || t.Array {
			return s.Set(p, v.Texts()[k])
		}
		x, err := TextIn(v.Texts()[k], t)
		if err != nil {
			return err
		}
		return SetValue(s, p, x, t)
	case t.IsFloat():
		s.SetFloat(p, float64(v.I64()[k]))
	case t.IsInt() || t.Is(catalog.Bool):
		s.SetInt(p, v.I64()[k])
	default:
		return SetValue(s, p, v.I64()[k], t)
	}
	return nil
}

// SetValue sets parameter p of a statement to a Go value of type t.
func SetValue(s *lite.Stmt, p int, x any, t catalog.Type) error {
	y, err := ToStored(x, t)
	if err != nil {
		return err
	}
	return s.Set(p, y)
}
