package kernels

import (
	"math"
	"math/rand"
	"strings"
	"testing"
)

// TestLabels compares each call that has a labelled form with the einsum that the form says, and asks of every form a
// sample in which it is the one that counts.
func TestLabels(t *testing.T) {
	for _, d := range All() {
		used := map[string]bool{}
		for _, c := range d.Calls() {
			s, ok := d.Spec(c.Types, c.Attr)
			e, err := d.call(c)
			if err != nil || !ok || !e.Type.IsFloat() || anyInt(c.Types) {
				continue
			}
			used[usedForm(d, c)] = true
			args := sampleValues(d, c, rand.New(rand.NewSource(3)))
			exprs := make([]*Expr, len(args))
			p := point{}
			for i, v := range args {
				p[Col{ID: ColumnID(i + 1)}] = v
				if exprs[i] = Const(v); s.Divide[i] {
					exprs[i] = Div(Num(1), exprs[i])
				}
			}
			by := BuildAttr("einsum", Attr{Spec: strings.Join(s.In, ",") + "->" + s.Out}, exprs...)
			want, got := p.eval(t, e), p.eval(t, by)
			sign := map[bool]float64{false: 1, true: -1}[s.Neg]
			if len(got.Floats()) != len(want.Floats()) {
				t.Fatalf("%s: %v has shape %v, not %v", d.Name, s, got.Type, want.Type)
			}
			for i, x := range got.Floats() {
				if math.Abs(sign*x-want.Floats()[i]) > 1e-12*(1+math.Abs(x)) {
					t.Errorf("%s of %v: %v gives %v, the kernel %v", d.Name, c.Types, s, sign*x, want.Floats()[i])
					break
				}
			}
		}
		for _, form := range d.Labels {
			if !used[form] {
				t.Errorf("%s has no sample for the form %s", d.Name, form)
			}
		}
	}
}

func anyInt(types []Type) bool {
	for _, t := range types {
		if !t.IsFloat() {
			return true
		}
	}
	return false
}

// usedForm is the form of Def.Labels that counts for a sample.
func usedForm(d *Def, c Sample) string {
	for _, form := range d.Labels {
		if _, ok := labelled(form, c.Types); ok {
			return form
		}
	}
	return ""
}

// TestNoLabels tries calls without a labelled form.
func TestNoLabels(t *testing.T) {
	for _, c := range []struct {
		kernel string
		attr   Attr
		types  []Type
	}{
		{"mul", Attr{}, []Type{f64(3), f64(2, 3)}}, // repeats its first argument
		{"mul", Attr{}, []Type{f64(3), f64(3, 3)}},
		{"mul", Attr{}, []Type{f64(3, 3), f64(3)}},
		{"add", Attr{}, []Type{f64(3), f64(3)}},
		{"div", Attr{}, []Type{f64(3), f64(3)}},
		{"exp", Attr{}, []Type{f64(3)}},
		{"einsum", Attr{Spec: "ii->i"}, []Type{f64(3, 3)}},
		{"einsum", Attr{Spec: "i->ii"}, []Type{f64(3)}},
	} {
		if s, ok := Lookup(c.kernel).Spec(c.types, c.attr); ok {
			t.Errorf("%s of %v has the form %v", c.kernel, c.types, s)
		}
	}
}
