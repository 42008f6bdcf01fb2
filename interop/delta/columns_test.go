package delta

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/interop"
)

// mixed reads rows by columns where that is possible, else one by one. It returns how many came by columns.
func mixed(t testing.TB, s *Snapshot, want []string, where ...Bound) (out []string, by int) {
	t.Helper()
	in, err := s.Scan(want, where)
	if err != nil {
		t.Fatal(err)
	}
	row := make([]any, len(want))
	for {
		if n := in.Columns(row); n > 0 {
			for i := range n {
				line := make([]any, len(row))
				for k, c := range row {
					switch x := c.(type) {
					case []int64:
						line[k] = x[i]
					case []float64:
						line[k] = x[i]
					}
				}
				out = append(out, strings.Trim(fmt.Sprint(line...), "[]"))
			}
			by += n
			continue
		}
		if err := in.Next(row); err == io.EOF {
			return out, by
		} else if err != nil {
			t.Fatal(err)
		}
		out = append(out, strings.Trim(fmt.Sprint(row...), "[]"))
	}
}

// numberFields are columns that may be written by columns, and numbers those of a table.
var numberFields = []interop.Field{{Name: "id", Type: "string"}, {Name: "i", Type: "long"},
	{Name: "j", Type: "integer"}, {Name: "v", Type: "double"}, {Name: "w", Type: "float"}}

func numbers(n int) []any {
	r := rand.New(rand.NewPCG(1, 1))
	i, j, v, w := make([]int64, n), make([]int64, n), make([]float64, n), make([]float32, n)
	for k := range n {
		i[k], j[k], v[k], w[k] = int64(k/10), r.Int64N(100), r.NormFloat64(), float32(r.NormFloat64())
	}
	w[7] = float32(math.Inf(1))
	return []any{interop.ColumnOf{Value: "a"}, i, j, v, w}
}

// numberTable is a table of these numbers, and of a row with NULLs, written by columns or by rows.
func numberTable(t testing.TB, n int, columns bool, o WriteOptions) *Snapshot {
	t.Helper()
	tx, err := Create(Memory{}, numberFields, TableOptions{}, o)
	if err != nil {
		t.Fatal(err)
	}
	all := numbers(n)
	if columns {
		err = tx.WriteColumns(n, all)
	}
	for k := 0; k < n && err == nil && !columns; k++ {
		err = tx.Write([]any{"a", all[1].([]int64)[k], all[2].([]int64)[k],
			all[3].([]float64)[k], all[4].([]float32)[k]})
	}
	if err != nil {
		t.Fatal(err)
	}
	return commit(t, tx, []any{"b", int64(5), nil, 1.0, nil})
}

// TestReadColumns reads numbers by columns, within bounds.
func TestReadColumns(t *testing.T) {
	const n = 20000
	for _, columns := range []bool{false, true} {
		s := numberTable(t, n, columns, WriteOptions{FileBytes: 1 << 16, Parquet: interop.ParquetOptions{Rows: 3000}})
		if len(s.Files()) < 2 {
			t.Errorf("%d files", len(s.Files()))
		}
		for _, c := range []struct {
			where []Bound
			least int // rows by columns
		}{{nil, n - 20}, {[]Bound{Equal("id", "a")}, 10000}, {[]Bound{{"i", int64(500), int64(1500)}}, 10000},
			{[]Bound{{"i", int64(500), int64(1500)}, {"j", int64(50), nil}, Equal("i", int64(1000))}, 1},
			{[]Bound{{"j", nil, int64(3)}}, 500}, {[]Bound{{"v", 0.5, nil}}, 0}, {[]Bound{Equal("i", int64(-1))}, 0}} {
			want, err := scan(s, []string{"i", "v", "j"}, c.where...)
			if err != nil {
				t.Fatal(err)
			}
			got, by := mixed(t, s, []string{"i", "v", "j"}, c.where...)
			if !slices.Equal(got, want) || by < c.least {
				t.Errorf("%v: %d rows, not %d, and %d by columns", c.where, len(got), len(want), by)
			}
		}
	}
}

// TestWriteColumns: what is written by columns has the statistics of what is written by rows.
func TestWriteColumns(t *testing.T) {
	a := numberTable(t, 5000, false, WriteOptions{}).Files()[0].Stats
	if b := numberTable(t, 5000, true, WriteOptions{}).Files()[0].Stats; a != b {
		t.Errorf("statistics\n%s\nby columns, by rows\n%s", b, a)
	}
	tx, err := Create(Memory{}, numberFields, TableOptions{Partition: []string{"id"}}, WriteOptions{})
	if err != nil || tx.WriteColumns(1, numbers(8)) == nil {
		t.Errorf("by columns into partitions: %v", err)
	}
}

// TestSift: rows outside of bounds of integers are left out with their lists, texts and NULLs, in whatever batches the
// columns come.
func TestSift(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	list := func(f interop.Field) interop.Field {
		return interop.Field{Name: "l", Type: "array", Parts: []interop.Field{f}}
	}
	some := []interop.Field{{Name: "k", Type: "long"}, list(interop.Field{Name: "element", Type: "float"}),
		{Name: "s", Type: "string"}, {Name: "j", Type: "integer"},
		{Name: "d", Type: "struct", Parts: []interop.Field{{Name: "x", Type: "long"}, list(interop.Field{Name: "element",
			Type: "array", Parts: []interop.Field{{Name: "element", Type: "long"}}})}}}
	tx, err := Create(Memory{}, some, TableOptions{}, WriteOptions{Parquet: interop.ParquetOptions{Rows: 9000}})
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]any
	for i := range 20000 {
		row := []any{int64(i / 7), []float32{float32(i), 1, 2}[:r.IntN(4)], fmt.Sprint(i), r.Int64N(50),
			map[string]any{"x": int64(i), "l": []any{[]int64{1, int64(i)}[:1+r.IntN(2)], []int64{}, nil}[:r.IntN(4)]}}
		if k := r.IntN(60); k < len(row) {
			row[k] = nil
		} else if k == 59 {
			row[1] = []any{float32(1), nil, float32(i)}
		}
		rows = append(rows, row)
	}
	s := commit(t, tx, rows...)
	for _, where := range [][]Bound{{{"j", int64(10), int64(11)}}, {{"k", int64(900), int64(1500)}},
		{{"j", nil, int64(40)}},
		{{"k", int64(700), nil}, {"j", int64(3), int64(3)}}, {{"j", int64(5), int64(5)}, {"k", nil, int64(5)}}} {
		want := []string{}
		for _, row := range rows {
			in := true
			for _, b := range where {
				v := row[map[string]int{"k": 0, "j": 3}[b.Column]]
				in = in && v != nil && (b.Min == nil || compare(v, b.Min) >= 0) && (b.Max == nil || compare(v, b.Max) <= 0)
			}
			if in {
				want = append(want, shown([]any{row[0], row[1], row[2], row[3], row[4]}))
			}
		}
		in, err := s.Scan([]string{"k", "l", "s", "j", "d"}, where)
		got, row := []string{}, make([]any, 5)
		for err == nil {
			if err = in.Next(row); err == nil {
				got = append(got, shown(slices.Clone(row)))
			}
		}
		if err != io.EOF || len(want) == 0 {
			t.Fatal(err, len(want))
		}
		sameRows(t, fmt.Sprint(where), got, want)
	}
}
