package csvfile

import (
	"context"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/interop"
)

// write makes a file and returns its path.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func open(t *testing.T, text string) *Reader {
	t.Helper()
	r, err := Open(context.Background(), []string{write(t, "a.csv", text)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestTypes: a column has the first type that holds all its values, whatever their order.
func TestTypes(t *testing.T) {
	for _, tc := range []struct{ want, values string }{
		{"integer", "1|-2|0|2147483647"},
		{"integer", "1||3"},
		{"integer", " 1 |2"},
		{"bigint", "1|2147483648"},
		{"bigint", "9223372036854775807"},
		{"numeric", "9223372036854775808|1"},         // 2^63
		{"numeric", "9007199254740993|1.5"},          // 2^53 + 1 and a fraction
		{"double precision", "9007199254740992|1.5"}, // 2^53
		{"text", "007|12"},
		{"text", "-01"},
		{"text", "00.5"},
		{"text", "+5"},
		{"double precision", "-0"}, // an integer has no negative zero
		{"double precision", "1.5|2|.5|5."},
		{"double precision", "1e5|-2E-3|0.0"},
		{"double precision", "0.10000000000000001|0.1"}, // 17 digits of a double
		{"double precision", "1.000000000000000056e-01|9.999999999999999e22"},  // what NumPy's savetxt writes
		{"numeric", "0.1234567890123456789"},                                   // more than a double has
		{"numeric", "1e400|1"},                                                 // more than a double's range
		{"numeric", "1e-400"},                                                  // less
		{"numeric", "0." + strings.Repeat("0", 310) + "1234567890123456789|1"}, // fewer digits near zero
		{"text", "1e99999|1"},                                                  // more than a numeric's
		{"text", "1e"}, {"text", "."}, {"text", "-"}, {"text", "1_000"}, {"text", "0x10"}, {"text", "1.2.3"},
		{"double precision", "1.5|NaN|inf|-Infinity"},
		{"text", "1.5|NaN|nul"},
		{"boolean", "t|f|t"},
		{"boolean", "t"},
		{"boolean", "true|False|TRUE"},
		{"text", "t|f|x"},
		{"text", "T|F"},
		{"text", "yes|no"},
		{"integer", "0|1"},
		{"text", "t|1"},
		{"date", "2024-02-29|1999-12-31"},
		{"text", "2023-02-29"},
		{"text", "29/02/2024"},
		{"text", "2024-1-2"},
		{"timestamp", "2024-02-29|2024-02-29 10:30:00.123456"},
		{"timestamp", "2024-02-29T10:30:00|2024-02-29 10:30"},
		{"text", "2024-02-29 10:30:00.1234567"}, // a timestamp has six digits
		{"text", "2024-02-29 10:30:00,5"},
		{"timestamp with time zone", "2024-02-29T10:30:00Z|2024-02-29 10:30:00+02:00|2024-02-29 10:30:00.5-07"},
		{"text", "2024-02-29T10:30:00Z|2024-02-29"}, // in which zone?
		{"text", "2024-02-29|1"},
		{"double precision[]", "{1,2}|{0.5,-3}"},
		{"double precision[]", "{{1,2},{3,4}}"},
		{"text", "{1,2}|{1}"},
		{"text", "{1,NULL}"}, {"text", "{a,b}"}, {"text", "{9007199254740993}"}, {"text", "{"}, {"text", "{}"},
		{"text", "{1,2}|1"},
		{"text", ""},       // nothing but NULL
		{"text", `""|5`},   // an empty text is no number
		{"integer", `"5"`}, // a number may be quoted
	} {
		values := strings.Split(tc.values, "|")
		for range 4 {
			text := "k,x\n"
			for _, v := range values {
				if !strings.HasPrefix(v, `"`) && v != "" {
					v = `"` + v + `"`
				}
				text += "1," + v + "\n"
			}
			if got := open(t, text).Columns()[1].Type; got != tc.want {
				t.Errorf("%s: %s, want %s", strings.Join(values, " "), got, tc.want)
			}
			rand.Shuffle(len(values), func(i, j int) { values[i], values[j] = values[j], values[i] })
		}
	}
}

// TestDoubles: what programs print of a double precision, with any number of digits, is a double precision.
func TestDoubles(t *testing.T) {
	for range 20000 {
		x := rand.NormFloat64() * []float64{1e-290, 1e-9, 1, 1e9, 1e290}[rand.IntN(5)]
		for _, s := range []string{strconv.FormatFloat(x, 'g', -1, 64), strconv.FormatFloat(x, 'e', 16, 64),
			strconv.FormatFloat(x, 'e', 18, 64), strconv.FormatFloat(x, 'e', 24, 64)} {
			if kindsOf([]byte(s))&double == 0 {
				t.Fatalf("%s is no double precision", s)
			}
		}
	}
}

// TestExact: a value that is a double precision has the digits of its text.
func TestExact(t *testing.T) {
	for range 20000 {
		digits := 1 + rand.IntN(22)
		s := strconv.Itoa(1 + rand.IntN(9))
		for range digits - 1 {
			s += strconv.Itoa(rand.IntN(10))
		}
		point := rand.IntN(len(s))
		number := s[:point] + "." + s[point:]
		x, err := strconv.ParseFloat(number, 64)
		if err != nil {
			t.Fatal(err)
		}
		s = strings.TrimRight(s, "0")
		digits = max(len(s), 1)
		back := strings.Replace(strconv.FormatFloat(x, 'e', digits-1, 64), ".", "", 1)
		if is := kindsOf([]byte(number))&double != 0; is != strings.HasPrefix(back, s+"e") {
			t.Fatalf("%s: %v, the double is %s", number, is, back)
		}
	}
}

// TestLater: a row far from the first decides as one at the beginning does, and is named.
func TestLater(t *testing.T) {
	r := open(t, "k,x\n"+strings.Repeat("1,2\n", 100000)+"1,07\n")
	if got := r.Columns(); got[0].Type != "integer" || got[1].Type != "text" {
		t.Error(got)
	}
	if got := r.Remarks(); len(got) != 1 || !strings.Contains(got[0], `"07" in line 100002`) {
		t.Error(got)
	}
}

// TestGuess: the first columns that tell the rows apart, never floats.
func TestGuess(t *testing.T) {
	for _, tc := range []struct{ want, text string }{
		{"id", "id,x\n1,5\n2,5\n"},
		{"u i", "u,i,r,at\n1,1,0.5,100\n1,2,0.6,200\n2,1,0.7,300\n"},
		{"id", "x,id\n0.5,1\n0.6,2\n"},
		{"id", "name,id\na,1\nb,2\na,3\n"},
		{"id", "n,id\n1,1\n,2\n"},
		{"", "a,b\n1,2\n1,2\n"},
		{"", "x\n0.5\n0.25\n"},
		{"a b c", "a,b,c\n1,1,1\n1,1,2\n2,1,1\n1,2,1\n"},
		{"", "a,b\n"},
		{"", "a,x\n1.0,5\n1,5\n"},
		{"", "a,x\n100000000000000000000.0,5\n100000000000000000000,5\n"}, // numeric, and equal
	} {
		key, err := open(t, tc.text).Guess(context.Background(), nil)
		if err != nil || strings.Join(key, " ") != tc.want {
			t.Errorf("%q: %v (%v), want %s", tc.text, key, err, tc.want)
		}
	}
	r := open(t, "a,b\n1,1\n2,2\n")
	if key, err := r.Guess(context.Background(), []string{"b"}); err != nil || !slices.Equal(key, []string{"b"}) {
		t.Error(key, err)
	}
}

// TestFiles: compressed files and others are one relation, whose types hold the values of all.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	compressed := func(name string, w func(io.Writer) io.WriteCloser, text string) string {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		z := w(f)
		if _, err := io.WriteString(z, text); err != nil {
			t.Fatal(err)
		}
		if z.Close() != nil || f.Close() != nil {
			t.Fatal("not closed")
		}
		return f.Name()
	}
	gz := func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }
	zst := func(w io.Writer) io.WriteCloser { z, _ := zstd.NewWriter(w); return z }
	files := []string{write(t, "a.csv", "\ufeffk,x\r\n1,2\r\n"), compressed("b.csv.gz", gz, "k,x\n2,2.5\n"),
		compressed("c.CSV.zst", zst, "k,x\n3,\"4\"\n")}
	for _, f := range files {
		if !Is(f) {
			t.Error(f, "is no csv file")
		}
	}
	r, err := Open(context.Background(), files, Options{})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := r.Rows(r.Columns())
	if err != nil {
		t.Fatal(err)
	}
	var got []any
	for row := make([]any, 2); ; {
		if err := rows.Next(row); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		got = append(got, row...)
	}
	if !slices.Equal(got, []any{int64(1), 2.0, int64(2), 2.5, int64(3), 4.0}) {
		t.Error(got)
	}
}

// TestRefused: what is no csv file with a header is an error with its place.
func TestRefused(t *testing.T) {
	packed, err := os.ReadFile("csvfile_test.go") // anything but a compressed file
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name, text, code, message, place string
	}{
		{"a.csv", "", sqlerr.BadCopy, "is empty", ""},
		{"a.csv", "1,2\n", sqlerr.BadCopy, `"1" in the first line is a number`, "line 1, "},
		{"a.csv", "a,\n", sqlerr.BadCopy, "column 2 has no name", "line 1, "},
		{"a.csv", "a,b,a\n", sqlerr.DuplicateColumn, `two columns are named "a"`, "line 1, "},
		{"a.csv", "a;b\n1;2\n", sqlerr.BadCopy, "no comma", "line 1, "},
		{"a.csv", "a,b\n1,2\n1\n", sqlerr.BadCopy, `missing data for column "b"`, "line 3, "},
		{"a.csv", "a,b\n\"1\n1\",2\n1,2,3\n", sqlerr.BadCopy, "extra data", "line 4, "},
		{"a.csv", "a,b\n1,\"2\n", sqlerr.BadCopy, "unterminated CSV quoted field", "line 2, "},
		{"a.csv", "a,b\n1,\xff\n", "22021", "invalid byte sequence", "line 2, "},
		{"a.csv.gz", string(packed), sqlerr.BadCopy, "could not uncompress", ""},
	} {
		_, err := Open(context.Background(), []string{write(t, tc.name, tc.text)}, Options{})
		e, ok := err.(*sqlerr.Error)
		if !ok || e.Code != tc.code || !strings.Contains(e.Message, tc.message) || !strings.HasPrefix(e.Context, tc.place) {
			t.Errorf("%q: %+v", tc.text[:min(len(tc.text), 40)], err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Open(ctx, []string{write(t, "a.csv", "a\n1\n")}, Options{}); sqlerr.Code(err) != sqlerr.QueryCanceled {
		t.Error(err)
	}
	r := open(t, "a\n1\n")
	if _, err := r.Rows([]interop.Column{{Name: "b", Type: "integer"}}); sqlerr.Code(err) != sqlerr.UndefinedColumn {
		t.Error(err)
	}
}
