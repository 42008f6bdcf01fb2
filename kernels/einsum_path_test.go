package kernels

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/tensor"
)

// costOf is how many products of numbers the steps of a path take.
func costOf(steps []EinsumStep, length func(rune) int) (cost float64) {
	for _, s := range steps {
		left, _, _ := strings.Cut(s.Spec, "->")
		n := 1.0
		for _, l := range distinct(strings.ReplaceAll(left, ",", "")) {
			n *= float64(length(l))
		}
		cost += n
	}
	return cost
}

// TestEinsumPath: a chain of matrices is multiplied from its narrow end, and a path costs what the best of all orders
// does, by brute force.
func TestEinsumPath(t *testing.T) {
	sizes := map[rune]int{'i': 100, 'j': 90, 'k': 80, 'l': 70, 'm': 60, 'n': 1}
	length := func(l rune) int { return sizes[l] }
	steps, err := EinsumPath("ij,jk,kl,lm,mn->in", 5, length)
	if err != nil || steps[0].Spec != "lm,mn->ln" && steps[0].Spec != "mn,lm->nl" && steps[0].Spec != "lm,mn->nl" {
		t.Fatalf("%v, %v", steps, err)
	}
	if want := 70.*60 + 80*70 + 90*80 + 100*90; costOf(steps, length) != want {
		t.Errorf("%g products, not %g: %v", costOf(steps, length), want, steps)
	}
	r := rand.New(rand.NewSource(1))
	for range 20 {
		for l := range sizes {
			sizes[l] = 1 + r.Intn(6)
		}
		const spec = "ij,kj,l,lkm,mi->j"
		steps, err := EinsumPath(spec, 5, length)
		if err != nil {
			t.Fatal(err)
		}
		s, _ := parseEinsum(spec, 5)
		p := &einsumPath{s: s, length: length}
		if got, want := costOf(steps, length), cheapest(p, []uint32{1, 2, 4, 8, 16}); got != want {
			t.Errorf("%v: %g products, not %g: %v", sizes, got, want, steps)
		}
	}
}

// cheapest tries all orders.
func cheapest(p *einsumPath, sets []uint32) float64 {
	if len(sets) == 1 {
		return 0
	}
	best := 1e300
	for i := range sets {
		for j := i + 1; j < len(sets); j++ {
			rest := append(slices.Delete(slices.Delete(slices.Clone(sets), j, j+1), i, i+1), sets[i]|sets[j])
			best = min(best, p.join(sets[i], sets[j])+cheapest(p, rest))
		}
	}
	return best
}

// TestDivided: products of many operands have the values of the whole sum, also with repeated labels, scalars and more
// operands than all orders are tried for.
func TestDivided(t *testing.T) {
	r := rand.New(rand.NewSource(2))
	for _, spec := range []string{"ij,jk,kl,lm,mn->in", "ii,ij,j,,k->kk", "a,b,c,d,e,f->",
		"ab,bc,cd,de,ef,fg,gh,hi,ij,jk,kl,lm->am", "ab,ab,ab,ab,ab->ba", "a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a->a"} {
		left, _, _ := strings.Cut(spec, "->")
		var args []*Expr
		var values []Value
		for i, labels := range strings.Split(left, ",") {
			typ := Type{Kind: Float64}
			for range labels {
				typ.Shape = append(typ.Shape, 2)
			}
			v := Value{Type: typ, X: 0.5}
			for range typ.Size() {
				v.F = append(v.F, r.NormFloat64())
			}
			if typ.Shape == nil {
				v.F = nil
			}
			values, args = append(values, v), append(args, Column(Col{ID: ColumnID(i)}, typ))
		}
		x, err := Divided(Lookup("einsum"), Const(TextValue(spec)), args)
		if err != nil {
			t.Errorf("%s: %v", spec, err)
			continue
		}
		got, err := x.Eval(&Env{}, func(c Col) Value { return values[c.ID] })
		if err != nil {
			t.Fatal(err)
		}
		want, err := Lookup("einsum").Eval(&Env{}, values, Attr{Spec: spec}, x.Type)
		if err != nil {
			t.Fatal(err)
		}
		for i, w := range want.Floats() {
			if d := got.Floats()[i] - w; d > 1e-9 || d < -1e-9 {
				t.Errorf("%s: number %d is %g, not %g", spec, i, got.Floats()[i], w)
			}
		}
	}
	const wide = "abcdef,ghijkl,mnopqr,agmbhn,ciodjp,ekqflr->"
	if _, err := EinsumPath(wide, 6, func(rune) int { return 2 }); !strings.Contains(fmt.Sprint(err), "more than 6 dim") {
		t.Errorf("%s: %v", wide, err)
	}
	many := make([]*Expr, 17)
	for i := range many {
		many[i] = Column(Col{ID: ColumnID(i)}, Type{Kind: Float64, Shape: tensor.Shape{2}})
	}
	_, err := Divided(Lookup("einsum"), Const(TextValue(strings.Repeat("a,", 16)+"a->")), many)
	if want := "einsum of 17 operands: at most 16 are possible"; fmt.Sprint(err) != want {
		t.Errorf("%v, not %s", err, want)
	}
}
