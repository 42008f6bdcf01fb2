package interop

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/relgrad/relgrad/internal/mutation"
	"github.com/relgrad/relgrad/internal/sqlerr"
)

// nestedFields have all types and nestings.
var nestedFields = []Field{
	{Name: "b", Type: "boolean"}, {Name: "i1", Type: "byte"}, {Name: "i2", Type: "short"}, {Name: "i4", Type: "integer"},
	{Name: "i8", Type: "long", Required: true}, {Name: "f4", Type: "float"}, {Name: "f8", Type: "double"},
	{Name: "s", Type: "string"}, {Name: "raw", Type: "binary"}, {Name: "day", Type: "date"},
	{Name: "at", Type: "timestamp"}, {Name: "clock", Type: "timestamp_ntz"}, {Name: "money", Type: "decimal(9,2)"},
	{Name: "big", Type: "decimal(38,10)"},
	{Name: "ints", Type: "array", Parts: []Field{{Name: "element", Type: "integer"}}},
	{Name: "floats", Type: "array", Parts: []Field{{Name: "element", Type: "float", Required: true}}},
	{Name: "deep", Type: "array", Parts: []Field{{Name: "element", Type: "array",
		Parts: []Field{{Name: "element", Type: "string"}}}}},
	{Name: "add", Type: "struct", Parts: []Field{{Name: "path", Type: "string"},
		{Name: "size", Type: "long", Required: true},
		{Name: "tags", Type: "map", Parts: []Field{{Name: "key", Type: "string", Required: true}, {Name: "value",
			Type: "string"}}},
		{Name: "parts", Type: "array", Parts: []Field{{Name: "element", Type: "struct", Parts: []Field{
			{Name: "x", Type: "double"}, {Name: "ys", Type: "array", Parts: []Field{{Name: "element", Type: "long"}}}}}}}}},
	{Name: "byDay", Type: "map", Parts: []Field{{Name: "key", Type: "date", Required: true},
		{Name: "value", Type: "integer"}}},
}

// nestedRow makes a random row of nestedFields.
func nestedRow(r *rand.Rand) []any {
	row := make([]any, len(nestedFields))
	for i := range nestedFields {
		row[i] = nestedValue(r, &nestedFields[i])
	}
	return row
}

func nestedValue(r *rand.Rand, f *Field) any {
	if !f.Required && r.IntN(5) == 0 {
		return nil
	}
	if bits := integerBits[f.Type]; bits > 0 {
		return r.Int64() >> (64 - bits) * (1 - 2*r.Int64N(2))
	}
	switch f.Type {
	case "boolean":
		return r.IntN(2) == 0
	case "float":
		return []float32{float32(r.NormFloat64()), float32(math.Inf(1)), float32(math.Copysign(0, -1)), 7}[r.IntN(4)]
	case "double":
		return []float64{r.NormFloat64(), math.Inf(-1), math.MaxFloat64, 0}[r.IntN(4)]
	case "string":
		return strings.Repeat("é", r.IntN(4))
	case "binary":
		return []byte(strings.Repeat("\x00\xff", r.IntN(4)))
	case "date":
		return Day(r.IntN(40000) - 20000)
	case "timestamp", "timestamp_ntz":
		return Moment(r.Int64N(1<<52) - 1<<51)
	case "decimal(9,2)":
		return []string{"1234567.89", "-0.01", "0.00"}[r.IntN(3)]
	case "decimal(38,10)":
		return []string{"1234567890123456789012345678.0123456789", "-1.0000000000"}[r.IntN(2)]
	case "struct":
		out := map[string]any{}
		for i := range f.Parts {
			if v := nestedValue(r, &f.Parts[i]); v != nil {
				out[f.Parts[i].Name] = v
			}
		}
		return out
	case "map":
		if f.Parts[0].Type == "string" {
			out := map[string]any{}
			for range r.IntN(3) {
				out[fmt.Sprint("k", r.IntN(9))] = nestedValue(r, &f.Parts[1])
			}
			return out
		}
	}
	list := []any{}
	for range r.IntN(4) {
		v := nestedValue(r, &f.Parts[0])
		if f.Type == "map" {
			v = [2]any{v, nestedValue(r, &f.Parts[1])}
		}
		list = append(list, v)
	}
	return typed(f, list)
}

// typed is a list in the form in which it is read.
func typed(f *Field, list []any) any {
	for _, v := range list {
		if v == nil {
			return list
		}
	}
	switch f.Parts[0].Type {
	case "integer", "long":
		return typedAs[int64](list)
	case "float":
		return typedAs[float32](list)
	}
	return list
}

func typedAs[T any](list []any) any {
	if len(list) == 0 {
		return list
	}
	out := []T{}
	for _, v := range list {
		out = append(out, v.(T))
	}
	return out
}

func nestedFile(t testing.TB, rows [][]any, o ParquetOptions) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := CreateParquet(&b, "in.parquet", nestedFields, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		if err := w.Write(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// readNested reads a whole file.
func readNested(b []byte) (out [][]any, err error) {
	p, err := OpenParquet(bytes.NewReader(b), int64(len(b)), "in.parquet")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, f := range p.Fields() {
		names = append(names, f.Name)
	}
	var groups []int
	for i := range p.Groups() {
		groups = append(groups, i)
	}
	rows, err := p.Read(groups, names)
	for err == nil {
		row := make([]any, len(names))
		if err = rows.Next(row); err == nil {
			for i, v := range row {
				if b, ok := v.([]byte); ok {
					row[i] = bytes.Clone(b)
				}
			}
			out = append(out, row)
		}
		if len(out) > 1<<20 {
			return nil, errors.New("it does not end")
		}
	}
	if err == io.EOF {
		err = nil
	}
	return out, err
}

// TestNested writes values of all types and nestings, in every encoding, and reads them.
func TestNested(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var rows [][]any
	for range 300 {
		rows = append(rows, nestedRow(r))
	}
	for encoding := range 3 {
		o := ParquetOptions{Rows: 64, Encoding: map[string]int{}, NoStatistics: map[string]bool{"s": true}}
		for _, f := range nestedFields {
			o.Encoding[f.Name] = encoding
		}
		b := nestedFile(t, rows, o)
		got, err := readNested(b)
		if err != nil || len(got) != len(rows) {
			t.Fatalf("%d rows of %d: %v", len(got), len(rows), err)
		}
		for i := range rows {
			if !reflect.DeepEqual(got[i], rows[i]) {
				t.Fatalf("row %d is\n%v, not\n%v", i, got[i], rows[i])
			}
		}
		p, err := OpenParquet(bytes.NewReader(b), int64(len(b)), "in.parquet")
		if err != nil || !reflect.DeepEqual(p.Fields(), nestedFields) {
			t.Fatalf("fields %v, %v", p.Fields(), err)
		}
		checkGroups(t, p, rows)
	}
}

// checkGroups compares the statistics of each row group with its rows.
func checkGroups(t *testing.T, p *Parquet, rows [][]any) {
	t.Helper()
	at := 0
	for _, g := range p.Groups() {
		low, high, nulls := int64(math.MaxInt64), int64(math.MinInt64), int64(0)
		for _, row := range rows[at : at+int(g.Rows)] {
			low, high = min(low, row[4].(int64)), max(high, row[4].(int64))
			if row[3] == nil {
				nulls++
			}
		}
		if s := g.Stats["i8"]; s.Min != low || s.Max != high || g.Stats["i4"].Nulls != nulls {
			t.Errorf("statistics %v and %v, not %d to %d and %d", s, g.Stats["i4"], low, high, nulls)
		}
		if s := g.Stats["s"]; s.Min != nil || g.Stats["f8"].Min != nil {
			t.Errorf("statistics %v of a column without", s)
		}
		at += int(g.Rows)
	}
	if at != len(rows) || len(p.Groups()) != (len(rows)+63)/64 {
		t.Errorf("%d rows in %d groups", at, len(p.Groups()))
	}
}

// TestNestedMutated reads files of nested values with changed bytes: none may crash, hang, or take much memory.
func TestNestedMutated(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for encoding := range 3 {
		o := ParquetOptions{Rows: 4, Encoding: map[string]int{}}
		for _, f := range nestedFields {
			o.Encoding[f.Name] = encoding
		}
		good, refused := nestedFile(t, [][]any{nestedRow(r), nestedRow(r), nestedRow(r), nestedRow(r), nestedRow(r)}, o), 0
		for i := range mutants {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			began := time.Now()
			_, err := readNested(mutation.Bytes(r, good))
			runtime.ReadMemStats(&after)
			if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 || time.Since(began) > 10*time.Second {
				t.Errorf("file %d took %d bytes and %v: %v", i, took, time.Since(began), err)
			}
			if err != nil {
				refused++
				checkMutantError(t, i, err)
			}
		}
		if refused < mutants/10 {
			t.Errorf("only %d of %d malformed files refused", refused, mutants)
		}
	}
}

// TestNestedRefused: values that do not fit their column are refused, and the file cannot be completed.
func TestNestedRefused(t *testing.T) {
	for _, c := range []struct {
		field Field
		value any
		want  string
	}{
		{Field{Name: "x", Type: "byte"}, int64(128), "128 is out of range for type byte"},
		{Field{Name: "x", Type: "long", Required: true}, nil, "must not be NULL"},
		{Field{Name: "x", Type: "long"}, "a", "cannot become long"},
		{Field{Name: "x", Type: "decimal(3,1)"}, "100.0", "out of range"},
		{Field{Name: "x", Type: "decimal(3,1)"}, "0.01", "not exactly"},
		{Field{Name: "x", Type: "array", Parts: []Field{{Type: "float"}}}, int64(1), "cannot become array"},
	} {
		w, err := CreateParquet(io.Discard, "in.parquet", []Field{c.field}, ParquetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		err = w.Write([]any{c.value})
		var e *sqlerr.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) || w.Close() == nil {
			t.Errorf("%v in %s: %v", c.value, c.field.Type, err)
		}
	}
	unknown := []Field{{Name: "x", Type: "variant"}}
	if _, err := CreateParquet(io.Discard, "in.parquet", unknown, ParquetOptions{}); err == nil {
		t.Error("a column of an unknown type")
	}
}

// TestDeltaPages checks pages in delta encodings, for which the library would take the memory that they ask for.
func TestDeltaPages(t *testing.T) {
	head := func(block, minis, values uint64) []byte {
		return binary.AppendVarint(binary.AppendUvarint(binary.AppendUvarint(binary.AppendUvarint(nil, block), minis),
			values), 7)
	}
	body := append([]byte{0, 3, 0, 0, 0}, make([]byte, 12)...) // a block: 32 values of 3 bits
	good := append(head(128, 4, 33), body...)
	for name, c := range map[string]struct {
		page []byte
		n    int64
		ok   bool
	}{
		"whole":               {good, 33, true},
		"one value":           {head(128, 4, 1), 1, true},
		"torn":                {good[:len(good)-1], 33, false},
		"more than it has":    {append(head(128, 4, 1<<30), body...), 1 << 30, false},
		"more than the page":  {append(head(128, 4, 1<<30), body...), 33, false},
		"fewer than the page": {good, 34, false},
		"large blocks":        {append(head(1<<40, 4, 33), body...), 33, false},
		"no miniblocks":       {append(head(128, 0, 33), body...), 33, false},
		"uneven miniblocks":   {append(head(128, 3, 33), body...), 33, false},
		"wide values":         {append(head(128, 4, 33), 0, 65, 0, 0, 0), 33, false},
		"nothing":             {nil, 1, false},
	} {
		if err := checkDeltas(encodingDelta, c.page, c.n, true); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := checkDeltas(encodingDeltaText, append(good, good...), 33, true); err != nil {
		t.Error(err)
	}
	if err := checkDeltas(encodingDeltaText, good, 33, true); err == nil {
		t.Error("a page without its second list")
	}
}
