package delta

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/relgrad/relgrad/interop"
)

// Bound asks for rows of which a column is from Min to Max, both included; nil is no bound. A row in which the column
// is NULL is not asked for. NaN is larger than all other numbers, as it is in Postgres. Min and Max are of the types of
// interop.Field.
type Bound struct {
	Column   string
	Min, Max any
}

// Equal asks for the rows of which a column has a value.
func Equal(column string, v any) Bound { return Bound{column, v, v} }

// span is a bound of a column of the table.
type span struct {
	Bound
	column int
}

// Bounded reports whether a column can have bounds: its values have an order that relgrad knows.
func Bounded(f *interop.Field) bool {
	_, _, decimal := f.Decimal()
	return len(f.Parts) == 0 && f.Refused == "" && f.Type != "binary" && !decimal
}

// comparable reports whether values of the field have an order, and v is one of them.
func comparable(f *interop.Field, v any) bool {
	switch v.(type) {
	case bool:
		return f.Type == "boolean"
	case int64:
		return slices.Contains([]string{"byte", "short", "integer", "long"}, f.Type)
	case float32, float64:
		return f.Type == "float" || f.Type == "double"
	case string:
		return f.Type == "string"
	case interop.Day:
		return f.Type == "date"
	case interop.Moment:
		return f.Type == "timestamp" || f.Type == "timestamp_ntz"
	}
	return false
}

// compare orders two values of one field: -0 is 0, NaN the largest number.
func compare(a, b any) int {
	switch x := a.(type) {
	case bool:
		y, _ := b.(bool)
		return cmp.Compare(number(x), number(y))
	case int64:
		y, _ := b.(int64)
		return cmp.Compare(x, y)
	case interop.Day:
		y, _ := b.(interop.Day)
		return cmp.Compare(x, y)
	case interop.Moment:
		y, _ := b.(interop.Moment)
		return cmp.Compare(x, y)
	case string:
		y, _ := b.(string)
		return cmp.Compare(x, y)
	}
	x, y := double(a), double(b)
	switch {
	case x == y:
		return 0
	case x != x || y != y:
		return cmp.Compare(number(x != x), number(y != y))
	}
	return cmp.Compare(x, y)
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

func double(v any) float64 {
	if f, ok := v.(float32); ok {
		return float64(f)
	}
	f, _ := v.(float64)
	return f
}

// holds reports whether a value is within the bound.
func (b *span) holds(v any) bool {
	return v != nil && (b.Min == nil || compare(v, b.Min) >= 0) && (b.Max == nil || compare(v, b.Max) <= 0)
}

// rangeOf is what is known of a column in a file or row group: min and max are nil where they are unknown.
type rangeOf struct {
	min, max any
	nulls    int64 // -1: unknown
}

// check refuses a least value that is greater than the greatest, and values where all are NULL: what is damaged would
// leave out rows.
func (r rangeOf) check(column string, rows int64) error {
	if rows > 0 && r.nulls == rows && (r.min != nil || r.max != nil) {
		return corrupt("column \"%s\" is said to hold NULL in all of %d rows, and values", column, rows)
	}
	if x := double(r.min); r.min == nil || r.max == nil || x != x || compare(r.min, r.max) <= 0 {
		return nil
	}
	return corrupt("the values of column \"%s\" are said to go from %v to %v", column, r.min, r.max)
}

// within refuses integers of a row group that are not among those of its file, by the log, and more NULLs.
func (r rangeOf) within(file rangeOf, column string) error {
	if file.nulls >= 0 && r.nulls > file.nulls {
		return corrupt("column \"%s\" is said to hold NULL in %d rows, by the log in %d", column, r.nulls, file.nulls)
	}
	for _, x := range []any{r.min, r.max} {
		_, integer := x.(int64)
		if integer && file.min != nil && file.max != nil && (compare(x, file.min) < 0 || compare(x, file.max) > 0) {
			return corrupt("column \"%s\" is said to hold %v, by the log only from %v to %v", column, x, file.min, file.max)
		}
	}
	return nil
}

// none reports whether no row is within the bound, for sure. The largest value of floats is of no use where NaN is
// within the bound: writers leave NaN out of it.
func (b *span) none(r rangeOf, rows int64) bool {
	if r.nulls >= 0 && r.nulls == rows {
		return true
	}
	nan := b.floats() && b.holds(math.NaN())
	return r.max != nil && b.Min != nil && !nan && compare(r.max, b.Min) < 0 ||
		r.min != nil && b.Max != nil && compare(r.min, b.Max) > 0
}

// every reports whether all rows are within the bound, for sure.
func (b *span) every(r rangeOf) bool {
	return r.nulls == 0 && r.min != nil && r.max != nil && !b.floats() && b.holds(r.min) && b.holds(r.max)
}

func (b *span) floats() bool {
	for _, v := range []any{b.Min, b.Max} {
		switch v.(type) {
		case float32, float64:
			return true
		}
	}
	return false
}

// fileStats are the statistics of a file: https://github.com/delta-io/delta/blob/master/PROTOCOL.md#per-file-statistics
type fileStats struct {
	NumRecords *int64                     `json:"numRecords"`
	MinValues  map[string]json.RawMessage `json:"minValues"`
	MaxValues  map[string]json.RawMessage `json:"maxValues"`
	NullCount  map[string]json.RawMessage `json:"nullCount"`
}

// stats reads the statistics of a file; those that are not understood are none.
func (f *File) stats() fileStats {
	var out fileStats
	if f.Stats == "" || json.Unmarshal([]byte(f.Stats), &out) != nil {
		return fileStats{}
	}
	return out
}

func (st *fileStats) rows() int64 {
	if st.NumRecords == nil || *st.NumRecords < 0 {
		return -1
	}
	return *st.NumRecords
}

// of is what the statistics say of a column.
func (st *fileStats) of(f *interop.Field) rangeOf {
	out := rangeOf{nulls: -1}
	var n int64
	if raw, ok := st.NullCount[f.Name]; ok && json.Unmarshal(raw, &n) == nil && n >= 0 {
		out.nulls = n
	}
	out.min, out.max = bound(f, st.MinValues[f.Name]), bound(f, st.MaxValues[f.Name])
	if m, ok := out.max.(interop.Moment); ok && m < math.MaxInt64-1000 {
		out.max = m + 999 // writers cut moments to milliseconds
	}
	return out
}

// bound reads one value of the statistics, nil where it is none of the field.
func bound(f *interop.Field, raw json.RawMessage) any {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if len(raw) == 0 || d.Decode(&v) != nil {
		return nil
	}
	switch x := v.(type) {
	case json.Number:
		if f.Type == "float" || f.Type == "double" {
			n, err := x.Float64()
			if err == nil {
				return n
			}
			return nil
		}
		n, err := x.Int64()
		if err == nil && comparable(f, n) {
			return n
		}
	case string:
		if f.Type == "string" {
			return x
		}
		if w, err := f.Accept(x); err == nil && comparable(f, w) {
			return w
		}
	}
	return nil
}

// collector makes the statistics of a file from its rows.
type collector struct {
	fields []interop.Field
	rows   int64
	ranges []rangeOf
	// ordered are columns of types with an order, but for booleans; lost are columns of floats among which there was a
	// NaN or an infinity.
	ordered, lost []bool
}

func newCollector(fields []interop.Field) *collector {
	c := &collector{fields: fields, ranges: make([]rangeOf, len(fields)), lost: make([]bool, len(fields))}
	for _, f := range fields {
		c.ordered = append(c.ordered, Bounded(&f) && f.Type != "boolean")
	}
	return c
}

func (c *collector) add(row []any) {
	c.rows++
	for i, v := range row {
		if v == nil {
			c.ranges[i].nulls++
		} else {
			c.value(i, v)
		}
	}
}

// addColumns adds rows as Tx.WriteColumns takes them.
func (c *collector) addColumns(n int, columns []any) {
	c.rows += int64(n)
	for i, column := range columns {
		switch x := column.(type) {
		case interop.ColumnOf:
			if x.Value == nil {
				c.ranges[i].nulls += int64(n)
			} else {
				c.value(i, x.Value)
			}
		case []int64:
			c.value(i, slices.Min(x))
			c.value(i, slices.Max(x))
		case []float32:
			c.floats(i, extremes(x))
		case []float64:
			c.floats(i, extremes(x))
		}
	}
}

// value takes a value of a column, which is not NULL.
func (c *collector) value(i int, v any) {
	if !c.ordered[i] {
		return
	}
	if c.fields[i].Type == "float" || c.fields[i].Type == "double" {
		if x := double(v); math.IsNaN(x) || math.IsInf(x, 0) {
			c.lost[i] = true
			return
		}
	}
	r := &c.ranges[i]
	if r.min == nil || compare(v, r.min) < 0 {
		r.min = v
	}
	if r.max == nil || compare(v, r.max) > 0 {
		r.max = v
	}
}

func (c *collector) floats(i int, of []any) {
	for _, v := range of {
		c.value(i, v)
	}
}

// extremes are the values of which a range must know: the smallest, the largest, and one that is no number.
func extremes[T float32 | float64](list []T) []any {
	low, high := list[0], list[0]
	for _, v := range list {
		if v != v {
			return []any{v}
		}
		low, high = min(low, v), max(high, v)
	}
	return []any{low, high}
}

// text writes the statistics.
func (c *collector) text() string {
	low, high, nulls := map[string]any{}, map[string]any{}, map[string]any{}
	for i, f := range c.fields {
		if len(f.Parts) > 0 { // others want the NULLs of each part, or none
			continue
		}
		r := c.ranges[i]
		nulls[f.Name] = r.nulls
		if r.min == nil || c.lost[i] {
			continue
		}
		if v, ok := jsonBound(r.min, false); ok {
			low[f.Name] = v
		}
		if v, ok := jsonBound(r.max, true); ok {
			high[f.Name] = v
		}
	}
	return string(mustJSON(map[string]any{"numRecords": c.rows, "minValues": low, "maxValues": high, "nullCount": nulls}))
}

// jsonBound is a bound in JSON: texts are cut, the upper one is made larger where it was; zeros are -0 below and 0
// above; an upper moment is rounded up to the millisecond.
func jsonBound(v any, upper bool) (any, bool) {
	switch x := v.(type) {
	case float32:
		return zero(float64(x), upper), true
	case float64:
		return zero(x, upper), true
	case string:
		return cut(x, upper)
	case interop.Day:
		return time.Unix(int64(x)*86400, 0).UTC().Format("2006-01-02"), x > -700000 && x < 2900000
	case interop.Moment:
		t := time.UnixMicro(int64(x)).UTC()
		if upper {
			t = t.Add(999 * time.Microsecond)
		}
		return t.Format("2006-01-02T15:04:05.000Z"), x > -62e15 && x < 253e15
	}
	return v, true
}

func zero(x float64, upper bool) any {
	if x == 0 {
		if upper {
			return 0.0
		}
		return json.RawMessage("-0.0")
	}
	return x
}

// cut shortens a text to 32 characters. ok is false where there is no larger text of that length.
func cut(s string, upper bool) (any, bool) {
	const most = 32
	if !utf8.ValidString(s) {
		return nil, false
	}
	if utf8.RuneCountInString(s) <= most {
		return s, true
	}
	r := []rune(s)[:most]
	if !upper {
		return string(r), true
	}
	for i := len(r) - 1; i >= 0; i-- {
		if next := r[i] + 1; next <= utf8.MaxRune {
			if next == 0xD800 {
				next = 0xE000
			}
			return string(r[:i]) + string(next), true
		}
	}
	return nil, false
}

// contains reports whether a list has a name, without regard to case.
func contains(list []string, name string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return strings.EqualFold(s, name) })
}
