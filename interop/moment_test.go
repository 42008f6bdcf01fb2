package interop

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// foreign writes an Arrow file of one column and one row, of a type that we do not write.
func foreign(t *testing.T, typ arrow.DataType, fill func(array.Builder)) []byte {
	t.Helper()
	b := array.NewBuilder(memory.DefaultAllocator, typ)
	fill(b)
	col := b.NewArray()
	s := arrow.NewSchema([]arrow.Field{{Name: "v", Type: typ, Nullable: true}}, nil)
	rec := array.NewRecord(s, []arrow.Array{col}, int64(col.Len()))
	var a bytes.Buffer
	w, err := ipc.NewFileWriter(&seeker{Writer: &a}, ipc.WithSchema(s))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(rec); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return a.Bytes()
}

func stamps(unit arrow.TimeUnit, zone string, values ...int64) (arrow.DataType, func(array.Builder)) {
	return &arrow.TimestampType{Unit: unit, TimeZone: zone}, func(b array.Builder) {
		for _, v := range values {
			b.(*array.TimestampBuilder).Append(arrow.Timestamp(v))
		}
	}
}

func listed(typ arrow.DataType, fill func(array.Builder)) (arrow.DataType, func(array.Builder)) {
	return arrow.ListOf(typ), func(b array.Builder) {
		b.(*array.ListBuilder).Append(true)
		fill(b.(*array.ListBuilder).ValueBuilder())
	}
}

func encoded(typ arrow.DataType, value int64) (arrow.DataType, func(array.Builder)) {
	return &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: typ}, func(b array.Builder) {
		if err := b.(*array.TimestampDictionaryBuilder).Append(arrow.Timestamp(value)); err != nil {
			panic(err)
		}
	}
}

// TestMoments: dates and timestamps are taken exactly or refused, whatever holds them: alone, in lists, in
// dictionaries.
func TestMoments(t *testing.T) {
	const ns = 1_700_000_000_123_456_789
	const us = ns / 1000
	plain, zoned := "timestamp without time zone", "timestamp with time zone"
	day := func(n int32) (arrow.DataType, func(array.Builder)) {
		return arrow.FixedWidthTypes.Date32, func(b array.Builder) { b.(*array.Date32Builder).Append(arrow.Date32(n)) }
	}
	type column struct {
		typ  arrow.DataType
		fill func(array.Builder)
	}
	of := func(typ arrow.DataType, fill func(array.Builder)) column { return column{typ, fill} }
	nanos, fill := stamps(arrow.Nanosecond, "", ns)
	for name, tc := range map[string]struct {
		from column
		to   string
		want string // see checkMoment
	}{
		"nanoseconds": {of(nanos, fill), plain,
			"22003:2023-11-14 22:13:20.123456789 is not exactly representable"},
		"nanoseconds as text":     {of(nanos, fill), "text", "2023-11-14 22:13:20.123456789"},
		"nanoseconds as varchar":  {of(nanos, fill), "character varying(40)", "2023-11-14 22:13:20.123456789"},
		"nanoseconds as date":     {of(nanos, fill), "date", "22003:"},
		"nanoseconds as time":     {of(nanos, fill), "time without time zone", "42804:a timestamp cannot become time"},
		"nanoseconds as interval": {of(nanos, fill), "interval", "42804:"},
		"before 1970":             {of(stamps(arrow.Nanosecond, "", -1)), plain, "22003:1969-12-31 23:59:59.999999999"},
		"whole microseconds":      {of(stamps(arrow.Nanosecond, "", us*1000)), plain, "2023-11-14 22:13:20.123456"},
		"microseconds":            {of(stamps(arrow.Microsecond, "", us)), plain, "2023-11-14 22:13:20.123456"},
		"a list":                  {of(listed(nanos, fill)), plain + "[]", "22003:"},
		"a list as texts":         {of(listed(nanos, fill)), "text[]", "[2023-11-14 22:13:20.123456789]"},
		"a dictionary":            {of(encoded(nanos, ns)), plain, "22003:"},
		"a list of a dictionary":  {of(listed(encoded(nanos, ns))), plain + "[]", "22003:"},
		"a dictionary as text":    {of(encoded(nanos, ns)), "text", "2023-11-14 22:13:20.123456789"},
		"a zone": {of(stamps(arrow.Microsecond, "Europe/Berlin", us)), zoned,
			"2023-11-14 22:13:20.123456+00"},
		"a zone and nanoseconds": {of(stamps(arrow.Nanosecond, "Europe/Berlin", ns)), zoned, "22003:"},
		"a zone that would go": {of(stamps(arrow.Microsecond, "UTC", us)), plain,
			"42804:2023-11-14 22:13:20.123456+00 has a time zone"},
		"a zone as date":             {of(stamps(arrow.Second, "UTC", 86400)), "date", "22003:"},
		"midnight as date":           {of(stamps(arrow.Second, "", 86400)), "date", "1970-01-02 00:00:00"},
		"a time of day as date":      {of(stamps(arrow.Second, "", 86401)), "date", "22003:"},
		"milliseconds":               {of(stamps(arrow.Millisecond, "", -62198755200000)), plain, momentText(-62198755200)},
		"beyond any year":            {of(stamps(arrow.Second, "", 1<<62)), plain, "22003:"},
		"beyond any year, below":     {of(stamps(arrow.Second, "", -1<<62)), "text", "22003:"},
		"beyond the type":            {of(stamps(arrow.Second, "", 9224318016000)), plain, "22003:"},
		"the last second":            {of(stamps(arrow.Second, "", 9224318015999)), plain, "294276-12-31 23:59:59"},
		"before the type":            {of(stamps(arrow.Second, "", -210898425601)), plain, "22003:"},
		"a day":                      {of(day(19723)), "date", "2024-01-01"},
		"a day as timestamp":         {of(day(19723)), plain, "2024-01-01"},
		"a day as time":              {of(day(19723)), "time without time zone", "42804:"},
		"a day before our era":       {of(day(-719163)), "date", "0001-12-31 BC"},
		"a day beyond the type":      {of(day(1<<31 - 1)), "date", "22003:"},
		"a day before the type":      {of(day(-1 << 31)), "date", "22003:"},
		"a day beyond the timestamp": {of(day(1 << 30)), plain, "22003:"},
	} {
		r, err := opened("arrow", foreign(t, tc.from.typ, tc.from.fill), Options{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		checkMoment(t, r, Column{Name: "v", Type: tc.to}, name, tc.want)
	}
}

// checkMoment reads a column as a type. A wanted error is its SQLSTATE, a colon and what it says.
func checkMoment(t *testing.T, r Reader, as Column, name, want string) {
	t.Helper()
	got, err := readAll(r, []Column{as})
	code, message, refuse := strings.Cut(want, ":")
	if refuse && len(code) == 5 {
		if sqlerr.Code(err) != code || !strings.Contains(err.Error(), message) {
			t.Errorf("%s as %s: %v %v, want %s", name, as.Type, got, err, want)
		}
		return
	}
	if err != nil || text(got[0][0]) != want {
		t.Errorf("%s as %s: %v %v, want %v", name, as.Type, got, err, want)
	}
}

// TestMomentsOfParquet is TestMoments for a file that pyarrow has written.
func TestMomentsOfParquet(t *testing.T) {
	const ns, us = "2023-11-14 22:13:20.123456789", "2023-11-14 22:13:20.123456"
	for _, tc := range []struct{ col, to, want string }{
		{"ns", "timestamp without time zone", "22003:" + ns + " is not exactly representable"},
		{"ns", "text", ns},
		{"ns", "date", "22003:"},
		{"ns", "time without time zone", "42804:"},
		{"us", "timestamp without time zone", us},
		{"ns_list", "timestamp without time zone[]", "22003:" + ns},
		{"ns_list", "text[]", "[" + ns + "]"},
		{"ns_dict", "timestamp without time zone", "22003:" + ns},
		{"us_zone", "timestamp with time zone", us + "+00"},
		{"us_zone", "timestamp without time zone", "42804:" + us + "+00 has a time zone"},
		{"ns_zone", "timestamp with time zone", "22003:" + ns + "+00"},
		{"midnight", "date", "1970-01-02 00:00:00"},
		{"day", "date", "2024-01-01"},
		{"early", "date", "0001-12-31 BC"},
	} {
		f, r := openTest(t, filepath.Join("testdata", "pyarrow", "moments.parquet"), Options{})
		checkMoment(t, r, Column{Name: tc.col, Type: tc.to}, tc.col, tc.want)
		f.Close()
	}
}

// momentText is what package time says of a second.
func momentText(sec int64) string {
	at := time.Unix(sec, 0).UTC()
	if at.Year() > 0 {
		return at.Format(time.DateTime)
	}
	return at.AddDate(1-2*at.Year(), 0, 0).Format(time.DateTime) + " BC"
}

func text(v any) string {
	if l, ok := v.([]any); ok {
		return "[" + text(l[0]) + "]"
	}
	s, _ := v.(string)
	return s
}

// TestUnreadableColumns: a column that cannot be read is a column all the same, and an error of whoever reads all of
// them.
func TestUnreadableColumns(t *testing.T) {
	types := []arrow.DataType{arrow.FixedWidthTypes.Time32ms, arrow.FixedWidthTypes.Time64ns,
		arrow.FixedWidthTypes.Duration_ns,
		arrow.ListOf(arrow.FixedWidthTypes.Duration_s), arrow.FixedWidthTypes.Date64, arrow.FixedWidthTypes.MonthInterval,
		arrow.BinaryTypes.Binary,
		&arrow.FixedSizeBinaryType{ByteWidth: 4}, &arrow.Decimal128Type{Precision: 10, Scale: 2},
		&arrow.Decimal256Type{Precision: 50, Scale: 10},
		arrow.ListOf(&arrow.Decimal128Type{Precision: 10, Scale: 2}),
		arrow.StructOf(arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Float64}),
		arrow.ListOf(arrow.StructOf(arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Float64})),
		arrow.StructOf(arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Float64},
			arrow.Field{Name: "y", Type: arrow.PrimitiveTypes.Float64}),
		arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Float64), arrow.Null}
	for _, typ := range types {
		r, err := opened("arrow", foreign(t, typ, func(b array.Builder) { b.AppendNull() }), Options{})
		if sqlerr.Code(err) != sqlerr.FeatureNotSupported ||
			!strings.Contains(err.Error(), "none of its columns is readable") {
			t.Errorf("%s: %v %v", typ, r, err)
		}
	}
	for _, file := range []string{"unreadable.parquet", "ns96.parquet"} {
		f, r := openTest(t, filepath.Join("testdata", "pyarrow", file), Options{})
		defer f.Close()
		if err := Readable(file, r.Columns()); sqlerr.Code(err) != sqlerr.FeatureNotSupported ||
			!strings.Contains(err.Error(), "not readable") {
			t.Errorf("%s: %v", file, err)
		}
		for _, c := range r.Columns() {
			rows, err := readAll(r, []Column{{Name: c.Name, Type: "bigint"}})
			if c.Name == "k" && (err != nil || len(rows) == 0) || c.Name != "k" &&
				sqlerr.Code(err) != sqlerr.FeatureNotSupported {
				t.Errorf("%s, column %s: %v %v", file, c.Name, rows, err)
			}
		}
	}
	f, r := openTest(t, filepath.Join("testdata", "pyarrow", "unreadable.parquet"), Options{})
	defer f.Close()
	if n := len(r.Columns()); n != 14 {
		t.Errorf("%d columns of 14", n)
	}
}

// TestNoRows reads files without rows, as others write them, and refuses those without columns.
func TestNoRows(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "pyarrow", "*.parquet"))
	if err != nil || len(files) < 7 {
		t.Fatalf("%d files (%v)", len(files), err)
	}
	for _, path := range files {
		name := filepath.Base(path)
		if !strings.HasPrefix(name, "empty") && name != "mixed.parquet" {
			continue
		}
		r, err := tryOpen(path, Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := len(r.Columns()); got != 4 {
			t.Errorf("%s: %d columns", name, got)
		}
		rows, err := readAll(r, r.Columns())
		want := 0
		if name == "mixed.parquet" { // row groups of 0, 1 and 0 rows
			want = 1
		}
		if err != nil || len(rows) != want {
			t.Errorf("%s: %d rows, %v", name, len(rows), err)
		}
	}
	for _, format := range Formats() {
		r, err := opened(format, written(t, format, Options{}, "", []Column{{Name: "k", Type: "bigint"}}, nil), Options{})
		if err != nil {
			t.Errorf("%s: %v", format, err)
			continue
		}
		if rows, err := readAll(r, []Column{{Name: "k", Type: "bigint"}}); err != nil || len(rows) != 0 {
			t.Errorf("%s: %v %v", format, rows, err)
		}
	}
	var b bytes.Buffer
	w, err := ipc.NewFileWriter(&seeker{Writer: &b}, ipc.WithSchema(arrow.NewSchema(nil, nil)))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if r, err := opened("arrow", b.Bytes(), Options{}); sqlerr.Code(err) != sqlerr.FeatureNotSupported {
		t.Errorf("no columns: %v %v", r, err)
	}
	empty := append([]byte{2, 0, 0, 0, 0, 0, 0, 0}, "{}"...)
	if r, err := opened("safetensors", empty, Options{}); sqlerr.Code(err) != sqlerr.FeatureNotSupported {
		t.Errorf("no arrays: %v %v", r, err)
	}
}
