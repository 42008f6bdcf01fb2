package main

import (
	"compress/gzip"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/pgcluster"
	"github.com/relgrad/relgrad/interop/csvfile"
)

// csvFiles writes the files of the tests here into the current folder.
func csvFiles(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"r.csv":      "u,i,rating,zip\n1,1,3.5,007\n1,2,4,12\n2,1,NaN,13\n",
		"part-1.csv": "k,x\n1,2\n2,3\n",
		"part-2.csv": "k,x\n3,2.5\n",
		"odd.csv":    "k,y\n3,2.5\n",
		"bad-1.csv":  "k,x\n1,2\n",
		"bad-2.csv":  "k,x\n2,3\n1,4\n",
		"dup.csv":    "id,x\n1,1\n1,1\n",
		"semi.csv":   "k;x\n1;3\n2;2,5\n",
		"bar.csv":    "k|x\n1|2\n",
		"tabs.csv":   "k\tx\n1\t0.5\n",
		"tabs.tsv":   "k\tx\n1\t0.5\n2\t1\n",
		"comma.tsv":  "k,x\n1,2\n",
		"pandas.csv": ",x\n0,0.5\n",
		"gap.csv":    "k,,x\n0,1,0.5\n",
		"gone.csv":   "k,x,name\n1,n/a,Ann\n2,4,12\n3,n/a,Bob\n4,5,Carl\n",
		"head.csv":   "id,x,A b\n",
		"latin.csv":  "k,x\n1,caf\xe9\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Create("part-3.csv.gz")
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	z.Write([]byte("k,x\n4,9007199254740993\n"))
	if z.Close() != nil || f.Close() != nil {
		t.Fatal("not written")
	}
}

// imports are command lines without the place, and what they print or a part of the error.
var imports = []struct{ args, out, errs string }{
	{"r.csv|r", "", "NaN cannot be stored in a scalar column\nHINT:  Use NULL for a missing value: relgrad import " +
		"--null NaN makes it one in a new table.\nCONTEXT:  COPY r, line 4, column rating, source r.csv"},
	{"--null|NaN|r.csv|r", "-- column \"zip\" is text because of \"007\" in line 2 of r.csv\n" +
		"-- the key is a guess: no two rows have the same u, i\nCREATE TABLE r (u integer, " +
		"i integer, rating double precision, zip text, PRIMARY KEY (u, i));\nCOPY 3\n", ""},
	{"part-*.csv*|p", "-- column \"x\" is numeric because of \"9007199254740993\" in line 2 of part-3.csv.gz\n" +
		"-- the key is a guess: no two rows have the same k\n" +
		"CREATE TABLE p (k integer, x numeric, PRIMARY KEY (k));\nCOPY 4\n", ""},
	{"--types|x real, k bigint|--key|k|part-*.csv|p2",
		"CREATE TABLE p2 (k bigint, x real, PRIMARY KEY (k));\nCOPY 3\n", ""},
	{"part-2.csv|p2", "", "COPY p2, line "}, // it exists, and the key 3 too
	{"--types|x real|part-2.csv|p2", "", "types can be given for a new table only"},
	{"--null|x|part-2.csv|p2", "", "a text for NULL can be given for a new table only"},
	{"--index|k|part-2.csv|p2", "", "index has no meaning for csv files and a table that exists"},
	{"part-1.csv|odd.csv|p3", "", "the files have different columns"},
	{"--key|k|bad-1.csv|bad-2.csv|p3", "", "COPY p3, line 3, source bad-2.csv"},
	{"part-1.csv|part-1.csv|p3", "", "file \"part-1.csv\" is named twice"},
	{"none-*.csv|p3", "", "no file matches \"none-*.csv\""},
	{"--types|y real|part-1.csv|p3", "", "there is no column \"y\""},
	{"--types|x rel|part-1.csv|p3", "", "type \"rel\" does not exist"},
	{"--types|x real not null|part-1.csv|p3", "", "are no columns with types"},
	{"--types|x|part-1.csv|p3", "", "are no columns with types"},
	{"--types|x integer|part-*.csv|p3", "", "line 2, column x, source part-2.csv"},
	{"--format|npz|part-1.csv|part-2.csv|p3", "", "2 files cannot be one table in the format npz"},
	{"--format|npz|--types|x real|part-1.csv|p3", "", "types and null are for csv files"},
	{"dup.csv|d", "", "has a column \"id\""},
	{"--index|n|dup.csv|d",
		"CREATE TABLE d (n bigint, id integer, x integer, PRIMARY KEY (n));\nCOPY 2\n", ""},
	{"part-1.csv|p3 (x)", "-- the key is a guess: no two rows have the same x\n" +
		"CREATE TABLE p3 (x integer, PRIMARY KEY (x));\nCOPY 2\n", ""},
	{"--delimiter|;|semi.csv|sc", "-- column \"x\" is text because of \"2,5\" in line 3 of semi.csv\n" +
		"-- the key is a guess: no two rows have the same k\n" +
		"CREATE TABLE sc (k integer, x text, PRIMARY KEY (k));\nCOPY 2\n", ""},
	{"gone.csv|g", "-- column \"x\" is text because of \"n/a\" in line 2 of gone.csv; --null 'n/a' makes it NULL\n" +
		"-- the key is a guess: no two rows have the same k\n" +
		"CREATE TABLE g (k integer, x text, name text, PRIMARY KEY (k));\nCOPY 4\n", ""},
	{"--null|n/a|gone.csv|g2", "-- the key is a guess: no two rows have the same k\n" +
		"CREATE TABLE g2 (k integer, x integer, name text, PRIMARY KEY (k));\nCOPY 4\n", ""},
	{"--delimiter|tab|--key|k|tabs.csv|tc",
		"CREATE TABLE tc (k integer, x double precision, PRIMARY KEY (k));\nCOPY 1\n", ""},
	{"--key|k|tabs.tsv|tv", "CREATE TABLE tv (k integer, x double precision, PRIMARY KEY (k));\nCOPY 2\n", ""},
	{"tabs.tsv|tv", "", "COPY tv, line "}, // it exists, and the key 1 too: the tabs are known
	{"tabs.tsv|tc", "", "COPY tc, line "},
	{"semi.csv|s1", "", "the first line has no comma: \"k;x\"\nHINT:  relgrad import --delimiter ';' reads the " +
		"file.\nCONTEXT:  line 1, source semi.csv"},
	{"bar.csv|s1", "", "HINT:  relgrad import --delimiter '|' reads the file."},
	{"tabs.csv|s1", "", "HINT:  relgrad import --delimiter tab reads the file."},
	{"comma.tsv|s1", "", "HINT:  relgrad import --delimiter ',' reads the file."},
	{"--delimiter|;|tabs.csv|s1", "", "the first line has no semicolon: \"k\tx\""},
	{"--delimiter|;;|semi.csv|s1", "", "the delimiter must be a single one-byte character, not \";;\""},
	{"--delimiter|\"|semi.csv|s1", "", "the delimiter must be a single one-byte character"},
	{"--delimiter||semi.csv|s1", "", "a character, or tab, is needed"},
	{"--delimiter|;|--format|npz|semi.csv|s1", "", "a delimiter is for csv files"},
	{"pandas.csv|s1", "", "column 1 has no name\nHINT:  The first line must have the " +
		"names of the columns, separated by commas. pandas writes a frame's index as such a column: to_csv(…, " +
		"index=False) leaves it out.\nCONTEXT:  line 1, source pandas.csv"},
	{"gap.csv|s1", "", "column 2 has no name\nHINT:  The first line must have the names of the columns, separated by " +
		"commas.\n"},
	{"head.csv|s1", "", "file \"head.csv\" has no rows, from which the types of a new table could be told\nHINT:  " +
		"Create the table: CREATE TABLE s1 (id …, x …, \"A b\" …, PRIMARY KEY (id)).\n"},
	{"--types|id int, x real, \"A b\" text|head.csv|s1", "", "has no rows"},
	{"--types|id int, x real, \"A b\" text|--key|id|head.csv|s1",
		"CREATE TABLE s1 (id integer, x real, \"A b\" text, PRIMARY KEY (id));\nCOPY 0\n", ""},
	{"head.csv|s1", "COPY 0\n", ""}, // its types are known
	{"latin.csv|s2", "", "invalid byte sequence for encoding \"UTF8\"\nHINT:  Convert the file to " +
		"UTF-8; one in Latin-1 by iconv -f latin1 -t utf8 FILE > NEW.\nCONTEXT:  line 2, source latin.csv"},
}

// importCSVs runs the imports at a place, --store FILE or --db DSN.
func importCSVs(t *testing.T, place ...string) {
	t.Helper()
	for _, tc := range imports {
		out, errs, status := both(t, append(append([]string{"import"}, place...), strings.Split(tc.args, "|")...)...)
		if out != tc.out || (status == 0) != (tc.errs == "") || !strings.Contains(errs, tc.errs) {
			t.Errorf("%s: status %d\n%s%s", tc.args, status, out, errs)
		}
	}
	out, errs, _ := both(t, append(append([]string{"run", "--format", "csv"}, place...), "-c",
		"SELECT * FROM r ORDER BY u, i", "-c", "SELECT * FROM p ORDER BY k", "-c", "SELECT count(*) FROM p2")...)
	if want := "u,i,rating,zip\n1,1,3.5,007\n1,2,4,12\n2,1,,13\n" +
		"k,x\n1,2\n2,3\n3,2.5\n4,9007199254740993\ncount\n3\n"; out != want {
		t.Errorf("the tables have\n%s%s", out, errs)
	}
}

// exportCSVs exports a table at a place: a name that ends in .gz or .zst is that of a compressed file, which an import
// reads.
func exportCSVs(t *testing.T, place ...string) {
	t.Helper()
	want := "u,i,rating,zip\n1,1,3.5,007\n1,2,4,12\n2,1,,13\n"
	for name, begins := range map[string]string{"out.csv": "u,i", "out.tsv": "u\ti", "out.tsv.gz": "\x1f\x8b",
		"out.csv.gz": "\x1f\x8b", "OUT.CSV.ZST": "\x28\xb5\x2f\xfd"} {
		if out, errs, _ := both(t, append(append([]string{"export"}, place...), "r", name)...); out != "COPY 3\n" {
			t.Fatalf("%s: %s%s", name, out, errs)
		}
		written, err := os.ReadFile(name)
		if err != nil || !strings.HasPrefix(string(written), begins) {
			t.Errorf("%s begins with %q (%v)", name, written[:min(4, len(written))], err)
		}
		f, err := csvfile.Uncompressed(name)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(f)
		if f.Close() != nil || err != nil || strings.ReplaceAll(string(text), "\t", ",") != want {
			t.Errorf("%s has\n%s(%v)", name, text, err)
		}
		back := "back_" + strings.ToLower(strings.ReplaceAll(name, ".", "_"))
		if out, errs, status := both(t, append(append([]string{"import"}, place...), name, back)...); status != 0 ||
			!strings.HasSuffix(out, "COPY 3\n") {
			t.Errorf("%s: %s%s", name, out, errs)
		}
	}
}

// TestImportCSV: types, keys, several files and what fails, which leaves no table.
func TestImportCSV(t *testing.T) {
	csvFiles(t)
	importCSVs(t, "--store", "s.db")
	exportCSVs(t, "--store", "s.db")
}

// TestImportCSVServer: the same on a server without relgrad.
func TestImportCSVServer(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	c := pgcluster.Start(t)
	csvFiles(t)
	importCSVs(t, "--db", c.DSN)
	exportCSVs(t, "--db", c.DSN)
}
