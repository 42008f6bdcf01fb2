package forms

import (
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/tensor"
)

// Chunks are mostly broadcast as matrices with a column or a row. A chunk is then m rows of n numbers, and loops over
// plain rows suffice.

// rowsOf finds m and n so that shape out is m rows of n numbers, and each argument is a whole matrix, a column, a row
// or one number. ok is false where there are none.
func rowsOf(out tensor.Shape, shapes []tensor.Shape) (m, n int, sides []device.Side, ok bool) {
	for d := 0; d <= len(out); d++ {
		if sides = sidesAt(out, shapes, d); sides != nil {
			return out[:d].Size(), out[d:].Size(), sides, true
		}
	}
	return 0, 0, nil, false
}

// sidesAt tries the axes before d as the rows.
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
