//go:build cgo

package kernelfunc

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/store/lite"
	"github.com/relgrad/relgrad/tensor"
)

// helpers are functions beside the kernels. They return NULL if the first argument is NULL. The last argument of a
// constructor is the text of the attributes shape and kind.
var helpers = map[string]lite.Scalar{
	// relgrad_full(x, attributes): a chunk with x everywhere.
	"full": func(a []lite.Cell, res lite.Result) error {
		if a[0].IsNull() {
			return nil
		}
		return full(a, a[0].Float(), res)
	},
	// relgrad_zeros(attributes).
	"zeros": func(a []lite.Cell, res lite.Result) error { return full(a, 0, res) },
	// relgrad_chunk('{{1,2},{3,4}}', attributes): a chunk of Postgres's text form.
	"chunk": chunk,
	// relgrad_double(x): a numeric, stored as its digits, in double precision.
	"double": func(a []lite.Cell, res lite.Result) error {
		if a[0].IsNull() {
			return nil
		}
		v := kernels.FloatValue(a[0].Float())
		if a[0].Kind() == lite.Text {
			x, err := strconv.ParseFloat(a[0].String(), 64)
			if err != nil && !math.IsInf(x, 0) {
				return sqlerr.New(sqlerr.InvalidText, "malformed numeric %q", a[0].String())
			}
			v.X = x
		}
		return Give(res, v, "a numeric")
	},
	// relgrad_real_text(x): the shortest text that reads back as the same real.
	"real_text": func(a []lite.Cell, res lite.Result) error {
		if !a[0].IsNull() {
			res.Text(tensor.FormatFloat(a[0].Float(), tensor.Float32))
		}
		return nil
	},
}

// constructed decodes the attributes that end a constructor's arguments.
func constructed(a []lite.Cell) (*tensor.Tensor, error) {
	at, err := kernels.DecodeAttr(a[len(a)-1].String())
	if err != nil {
		return nil, err
	}
	size := 1
	for _, d := range at.Shape {
		if d < 1 || size > (1<<28)/d {
			return nil, sqlerr.New(sqlerr.InvalidParameter, "a chunk of shape %v cannot be made", at.Shape)
		}
		size *= d
	}
	if len(at.Shape) == 0 || len(at.Shape) > tensor.MaxRank {
		return nil, sqlerr.New(sqlerr.InvalidParameter, "a chunk of shape %v cannot be made", at.Shape)
	}
	return tensor.New(at.Kind.DType(), at.Shape...), nil
}

func full(a []lite.Cell, x float64, res lite.Result) error {
	t, err := constructed(a)
	if err != nil {
		return err
	}
	for i := range t.Data {
		t.Data[i] = x
	}
	res.Blob(t.Encode())
	return nil
}

func chunk(a []lite.Cell, res lite.Result) error {
	t, err := constructed(a)
	if err != nil {
		return err
	}
	items := strings.FieldsFunc(a[0].String(), func(r rune) bool { return r == '{' || r == '}' || r == ',' })
	if len(items) != len(t.Data) {
		return sqlerr.New(sqlerr.InvalidText, "%d elements for a chunk of shape %v", len(items), t.Shape)
	}
	for i, s := range items {
		if t.Data[i], err = strconv.ParseFloat(s, 64); err != nil {
			return sqlerr.New(sqlerr.InvalidText, "malformed element %q of a chunk", s)
		}
	}
	res.Blob(t.Encode())
	return nil
}

// fold combines numbers, or chunks of one shape element by element, in double precision. The result has the dtype of
// the arguments. NULLs are skipped; without values the result is NULL.
type fold struct {
	name string
	add  func(x, y float64) float64
	t    *tensor.Tensor // nil before the first value; a nil Shape is a scalar
}

// extreme is the larger of two numbers for sign 1, the smaller for -1; NaN is above all, as in Postgres.
func extreme(sign int) func(x, y float64) float64 {
	return func(x, y float64) float64 {
		if sign*kernels.Compare(kernels.FloatValue(y), kernels.FloatValue(x)) > 0 {
			return y
		}
		return x
	}
}

// Step takes one value.
func (s *fold) Step(a []lite.Cell) error {
	t, err := summand(&a[0])
	if t == nil || err != nil {
		return err
	}
	return s.take(t)
}

// summand is the number or chunk in a cell; nil: it is NULL.
func summand(c *lite.Cell) (*tensor.Tensor, error) {
	switch c.Kind() {
	case lite.Null:
		return nil, nil
	case lite.Integer, lite.Float:
		return &tensor.Tensor{Data: []float64{c.Float()}}, nil
	}
	t, err := tensor.Decode(c.Bytes())
	if err != nil {
		return nil, sqlerr.New(sqlerr.DataCorrupted, "%v", err)
	}
	return t, nil
}

func (s *fold) take(t *tensor.Tensor) error {
	switch {
	case s.t == nil:
		s.t = t
		return nil
	case s.t.DType != t.DType || !s.t.Shape.Equal(t.Shape) || (s.t.Shape == nil) != (t.Shape == nil):
		return sqlerr.New(sqlerr.ArraySubscript, "%s of different types %v%v and %v%v", s.name, s.t.DType, s.t.Shape, t.DType,
			t.Shape)
	}
	for i, x := range t.Data {
		s.t.Data[i] = s.add(s.t.Data[i], x)
	}
	return nil
}

// Inverse is refused: subtracting does not undo a sum of floats.
func (s *fold) Inverse([]lite.Cell) error {
	return sqlerr.New(sqlerr.FeatureNotSupported, "relgrad_%s over a moving window", s.name)
}

// Value returns the result.
func (s *fold) Value(res lite.Result) error {
	switch {
	case s.t == nil:
	case s.t.Shape != nil:
		res.Blob(s.t.Encode())
	case math.IsNaN(s.t.Data[0]):
		return notANumber("sum")
	default:
		res.Float(s.t.Data[0])
	}
	return nil
}

func newSum() *fold { return &fold{name: "sum", add: func(x, y float64) float64 { return x + y }} }

// frameSum is the sum over a frame that rows enter and leave: it adds the rows that are in it whenever it is asked.
type frameSum struct{ rows []*tensor.Tensor } // nil: NULL

// Step takes the row that enters.
func (s *frameSum) Step(a []lite.Cell) error {
	t, err := summand(&a[0])
	s.rows = append(s.rows, t)
	return err
}

// Inverse drops the row that leaves, which is the first that came.
func (s *frameSum) Inverse([]lite.Cell) error {
	s.rows = s.rows[1:]
	return nil
}

// Value returns the result.
func (s *frameSum) Value(res lite.Result) error {
	sum := newSum()
	for _, t := range s.rows {
		if t == nil {
			continue
		}
		own := *t
		own.Data = slices.Clone(t.Data) // the sum adds to the first
		if err := sum.take(&own); err != nil {
			return err
		}
	}
	return sum.Value(res)
}
