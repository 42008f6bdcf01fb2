package forms

import (
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/values"
)

// labelOf is the column of labels of a column of one-hot vectors (of any kind) that is not in memory; nil for others.
func labelOf(v *values.Val) *values.Val {
	if v.Op == values.OpCall && v.Data == nil && v.Expr.Def.Name == "cast" {
		v = v.Args[0]
	}
	if v.Op != values.OpCall || v.Data != nil || v.Expr.Def.Name != "one_hot" {
		return nil
	}
	return v.Args[0]
}

// onlySubtracted reports whether v are one-hot vectors that are only subtracted from others. Then the labels are
// enough, and the vectors need not be made.
func onlySubtracted(l *Lowerer, v *values.Val) bool {
	if labelOf(v) == nil || l.isRoot[v] {
		return false
	}
	for _, u := range l.uses[v] {
		switch {
		case labelOf(u) != nil:
			if !onlySubtracted(l, u) {
				return false
			}
		case minusLabel(u) == nil || u.Args[0] == v:
			return false
		}
	}
	return true
}

// minusLabel is the column of labels if v subtracts the one-hot vectors of labels from vectors; nil for others.
func minusLabel(v *values.Val) *values.Val {
	if v.Op != values.OpCall || v.Expr.Def.Name != "sub" || v.Args[0].Type.Size() != v.Type.Size() ||
		v.Args[1].Type.Size() != v.Type.Size() || v.Args[0].Uniform() {
		return nil
	}
	return labelOf(v.Args[1])
}

// emitMinusLabel compiles x - one_hot(label).
func emitMinusLabel(c *compiler, v *values.Val, mask int) (int, error) {
	x, err := c.emit(v.Args[0], mask)
	if err != nil {
		return 0, err
	}
	label, err := c.emit(minusLabel(v), mask)
	if err != nil {
		return 0, err
	}
	return c.strict(device.OpMinusLabel, column.KindOf(v.Type), v, []int{c.convert(x, column.KindOf(v.Type)), label},
		mask, nil), nil
}
