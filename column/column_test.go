package column

import (
	"math"
	"reflect"
	"testing"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/tensor"
)

// types are those that a column can have, each with values that it holds exactly.
var types = []struct {
	t kernels.Type
	x []kernels.Value
}{
	{kernels.Type{Kind: kernels.Int}, []kernels.Value{kernels.IntValue(math.MaxInt64), kernels.IntValue(-1)}},
	{kernels.Type{Kind: kernels.Bool}, []kernels.Value{kernels.BoolValue(true), kernels.BoolValue(false)}},
	{kernels.Type{Kind: kernels.Text}, []kernels.Value{kernels.TextValue("a"), kernels.TextValue("")}},
	{kernels.Type{Kind: kernels.Float64}, []kernels.Value{kernels.FloatValue(0.1), kernels.FloatValue(-2)}},
	{kernels.Type{Kind: kernels.Float32}, []kernels.Value{{Type: kernels.Type{Kind: kernels.Float32}, X: 0.5},
		{Type: kernels.Type{Kind: kernels.Float32}, X: -2}}},
	{kernels.Type{Kind: kernels.Float64, Shape: tensor.Shape{2}}, chunks(kernels.Float64)},
	{kernels.Type{Kind: kernels.Float32, Shape: tensor.Shape{2}}, chunks(kernels.Float32)},
}

func chunks(k kernels.Kind) []kernels.Value {
	return []kernels.Value{kernels.ChunkValue(k, tensor.Shape{2}, []float64{1, 2}),
		kernels.ChunkValue(k, tensor.Shape{2}, []float64{3, -4})}
}

func TestValuesComeBack(t *testing.T) {
	for _, c := range types {
		buf, err := Allocate(KindOf(c.t), len(c.x), c.t.Size(), true)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range []*Column{New(c.t, len(c.x)), buf.As(c.t)} {
			for i, x := range c.x {
				d.Set(i, x)
			}
			for _, e := range []*Column{d, d.Clone(), d.As(c.t)} {
				for i, x := range c.x {
					if got := e.Value(i); !reflect.DeepEqual(got, x) {
						t.Errorf("%v: row %d is %v, not %v", c.t, i, got, x)
					}
				}
			}
		}
		buf.Free()
		buf.Free()
	}
}

func TestNulls(t *testing.T) {
	for _, c := range types {
		d := New(c.t, 3)
		if d.Valid() != nil || d.IsNull(1) {
			t.Errorf("%v: a new column has NULLs", c.t)
		}
		d.Set(1, kernels.NullOf(c.t))
		if string(d.Valid()) != "\x01\x00\x01" || !d.Value(1).Null {
			t.Errorf("%v: validity %v after row 1 became NULL", c.t, d.Valid())
		}
		if v := d.Rows(1, 3); !v.IsNull(0) || v.IsNull(1) {
			t.Errorf("%v: validity %v of rows 1 and 2", c.t, v.Valid())
		}
		if d.Set(1, c.x[0]); d.IsNull(1) {
			t.Errorf("%v: row 1 is NULL after it was set", c.t)
		}
		if d := New(c.t, 1); d.Put(0, kernels.NullOf(c.t)) || d.Valid() != nil {
			t.Errorf("%v: a NULL found a place where there is none", c.t)
		}
	}
}

func TestRowsAreViews(t *testing.T) {
	d := Of(kernels.Type{Kind: kernels.Float64, Shape: tensor.Shape{2}}, []float64{1, 2, 3, 4, 5, 6})
	v := d.Rows(1, 3)
	v.F64()[0] = 7
	if x := d.Value(1).F; d.Len() != 3 || v.Len() != 2 || x[0] != 7 || x[1] != 4 {
		t.Errorf("row 1 of %d is %v after its view, of %d rows, was written", d.Len(), x, v.Len())
	}
	if w := d.Shaped(2, 3); w.Value(1).Null || !SameMemory(d, &w) || SameMemory(d.Clone(), d) {
		t.Error("a view does not have the column's memory, or a clone has")
	}
}

func TestBuilding(t *testing.T) {
	d := New(kernels.Type{Kind: kernels.Float32}, 0)
	d.AddZeros(1)
	d.SetType(kernels.Type{Kind: kernels.Float32, Shape: tensor.Shape{3}})
	d.AddZeros(2)
	d.SetLen(1)
	room := OnHeap(F32, 4, 3, false)
	e := room.Room(d.Type())
	e.Append(d)
	o := Of(d.Type(), []float32{1, 2, 3})
	o.SetNull(0)
	e.Append(o)
	e.Append(d)
	if g := Gather(e, []int32{2, 1}); g.Len() != 2 || string(g.Valid()) != "\x01\x00" || g.F32()[5] != 3 {
		t.Errorf("rows 2 and 1 are %v, validity %v", g.F32(), g.Valid())
	}
	if e.Len() != 3 || !SameMemory(&room, e) || string(e.Valid()) != "\x01\x00\x01" || e.F32()[5] != 3 {
		t.Errorf("%d rows %v, validity %v", e.Len(), e.F32(), e.Valid())
	}
}
