package main

import (
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTrainsOnDelta: the example that factorises ratings of films gets from a table of Delta Lake, by its name, bit for
// bit what it gets from the CSV file.
func TestTrainsOnDelta(t *testing.T) {
	script, err := os.ReadFile("../../examples/nnmf/movies.sql")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(script), "epochs => 300", "epochs => 40", 1) +
		"SELECT * FROM taste ORDER BY userid;\nSELECT * FROM trait ORDER BY item;\n"
	t.Chdir(t.TempDir())
	writeRatings(t)
	head, rest, _ := strings.Cut(text, "CREATE TABLE rating")
	_, rest, found := strings.Cut(rest, "WITH (FORMAT csv, HEADER)\n")
	if !found || strings.Contains(rest, "\\copy") {
		t.Fatal("the example does not read one file any more")
	}
	fromDelta := head + "CREATE VIEW rating AS SELECT * FROM delta_table('ratings');\n" + rest
	for name, sql := range map[string]string{"csv.sql": text + "\\copy rating TO 'ratings' (FORMAT delta)\n",
		"delta.sql": fromDelta} {
		if err := os.WriteFile(name, []byte(sql), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	csv := do(t, "run -q -v data=. csv.sql")
	got := do(t, "run -q -v data=. delta.sql")
	if got != csv || strings.Count(csv, "{") != 40+30 || !strings.Contains(csv, "test RMSE") {
		t.Errorf("from Delta Lake it prints\n%s\nfrom CSV\n%s", got, csv)
	}
	do(t, "run|-q|-c|CREATE TABLE r AS SELECT row, userid, item, rating + 0.5 AS rating, ts FROM delta_table('ratings')"+
		"|-c|\\copy r TO 'ratings' (FORMAT delta)")
	if again := do(t, "run -q -v data=. delta.sql"); again == csv {
		t.Error("other ratings give the same")
	}
}

// writeRatings writes 900 ratings of 30 films by 40 users, where the example looks for MovieLens'.
func writeRatings(t *testing.T) {
	t.Helper()
	if err := os.MkdirAll("ml_latest_small_2016", 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join("ml_latest_small_2016", "ratings.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	draw := rand.New(rand.NewPCG(1, 2))
	fmt.Fprintln(z, "userId,movieId,rating,timestamp")
	for k, cell := range draw.Perm(40 * 30)[:900] {
		fmt.Fprintf(z, "%d,%d,%g,%d\n", cell/30+1, cell%30+1, 0.5+0.5*float64((cell/30*7+cell%30*3+draw.IntN(3))%10), 1e9+k)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
