package interop

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/tensor"
)

// special are bits that conversions between float types or through text would change.
var special32 = []uint32{0x7fc00001, 0x7f800001, 0xffc12345, 0xff800001, 0x80000000, 1, 0x807fffff, 0x7f800000,
	0xff800000, 0x7f7fffff}
var special64 = []uint64{0x7ff8000000000001, 0x7ff0000000000001, 0xfff8123456789abc, 1 << 63, 1, 0x800fffffffffffff,
	0x7ff0000000000000, 0xfff0000000000000, 0x7fefffffffffffff}

// chunkOf makes a stored chunk of special and random bits.
func chunkOf(r *rand.Rand, d tensor.DType, shape ...int) []byte {
	b := tensor.New(d, shape...).Encode()
	for at := 4 + 4*len(shape); at < len(b); at += d.Size() {
		if d == tensor.Float32 {
			u := r.Uint32()
			if r.IntN(2) == 0 {
				u = special32[r.IntN(len(special32))]
			}
			binary.LittleEndian.PutUint32(b[at:], u)
			continue
		}
		u := r.Uint64()
		if r.IntN(2) == 0 {
			u = special64[r.IntN(len(special64))]
		}
		binary.LittleEndian.PutUint64(b[at:], u)
	}
	return b
}

var testColumns = []Column{{Name: "k", Type: "bigint"}, {Name: "i", Type: "integer"}, {Name: "h", Type: "smallint"},
	{Name: "b", Type: "boolean"},
	{Name: "t", Type: "text"}, {Name: "day", Type: "date"}, {Name: "x", Type: "real"},
	{Name: "y", Type: "double precision"},
	{Name: "v", Type: "real[]"}, {Name: "m", Type: "double precision[]"}, {Name: "c", Type: "real[]"},
	{Name: "at", Type: "timestamp without time zone"}, {Name: "now", Type: "timestamp with time zone"}}

func testRows(seed uint64, n int) [][]any {
	r := rand.New(rand.NewPCG(seed, 1))
	texts := []string{"", "a", "größer", "日本\n𝄞", "\"quoted\"", "x y"}
	clocks := []string{"2024-02-29 23:59:59.123456", "1969-12-31 23:59:59.999999", "0001-01-01 00:00:00",
		"9999-12-31 12:00:00.5", "1970-01-01 00:00:00"}
	days := []string{"2024-02-29", "0001-01-01", "1969-12-31", "1970-01-01", "9999-12-31"}
	var out [][]any
	for i := range n {
		out = append(out, []any{int64(i)*3 - math.MaxInt64, int64(math.MinInt32 + i), int64(math.MaxInt16 - i), i%3 == 0,
			texts[r.IntN(len(texts))], days[r.IntN(len(days))], float64(math.Float32frombits(special32[4+r.IntN(6)])),
			math.Float64frombits(special64[3+r.IntN(6)]),
			chunkOf(r, tensor.Float32, 3), chunkOf(r, tensor.Float64, 2, 3), chunkOf(r, tensor.Float32, 2, 1, 2, 2),
			clocks[r.IntN(len(clocks))], clocks[r.IntN(len(clocks))] + "+00"})
	}
	return out
}

// write makes a file in memory.
func write(format string, o Options, table string, cols []Column, rows [][]any) ([]byte, error) {
	var b bytes.Buffer
	s, err := Create(format, &b, "out", o)
	if err != nil {
		return nil, err
	}
	defer s.Abort()
	if err := s.Begin(table, cols, []string{cols[0].Name}); err != nil {
		return nil, err
	}
	for _, row := range rows {
		if err := s.Write(row); err != nil {
			return nil, err
		}
	}
	err = s.Close()
	return b.Bytes(), err
}

func written(t testing.TB, format string, o Options, table string, cols []Column, rows [][]any) []byte {
	t.Helper()
	b, err := write(format, o, table, cols, rows)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func opened(format string, b []byte, o Options) (Reader, error) {
	return Open(format, bytes.NewReader(b), int64(len(b)), "in."+format, o)
}

func sameRows(t *testing.T, got, want [][]any) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d rows, want %d", len(got), len(want))
	}
	for i := range want {
		for k := range want[i] {
			g, w := got[i][k], want[i][k]
			if x, ok := w.(float64); ok {
				y, ok := g.(float64)
				if ok && math.Float64bits(x) == math.Float64bits(y) {
					continue
				}
			}
			if !reflect.DeepEqual(g, w) {
				t.Errorf("row %d, column %d: %v, want %v", i, k, g, w)
			}
		}
	}
}

// TestBitEqual writes values of all types, with NaN payloads, -0 and denormals, and reads them back.
func TestBitEqual(t *testing.T) {
	for _, format := range []string{"npz", "safetensors", "arrow", "parquet"} {
		for _, n := range []int{0, 1, 7, 5000} {
			for _, table := range []string{"", "w"} {
				t.Run(fmt.Sprintf("%s/%d/%s", format, n, table), func(t *testing.T) {
					rows := testRows(7, n)
					r, err := opened(format, written(t, format, Options{}, table, testColumns, rows), Options{Table: table})
					if err != nil {
						t.Fatal(err)
					}
					if format != "npz" && (!reflect.DeepEqual(r.Key(), []string{"k"}) || len(r.Columns()) != len(testColumns)) {
						t.Errorf("key %v, columns %v", r.Key(), r.Columns())
					}
					for i, c := range r.Columns() {
						if n > 0 && c.Type != testColumns[i].Type && (format != "npz" || c.Type != "text") {
							t.Errorf("column %s is a %s, want %v", c.Name, c.Type, testColumns[i])
						}
					}
					got, err := readAll(r, testColumns)
					if err != nil {
						if n == 0 && strings.Contains(err.Error(), "do not fit") {
							return // without rows and a known shape, a chunk's rank is lost
						}
						t.Fatal(err)
					}
					sameRows(t, got, rows)
				})
			}
		}
	}
}

// TestClocks: dates and timestamps have their types in the files, which other programs read.
func TestClocks(t *testing.T) {
	cols := []Column{{Name: "day", Type: "date"}, {Name: "at", Type: "timestamp without time zone"},
		{Name: "now", Type: "timestamp with time zone"}, {Name: "n", Type: "numeric"}}
	rows := [][]any{{"1969-12-31", "2024-02-29 00:00:00.000001", "2024-02-29 12:00:00+02", "1.50"}}
	p := written(t, "parquet", Options{}, "", cols, rows)
	f, err := OpenParquet(bytes.NewReader(p), int64(len(p)), "p")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"date", "timestamp_ntz", "timestamp", "string"} {
		if got := f.Fields()[i].Type; got != want {
			t.Errorf("column %s of Parquet is a %s, want %s", cols[i].Name, got, want)
		}
	}
	a := written(t, "arrow", Options{}, "", cols, rows)
	r, err := ipc.NewFileReader(bytes.NewReader(a))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"date32", "timestamp[us]", "timestamp[us, tz=UTC]", "utf8"} {
		if got := r.Schema().Field(i).Type.String(); got != want {
			t.Errorf("column %s of Arrow is a %s, want %s", cols[i].Name, got, want)
		}
	}
	rec, err := r.Record(0)
	if err != nil {
		t.Fatal(err)
	}
	if day, now := rec.Column(0).(*array.Date32).Value(0), rec.Column(2).(*array.Timestamp).Value(0); day != -1 ||
		now != 1709200800000000 {
		t.Errorf("the day is %d, the timestamp %d", day, now)
	}
	for format, b := range map[string][]byte{"parquet": p, "arrow": a} {
		in, err := opened(format, b, Options{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := readAll(in, cols)
		if err != nil {
			t.Fatal(err)
		}
		want := rows[0]
		sameRows(t, got, [][]any{{want[0], want[1], "2024-02-29 10:00:00+00", want[3]}})
		if _, err := write(format, Options{}, "", cols, [][]any{{"infinity", nil, nil, nil}}); err == nil ||
			!strings.Contains(err.Error(), "column \"day\": invalid date: \"infinity\"") {
			t.Errorf("%s: %v", format, err)
		}
	}
}

// TestWhole writes one row's chunks as arrays without a dimension of rows.
func TestWhole(t *testing.T) {
	for _, format := range []string{"npz", "safetensors"} {
		rows := testRows(8, 1)
		b := written(t, format, Options{Whole: true}, "", testColumns, rows)
		r, err := opened(format, b, Options{Whole: true})
		if err != nil {
			t.Fatal(err)
		}
		got, err := readAll(r, testColumns)
		if err != nil {
			t.Fatal(err)
		}
		sameRows(t, got, rows)
		if c := r.Columns()[10]; !c.Shape.Equal(tensor.Shape{2, 1, 2, 2}) {
			t.Errorf("%s: shape %v", format, c.Shape)
		}
		if _, err := write(format, Options{Whole: true}, "", testColumns, testRows(8, 2)); err == nil ||
			!strings.Contains(err.Error(), "2 rows") {
			t.Errorf("%s: two rows written whole: %v", format, err)
		}
	}
}

// TestNulls: Arrow and Parquet keep NULL, also before the first chunk; arrays refuse it.
func TestNulls(t *testing.T) {
	rows := testRows(9, 6)
	for i, row := range rows {
		for k := 1; k < len(row); k++ {
			if i < 2 || (i+k)%3 == 0 {
				row[k] = nil
			}
		}
	}
	for _, format := range []string{"arrow", "parquet"} {
		r, err := opened(format, written(t, format, Options{}, "", testColumns, rows), Options{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := readAll(r, testColumns)
		if err != nil {
			t.Fatal(err)
		}
		sameRows(t, got, rows)
		allNull := [][]any{make([]any, len(testColumns)), make([]any, len(testColumns))}
		if r, err = opened(format, written(t, format, Options{}, "", testColumns, allNull), Options{}); err != nil {
			t.Fatal(err)
		}
		if got, err = readAll(r, testColumns); err != nil {
			t.Fatal(err)
		}
		sameRows(t, got, allNull)
	}
	for _, format := range []string{"npz", "safetensors"} {
		_, err := write(format, Options{}, "", testColumns, rows)
		if sqlerr.Code(err) != sqlerr.NullNotAllowed || !strings.Contains(err.Error(), "row 1, column \"i\"") {
			t.Errorf("%s: %v", format, err)
		}
	}
}

// TestConversions: what a column's type holds exactly is taken, anything else refused.
func TestConversions(t *testing.T) {
	col := func(typ string) []Column { return []Column{{Name: "v", Type: typ}} }
	for _, tc := range []struct {
		from string
		in   any
		to   string
		want any // an SQLSTATE where it is refused
	}{
		{"bigint", int64(1<<53 + 1), "double precision", "22003"},
		{"bigint", int64(math.MaxInt64), "double precision", "22003"},
		{"bigint", int64(1 << 53), "double precision", float64(1 << 53)},
		{"bigint", int64(1<<24 + 1), "real", "22003"},
		{"bigint", int64(40000), "smallint", "22003"},
		{"bigint", int64(-32768), "smallint", int64(-32768)},
		{"double precision", 1.5, "integer", "22003"},
		{"double precision", -3.0, "integer", int64(-3)},
		{"double precision", 1e300, "real", "22003"},
		{"double precision", 0.1, "real", float64(float32(0.1))},
		{"real", float64(float32(0.1)), "double precision", float64(float32(0.1))},
		{"boolean", true, "boolean", true},
		{"boolean", true, "bigint", int64(1)},
		{"bigint", int64(1), "boolean", "42804"},
	} {
		for _, format := range []string{"npy", "npz", "safetensors", "arrow", "parquet"} {
			r, err := opened(format, written(t, format, Options{}, "", col(tc.from), [][]any{{tc.in}}), Options{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := readAll(r, col(tc.to))
			if code, ok := tc.want.(string); ok {
				if sqlerr.Code(err) != code || !strings.Contains(err.Error(), "in."+format) {
					t.Errorf("%s: %v %s as %s: %v %v, want %s", format, tc.in, tc.from, tc.to, got, err, code)
				}
			} else if err != nil || got[0][0] != tc.want {
				t.Errorf("%s: %v %s as %s: %v %v, want %v", format, tc.in, tc.from, tc.to, got, err, tc.want)
			}
		}
	}
}

// TestBfloat16 reads the half-width floats that are never written.
func TestBfloat16(t *testing.T) {
	head := `{"h":{"dtype":"F16","shape":[4],"data_offsets":[0,8]},"b":{"dtype":"BF16","shape":[4],"data_offsets":[8,16]}}`
	b := append(binary.LittleEndian.AppendUint64(nil, uint64(len(head))), head...)
	for _, u := range []uint16{0x3c00, 0x0001, 0xfc00, 0x8000, 0x3f80, 0xc000, 0x0001, 0x7f80} {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	r, err := opened("safetensors", b, Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := readAll(r, []Column{{Name: "h", Type: "real"}, {Name: "b", Type: "double precision"}})
	if err != nil {
		t.Fatal(err)
	}
	sameRows(t, got, [][]any{{1.0, 1.0}, {math.Ldexp(1, -24), -2.0},
		{math.Inf(-1), float64(math.Float32frombits(1 << 16))}, {math.Copysign(0, -1), math.Inf(1)}})
}
