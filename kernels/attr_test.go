package kernels

import (
	"math/rand"
	"reflect"
	"testing"
)

func TestAttrRoundTrip(t *testing.T) {
	attrs := []Attr{
		{}, {Axis: -1}, {Shape: []int{}}, {From: []int{}, Shape: []int{3}},
		{Shape: []int{3, 4}, From: []int{0, 1}, Axis: 2, Num: 0.1 + 0.2, Int: -1 << 63, Kind: Text,
			Spec: "view of\nSELECT x=1 kind=real"},
	}
	for k := Float64; k <= Text; k++ {
		attrs = append(attrs, Attr{Kind: k})
	}
	for _, d := range All() {
		for _, s := range d.Calls() {
			attrs = append(attrs, s.Attr)
		}
	}
	for _, a := range attrs {
		b, err := DecodeAttr(a.Encode())
		if err != nil || !reflect.DeepEqual(a, b) {
			t.Errorf("%#v → %q → %#v (%v)", a, a.Encode(), b, err)
		}
	}
	for _, s := range []string{"shape=3", "axis=x", "kind=int4", "color=red", "shape=[1,]", " axis=1"} {
		if a, err := DecodeAttr(s); err == nil {
			t.Errorf("%q is read as %+v", s, a)
		}
	}
}

// Every kernel gives by EvalAttr what its call gives, and takes static arguments only where Static says so.
func TestEvalAttr(t *testing.T) {
	for _, d := range All() {
		if d.IsMacro() {
			continue
		}
		if d.Bind != nil && !d.Static() {
			t.Errorf("%s has static arguments, and no sample shows it", d.Name)
		}
		for _, s := range d.Calls() {
			e, err := d.call(s)
			if err != nil {
				t.Fatal(err)
			}
			vals := sampleValues(d, s, rand.New(rand.NewSource(1)))
			p := point{}
			for i, v := range vals {
				p[Col{ID: ColumnID(i + 1)}] = v
				if (v.Ints != nil) != d.IsArray(i) {
					t.Errorf("%s: argument %d: IsArray is wrong", d.Name, i+1)
				}
			}
			want := p.eval(t, e)
			got, err := d.EvalAttr(&Env{Seed: 1, Step: 2}, s.Attr, vals)
			if err != nil || got.String() != want.String() {
				t.Errorf("%s: %v, want %v (%v)", d.Name, got, want, err)
			}
			if _, err := d.EvalAttr(&Env{}, s.Attr, make([]Value, 200)); err == nil && d.MaxArgs >= 0 {
				t.Errorf("%s takes 200 arguments", d.Name)
			}
		}
	}
}
