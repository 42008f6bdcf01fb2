package forms

import (
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/tensor"
)

// Chunks that are broadcast against each other are mostly matrices against a column or a row: then a chunk is m rows of
// n numbers, and loops over plain rows compute it.

// rowsOf sees the shape out as m rows of n numbers of which an argument of each shape is a whole, a column, a line or
// one number. ok is false where no such m and n exist.
func rowsOf(out tensor.Shape, shapes []tensor.Shape) (m, n int, sides []device.Side, ok bool) {
	for d := 0; d <= len(out); d++ {
		if sides = sidesAt(out, shapes, d); sides != nil {
			return out[:d].Size(), out[d:].Size(), sides, true
		}
	}
	return 0, 0, nil, false
}

// sidesAt tries the axes before d as rows.
func sidesAt(out tensor.Shape, shapes []tensor.Shape, d int) []device.Side {
	sides := make([]device.Side, len(shapes))
	for i, s := range shapes {
		full := make(tensor.Shape, len(out))
		for k := range full {
			full[k] = 1
			if j := k - (len(out) - len(s)); j >= 0 {
				full[k] = s[j]
			}
		}
		switch before, after := full[:d], full[d:]; {
		case s.Size() == out.Size():
			sides[i] = device.Whole
		case s.Size() == 1:
			sides[i] = device.Single
		case before.Equal(out[:d]) && after.Size() == 1:
			sides[i] = device.Column
		case after.Equal(out[d:]) && before.Size() == 1:
			sides[i] = device.Line
		default:
			return nil
		}
	}
	return sides
}
