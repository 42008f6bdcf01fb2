package executor

// labelOf is the column of labels of a column of one-hot vectors, or of these in another kind, that is not in memory;
// nil for another.
func labelOf(v *val) *val {
	if v.op == vCall && v.data == nil && v.expr.Def.Name == "cast" {
		v = v.args[0]
	}
	if v.op != vCall || v.data != nil || v.expr.Def.Name != "one_hot" {
		return nil
	}
	return v.args[0]
}

// onlySubtracted reports whether v are one-hot vectors that are subtracted from others and nothing else: the labels say
// where 1 is subtracted, and the vectors need not be made.
func onlySubtracted(l *lowerer, v *val) bool {
	if labelOf(v) == nil || l.isRoot[v] {
		return false
	}
	for _, u := range l.uses[v] {
		switch {
		case labelOf(u) != nil:
			if !onlySubtracted(l, u) {
				return false
			}
		case minusLabel(u) == nil || u.args[0] == v:
			return false
		}
	}
	return true
}

// minusLabel is the column of labels where v is a difference of vectors and the one-hot vectors of labels; nil for
// another.
func minusLabel(v *val) *val {
	if v.op != vCall || v.expr.Def.Name != "sub" || v.args[0].typ.Size() != v.typ.Size() ||
		v.args[1].typ.Size() != v.typ.Size() ||
		v.args[0].uniform() {
		return nil
	}
	return labelOf(v.args[1])
}

// emitMinusLabel compiles x - one_hot(label).
func (c *compiler) emitMinusLabel(v *val, mask int) (int, error) {
	x, err := c.emit(v.args[0], mask)
	if err != nil {
		return 0, err
	}
	label, err := c.emit(minusLabel(v), mask)
	if err != nil {
		return 0, err
	}
	return c.strict(opMinusLabel, kindOf(v.typ), v, []int{c.convert(x, kindOf(v.typ)), label}, mask, nil), nil
}
