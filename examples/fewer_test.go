package examples

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// row is a line of a file of the data: the n-th behind its header.
type row struct {
	n     int
	cells []string
}

// fewer are scripts that take long on a server, where Postgres itself runs what the store's compiled queries do: they
// run on the rows that these functions keep of their files. RELGRAD_SERVER_SCRIPTS=all runs them on all data.
var fewer = map[string]map[string]func(row) bool{
	"kge/transe.sql":  questions,
	"kge/transr.sql":  questions,
	"kge_transe.sql":  questions,
	"kge_transr.sql":  questions,
	"nnmf/movies.sql": ratings,
	"nnmf_movies.sql": ratings,
}

var questions = map[string]func(row) bool{
	"codex_s/train.csv.gz": func(r row) bool { return r.n%20 == 0 },
	"codex_s/valid.csv.gz": func(r row) bool { return r.n%200 == 0 },
	"codex_s/test.csv.gz":  func(r row) bool { return r.n%200 == 0 },
}

// someQuestions are all triples, but of those of the test every eighth.
var someQuestions = map[string]func(row) bool{
	"codex_s/train.csv.gz": func(row) bool { return true },
	"codex_s/valid.csv.gz": func(row) bool { return true },
	"codex_s/test.csv.gz":  func(r row) bool { return r.n%8 == 0 },
}

var ratings = map[string]func(row) bool{"ml_latest_small_2016/ratings.csv.gz": func(r row) bool { return r.n < 20_000 }}

// part writes the kept rows of files of the folder data into a folder of its own.
func part(t *testing.T, data string, files map[string]func(row) bool) string {
	t.Helper()
	dir := t.TempDir()
	for name, keep := range files {
		if err := copyPart(filepath.Join(dir, name), filepath.Join(data, name), keep); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func copyPart(to, from string, keep func(row) bool) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	lines, err := gzip.NewReader(in)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer out.Close()
	kept, s := gzip.NewWriter(out), bufio.NewScanner(lines)
	for n := -1; s.Scan(); n++ { // the first line is the header
		if n < 0 || keep(row{n, strings.Split(s.Text(), ",")}) {
			fmt.Fprintln(kept, s.Text())
		}
	}
	if err := s.Err(); err != nil {
		return err
	}
	return kept.Close()
}
