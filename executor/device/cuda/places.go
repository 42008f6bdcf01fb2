package cuda

import (
	"fmt"
	"strings"

	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/tensor"
)

// elementOf is the place in a chunk of the element that the arguments behind the first one name, and whether there is
// one; the place is 0 where there is none.
func elementOf(b *builder, s *body, o *device.Op, shape tensor.Shape, p point) (at, inside string) {
	key := fmt.Sprintf("element %d %s", o.Out, p.row)
	inside = b.let(s, key+" is there", "int", func() string {
		all := "1"
		for d, n := range shape {
			all = both(all, fmt.Sprintf("%s >= 1 && %[1]s <= %d", b.argument(s, o, 1+d, p), n))
		}
		return "(" + all + ")"
	})
	at = b.let(s, key, "int", func() string {
		at := ""
		for d, n := range shape {
			i := fmt.Sprintf("((int) %s - 1)", b.argument(s, o, 1+d, p))
			if d > 0 {
				i = fmt.Sprintf("(%s * %d + %s)", at, n, i)
			}
			at = i
		}
		return fmt.Sprintf("%s ? %s : 0", inside, at)
	})
	return at, inside
}

func subscript(b *builder, s *body, o *device.Op, p point) string {
	at, inside := elementOf(b, s, o, o.V.Args[0].Type.Shape, p)
	return fmt.Sprintf("(%s ? (%s) %s : 0)", inside, ctype(b.t.Cells[o.Out].Kind),
		b.argument(s, o, 0, point{p.slot, p.row, at}))
}

// put is a chunk of zeros but for one element.
func put(b *builder, s *body, o *device.Op, p point) string {
	at, inside := elementOf(b, s, o, o.V.Type.Shape, p)
	return fmt.Sprintf("(%s && %s == %s ? (%s) %s : 0)", inside, p.idx, at, ctype(b.t.Cells[o.Out].Kind),
		b.argument(s, o, 0, p))
}

// firstOf is the place of the first of the largest numbers of a vector, or of the smallest ones where sign is "-". The
// first NaN counts as both.
func firstOf(sign string) func(b *builder, s *body, o *device.Op, p point) string {
	return func(b *builder, s *body, o *device.Op, p point) string {
		at, _ := b.largest(s, b.t.Cells[o.Args[0]].Size, func(s *body, k string) string {
			return sign + "(double) " + b.argument(s, o, 0, point{p.slot, p.row, k})
		})
		return "(long long) " + at
	}
}

// einsum is a sum of products in a loop for each label that the result lacks, in the order in which the operands have
// these labels.
func einsum(b *builder, s *body, o *device.Op, p point) string {
	left, out, _ := strings.Cut(o.V.Expr.Attr.Spec, "->")
	in, place, same := strings.Split(left, ","), map[byte]string{}, "1"
	for d, inner := len(out)-1, 1; d >= 0; d-- {
		n := o.V.Type.Shape[d]
		x := over(p.idx, inner)
		if d > 0 {
			x = rest(x, n)
		}
		x = b.let(s, fmt.Sprintf("place %d %d %s", o.Out, d, p.idx), "int", func() string { return x })
		if known, ok := place[out[d]]; ok {
			same = both(same, fmt.Sprintf("%s == %s", known, x))
		}
		place[out[d]] = x
		inner *= n
	}
	var labels []byte // over which the sum runs
	sizes := map[byte]int{}
	for i, operand := range in {
		for d, n := range o.V.Args[i].Type.Shape {
			l := operand[d]
			if _, known := sizes[l]; !known && place[l] == "" {
				labels = append(labels, l)
			}
			sizes[l] = n
		}
	}
	term := func(s *body) string {
		var product []string
		for i, operand := range in {
			at := "0"
			for d, n := range o.V.Args[i].Type.Shape {
				at = fmt.Sprintf("(%s) * %d + %s", at, n, place[operand[d]])
			}
			product = append(product, "(double) "+paren(b.argument(s, o, i, point{p.slot, p.row, at})))
		}
		return strings.Join(product, " * ")
	}
	acc := b.fresh("sum")
	s.add("double %s = 0;", acc)
	var sum func(s *body, labels []byte)
	sum = func(s *body, labels []byte) {
		if len(labels) == 0 {
			s.add("%s += %s;", acc, term(s))
			return
		}
		k, n := b.fresh("k"), sizes[labels[0]]
		place[labels[0]] = k
		if len(labels) == 1 {
			turns(s, k, n, functionsAtOnce, func(s *body) { sum(s, nil) })
			return
		}
		s.block(fmt.Sprintf("_Pragma(\"unroll 1\") for (int %s = 0; %[1]s < %d; %[1]s++)", k, n),
			func(s *body) { sum(s, labels[1:]) })
	}
	if same == "1" {
		sum(s, labels)
	} else {
		s.block(fmt.Sprintf("if (%s)", same), func(s *body) { sum(s, labels) })
	}
	return fmt.Sprintf("(%s) %s", ctype(b.t.Cells[o.Out].Kind), acc)
}
