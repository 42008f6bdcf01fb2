package interop

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/relgrad/relgrad/internal/need"
)

// columnFields are columns of numbers, and of values that all rows have.
var columnFields = []Field{{Name: "long", Type: "long"}, {Name: "must", Type: "long", Required: true},
	{Name: "integer", Type: "integer"}, {Name: "byte", Type: "byte"}, {Name: "float", Type: "float"},
	{Name: "double", Type: "double"}, {Name: "text", Type: "string"}, {Name: "none", Type: "double"},
	{Name: "list", Type: "array", Parts: []Field{{Name: "element", Type: "long"}}}}

// someColumns draws n rows, as rows and as columns.
func someColumns(n int) (rows [][]any, columns []any) {
	r := rand.New(rand.NewPCG(3, 4))
	long, must, integer, short := make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n)
	float, double := make([]float32, n), make([]float64, n)
	for i := range n {
		long[i], must[i], integer[i] = r.Int64(), int64(i), int64(int32(r.Uint32()))
		short[i], float[i], double[i] = int64(int8(r.Uint32())), r.Float32(), r.NormFloat64()
		rows = append(rows, []any{long[i], must[i], integer[i], short[i], float[i], double[i], "x", nil,
			[]int64{1, 2, int64(n)}})
	}
	return rows, []any{long, must, integer, short, float, double, ColumnOf{"x"}, ColumnOf{nil},
		ColumnOf{[]int64{1, 2, int64(n)}}}
}

func columnFile(t testing.TB, o ParquetOptions, write func(p *ParquetWriter) error) []byte {
	t.Helper()
	var b bytes.Buffer
	p, err := CreateParquet(&b, "x", columnFields, o)
	if err == nil {
		err = write(p)
	}
	if err == nil {
		err = p.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestWriteColumns: a file that is written by columns is, byte for byte, that which is written by rows.
func TestWriteColumns(t *testing.T) {
	rows, columns := someColumns(10000)
	for _, o := range []ParquetOptions{{}, {Rows: 777}, {Encoding: map[string]int{"long": DeltaEncoding,
		"float": PlainEncoding}, Rows: 5000}} {
		want := columnFile(t, o, func(p *ParquetWriter) (err error) {
			for i := 0; i < len(rows) && err == nil; i++ {
				err = p.Write(rows[i])
			}
			return err
		})
		got := columnFile(t, o, func(p *ParquetWriter) error {
			if err := p.Write(rows[0]); err != nil {
				return err
			}
			rest := make([]any, len(columns))
			for i, c := range columns {
				rest[i] = CutColumn(c, 1, 10000)
			}
			return p.WriteColumns(9999, rest)
		})
		if !bytes.Equal(got, want) {
			t.Errorf("%v: %d bytes, not the %d of rows", o, len(got), len(want))
		}
	}
	for name, c := range map[string]any{"byte": []int64{200}, "text": []int64{1}, "list": []int64{1}, "long": []float32{1},
		"must": ColumnOf{nil}} {
		p, err := CreateParquet(io.Discard, "x", columnFields, ParquetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		_, columns := someColumns(1)
		for i, f := range columnFields {
			if f.Name == name {
				columns[i] = c
			}
		}
		if err := p.WriteColumns(1, columns); err == nil || p.Close() == nil {
			t.Errorf("%s: %v was written", name, c)
		}
	}
}

// TestReadColumns: what is read by columns, and by rows in between, is what is read by rows.
func TestReadColumns(t *testing.T) {
	rows, _ := someColumns(9000)
	rows[5000][0] = nil
	file := columnFile(t, ParquetOptions{Rows: 3001}, func(p *ParquetWriter) (err error) {
		for i := 0; i < len(rows) && err == nil; i++ {
			err = p.Write(rows[i])
		}
		return err
	})
	p, err := OpenParquet(bytes.NewReader(file), int64(len(file)), "x")
	if err != nil {
		t.Fatal(err)
	}
	var groups []int
	for g := range p.Groups() {
		groups = append(groups, g)
	}
	in, err := p.Read(groups, []string{"byte", "long", "float", "double", "integer"})
	if err != nil {
		t.Fatal(err)
	}
	columns, row, by := make([]any, 5), make([]any, 5), 0
	var got []string
	for {
		if n := in.(ColumnRows).Columns(columns); n > 0 {
			for i := range n {
				got = append(got, fmt.Sprint(columns[0].([]int64)[i], columns[1].([]int64)[i], columns[2].([]float32)[i],
					columns[3].([]float64)[i], columns[4].([]int64)[i]))
			}
			by += n
			continue
		}
		if err := in.Next(row); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(row...))
	}
	for i, r := range rows {
		if want := fmt.Sprint(r[3], r[0], r[4], r[5], r[2]); i >= len(got) || got[i] != want {
			t.Fatalf("row %d of %d is not %s", i, len(got), want)
		}
	}
	if len(got) != len(rows) || by < 8900 {
		t.Errorf("%d rows, %d of them by columns", len(got), by)
	}
	if in, err = p.Read(groups, []string{"long", "text"}); err != nil || in.(ColumnRows).Columns(columns) != 0 {
		t.Errorf("texts by columns: %v", err)
	}
}

// TestRepeated: columns that have one value in whole row groups, in a part of one, and in none.
func TestRepeated(t *testing.T) {
	need.Time(t)
	r := rand.New(rand.NewPCG(5, 6))
	row, rows := nestedRow(r), [][]any{}
	for range 3000 {
		row = slices.Clone(row)
		for i := range nestedFields {
			if r.IntN(40) == 0 {
				row[i] = nestedValue(r, &nestedFields[i])
			}
		}
		rows = append(rows, row)
	}
	for _, groups := range []int{1, 7, 16, 2900} {
		got, err := readNested(nestedFile(t, rows, ParquetOptions{Rows: groups}))
		if err != nil || len(got) != len(rows) {
			t.Fatalf("%d rows of %d: %v", len(got), len(rows), err)
		}
		for i := range rows {
			if !reflect.DeepEqual(got[i], rows[i]) {
				t.Fatalf("groups of %d: row %d is\n%v, not\n%v", groups, i, got[i], rows[i])
			}
		}
	}
}
