package delta

import (
	"math"
	"testing"
)

// TestBelievedBounds: bounds that contradict themselves, or those of the log, would leave out rows, and are refused.
func TestBelievedBounds(t *testing.T) {
	five, of := int64(5), func(low, high any, nulls int64) rangeOf { return rangeOf{low, high, nulls} }
	for name, c := range map[string]struct {
		group, log rangeOf
		good       bool
	}{
		"equal":                        {of(int64(0), five, 0), of(int64(0), five, 0), true},
		"narrower":                     {of(int64(1), int64(2), 1), of(int64(0), five, 3), true},
		"nothing is known":             {of(nil, nil, -1), of(nil, nil, -1), true},
		"the log knows nothing":        {of(int64(1), int64(2), 1), of(nil, nil, -1), true},
		"the least is the greatest":    {of(five, int64(0), 0), of(nil, nil, -1), false},
		"NaN is no least value":        {of(math.NaN(), 1.0, 0), of(nil, nil, -1), true},
		"floats the wrong way":         {of(2.0, 1.0, 0), of(nil, nil, -1), false},
		"texts the wrong way":          {of("b", "a", 0), of(nil, nil, -1), false},
		"all NULL, and values":         {of(five, five, 10), of(nil, nil, -1), false},
		"all NULL":                     {of(nil, nil, 10), of(nil, nil, 10), true},
		"less than the log says":       {of(int64(-1), five, 0), of(int64(0), five, 0), false},
		"more than the log says":       {of(int64(0), int64(6), 0), of(int64(0), five, 0), false},
		"more NULLs than the log says": {of(nil, nil, 10), of(int64(0), five, 0), false},
		"texts are cut off in logs":    {of("a", "bcd", 0), of("a", "bc", 0), true},
		"least 0, greatest below":      {of(int64(0), int64(-3), 0), of(nil, nil, -1), false},
	} {
		err := c.group.check("c", 10)
		if err == nil {
			err = c.group.within(c.log, "c")
		}
		if (err == nil) != c.good {
			t.Errorf("%s: %v", name, err)
		}
	}
}
