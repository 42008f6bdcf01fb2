package delta

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqlerr/sqlerrtest"
	"github.com/relgrad/relgrad/interop"
)

// sample is a table of five versions, with what its last one has.
func sample(t testing.TB) (files Memory, want []string) {
	t.Helper()
	files = Memory{}
	s := newTable(t, files, TableOptions{}, []any{int64(1), 1.0, "a"})
	for i := range 3 {
		s = commit(t, begin(t, s), []any{int64(i + 2), 0.5, "b"})
	}
	tx := begin(t, s)
	if _, err := tx.Delete(Equal("k", int64(2))); err != nil {
		t.Fatal(err)
	}
	s = commit(t, tx)
	return files, keys(t, s, "k")
}

func edit(files Memory, name string, change func(string) string) {
	files[name] = []byte(change(string(files[name])))
}

// TestTorn: what is torn or missing is refused, by name.
func TestTorn(t *testing.T) {
	last := commitFile(4)
	for _, c := range []struct {
		name  string
		spoil func(files Memory)
		words []string
	}{
		{"a torn last line", func(files Memory) { edit(files, last, func(s string) string { return s[:len(s)-20] }) },
			[]string{last, "line 2"}},
		{"an empty commit", func(files Memory) { edit(files, last, func(string) string { return "\n" }) },
			[]string{last, "no actions"}},
		{"a missing commit", func(files Memory) { delete(files, commitFile(2)) }, []string{"no commit 2"}},
		{"a torn checkpoint", func(files Memory) {
			if err := open(t, files, Latest()).Checkpoint(); err != nil {
				t.Fatal(err)
			}
			edit(files, logDir+"00000000000000000004.checkpoint.parquet",
				func(s string) string { return s[:len(s)/2] })
		}, []string{"checkpoint of version 4"}},
		{"a file named twice", func(files Memory) {
			edit(files, commitFile(1), func(s string) string { return s + s[strings.Index(s, "{\"add"):] })
		}, []string{"version 1", "twice"}},
		{"a path out of the table", func(files Memory) {
			edit(files, commitFile(1), func(s string) string { return strings.Replace(s, "part-", "../part-", 1) })
		}, []string{"../part-", "no file of the table"}},
		{"a file of another table", func(files Memory) {
			edit(files, commitFile(1), func(s string) string { return strings.Replace(s, "part-", "s3://x/part-", 1) })
		}, []string{"outside of the table"}},
		{"a torn data file", func(files Memory) {
			name := open(t, files, Latest()).Files()[0].Path
			edit(files, name, func(s string) string { return s[:len(s)/2] })
		}, []string{"part-", "bytes"}},
		{"a count of rows that is wrong", func(files Memory) {
			edit(files, commitFile(0), func(s string) string {
				return strings.Replace(s, `\"numRecords\":1`, `\"numRecords\":2`, 1)
			})
		}, []string{"1 rows, the log says 2"}},
	} {
		files, _ := sample(t)
		c.spoil(files)
		s, err := Open(files, Latest())
		if err == nil {
			_, err = scan(s, []string{"k"})
		}
		var e *sqlerr.Error
		if !errors.As(err, &e) || e.Code == sqlerr.Internal {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for _, w := range c.words {
			if !strings.Contains(e.Message+e.Detail, w) {
				t.Errorf("%s: %q does not say %q", c.name, e.Message+e.Detail, w)
			}
		}
	}
}

// put writes a file of the log.
func put(t testing.TB, files Memory, name string, b []byte, err error) {
	t.Helper()
	if err == nil {
		err = files.Put(logDir+name, b)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// forget deletes all commits before a version.
func forget(files Memory, before int64) {
	for v := range before {
		delete(files, commitFile(v))
	}
}

// TestCheckpoints reads checkpoints of all forms, where the commits before them are gone.
func TestCheckpoints(t *testing.T) {
	const base = "00000000000000000004.checkpoint"
	withSidecars := append(checkpointSchema[:len(checkpointSchema):len(checkpointSchema)],
		group("sidecar", text("path"), whole("sizeInBytes", "long")))
	// split writes a sidecar and returns the actions of a checkpoint that names it.
	split := func(t *testing.T, files Memory, actions []action) []action {
		b, err := checkpointFile("x", checkpointSchema, actions[2:])
		put(t, files, "_sidecars/x.parquet", b, err)
		return append(actions[:2:2], action{Sidecar: &sidecar{"x.parquet", int64(len(b))}})
	}
	forms := map[string]func(t *testing.T, files Memory, actions []action){
		"classic": func(t *testing.T, files Memory, actions []action) {
			b, err := checkpointFile("x", checkpointSchema, actions)
			put(t, files, base+".parquet", b, err)
		},
		"parts": func(t *testing.T, files Memory, actions []action) {
			for i, part := range [][]action{actions[3:], actions[:3]} {
				b, err := checkpointFile("x", checkpointSchema, part)
				put(t, files, fmt.Sprintf("%s.%010d.%010d.parquet", base, i+1, 2), b, err)
			}
		},
		"json": func(t *testing.T, files Memory, actions []action) {
			put(t, files, base+"."+unique()+".json", lines(split(t, files, actions)), nil)
		},
		"sidecars": func(t *testing.T, files Memory, actions []action) {
			b, err := checkpointFile("x", withSidecars, split(t, files, actions))
			put(t, files, base+"."+unique()+".parquet", b, err)
		},
	}
	for name, write := range forms {
		t.Run(name, func(t *testing.T) {
			files, want := sample(t)
			write(t, files, open(t, files, Latest()).actions())
			forget(files, 5)
			for _, hint := range []string{"", `{"version":4}`, `{"version":3}`, `{"version":77}`, "{"} {
				put(t, files, "_last_checkpoint", []byte(hint), nil)
				wants(t, keys(t, open(t, files, Latest()), "k"), want...)
			}
			put(t, files, "00000000000000000000.00000000000000000004.compacted.json", []byte("x"), nil)
			put(t, files, "00000000000000000004.crc", []byte("x"), nil)
			s := commit(t, begin(t, open(t, files, Latest())), []any{int64(9), 0.0, "c"})
			wants(t, keys(t, open(t, files, Latest()), "k"), append(want, "9")...)
			if s.Version != 5 {
				t.Errorf("version %d", s.Version)
			}
			_, err := Open(files, Version(3))
			sqlerrtest.Refused(t, err, sqlerr.UndefinedObject, "no commit 0")
		})
	}
	files, want := sample(t)
	forms["parts"](t, files, open(t, files, Latest()).actions())
	delete(files, logDir+base+".0000000001.0000000002.parquet")
	wants(t, keys(t, open(t, files, Latest()), "k"), want...) // the commits are all there
	forget(files, 5)
	_, err := Open(files, Latest())
	sqlerrtest.Refused(t, err, sqlerr.UndefinedObject, "no commit 0", "part 1 of 2 is missing")
}

// TestFeatures: what a table asks for and relgrad does not know is refused by name, in reading or in writing.
func TestFeatures(t *testing.T) {
	plain := `"minReaderVersion":1,"minWriterVersion":2`
	three := func(reader, writer string) string {
		return `"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":[` + reader + `],"writerFeatures":[` + writer + `]`
	}
	for _, c := range []struct{ from, to, read, write string }{
		{plain, `"minReaderVersion":4,"minWriterVersion":7`, "reader of version 4", ""},
		{plain, three(`"typeWidening"`, ``), "typeWidening", ""},
		{plain, three(`"variantType"`, ``), "variantType", ""},
		{plain, three(`"unheardOf"`, ``), "unheardOf", ""},
		{plain, three(`"v2Checkpoint","timestampNtz","deletionVectors"`, `"v2Checkpoint","appendOnly"`), "", ""},
		{plain, three(``, `"rowTracking"`), "", "rowTracking"},
		{plain, three(``, `"inCommitTimestamp"`), "", "inCommitTimestamp"},
		{plain, three(``, `"domainMetadata"`), "", "domainMetadata"},
		{plain, `"minReaderVersion":1,"minWriterVersion":3`, "", "writer of version 3"},
		{plain, `"minReaderVersion":2,"minWriterVersion":5`, "", "writer of version 5"},
		{plain + `}}`, `"minReaderVersion":2,"minWriterVersion":5}}`, "", "version 5"},
		{`"configuration":{}`, `"configuration":{"delta.columnMapping.mode":"none"}`, "", ""},
		{`"provider":"parquet"`, `"provider":"orc"`, "orc", ""},
		{`\"name\":\"v\",\"type\":\"double\",\"nullable\":true,\"metadata\":{}`,
			`\"name\":\"v\",\"type\":\"double\",\"nullable\":true,\"metadata\":{\"delta.invariants\":\"{}\"}`, "",
			"delta.invariants"},
		{`\"name\":\"v\",\"type\":\"double\"`, `\"name\":\"v\",\"type\":\"variant\"`, "", "variant"},
		{`\"name\":\"k\"`, `\"name\":\"V\"`, "two columns", ""},
		{`"partitionColumns":[]`, `"partitionColumns":["zz"]`, "zz", ""},
	} {
		files, _ := sample(t)
		edit(files, commitFile(0), func(s string) string {
			if !strings.Contains(s, c.from) {
				t.Fatalf("no %s in %s", c.from, s)
			}
			return strings.Replace(s, c.from, c.to, 1)
		})
		s, err := Open(files, Latest())
		if c.read != "" || err != nil {
			if err == nil || !strings.Contains(err.Error(), c.read) || c.read == "" {
				t.Errorf("reading %s: %v", c.to, err)
			}
			continue
		}
		if _, err := s.Begin(WriteOptions{}); (err == nil) != (c.write == "") ||
			err != nil && !strings.Contains(err.Error(), c.write) {
			t.Errorf("writing %s: %v", c.to, err)
		}
	}
	files, _ := sample(t)
	edit(files, commitFile(0), func(s string) string {
		return strings.Replace(strings.Replace(s, plain, `"minReaderVersion":2,"minWriterVersion":5`, 1),
			`"configuration":{}`, `"configuration":{"delta.columnMapping.mode":"name"}`, 1)
	})
	_, err := Open(files, Latest())
	sqlerrtest.Refused(t, err, sqlerr.FeatureNotSupported, "columnMapping")
	files, _ = sample(t)
	edit(files, commitFile(4), func(s string) string {
		return strings.Replace(s, `{"add":{`, `{"add":{"deletionVector":{"storageType":"u"},`, 1)
	})
	edit(files, commitFile(3), func(s string) string {
		return strings.Replace(s, `{"add":{`, `{"add":{"deletionVector":{"storageType":"u"},`, 1)
	})
	_, err = Open(files, Latest())
	sqlerrtest.Refused(t, err, sqlerr.FeatureNotSupported, "deletionVectors")
	files, _ = sample(t) // a checkpoint has such a file as added and, without its deletions, as removed
	actions := open(t, files, Latest()).actions()
	added := *actions[len(actions)-2].Add
	if added.name == "" {
		t.Fatal(actions)
	}
	added.DeletionVector = []byte(`{"storageType":"u"}`)
	actions = append(actions[:2:2], action{Add: &added}, action{Remove: &remove{Path: added.Path}})
	put(t, files, "00000000000000000004.checkpoint."+unique()+".json", lines(actions), nil)
	_, err = Open(files, Latest())
	sqlerrtest.Refused(t, err, sqlerr.FeatureNotSupported, "deletionVectors")
	s := newTable(t, NewLocal(t.TempDir()), TableOptions{Configuration: map[string]string{"delta.appendOnly": "true"}})
	_, err = begin(t, s).Delete()
	sqlerrtest.Refused(t, err, sqlerr.ObjectNotPrereqState, "appendOnly")
}

// TestHistory lists commits.
func TestHistory(t *testing.T) {
	files, _ := sample(t)
	list, err := History(files)
	if err != nil || len(list) != 5 {
		t.Fatal(list, err)
	}
	for i, c := range list {
		if since := time.Since(c.Time); since < 0 || since > time.Hour {
			t.Errorf("version %d was committed at %v", i, c.Time)
		}
		c.Time = time.Time{}
		want := Commit{Version: int64(i), Operation: "WRITE", Added: 1, Protocol: i == 0, Metadata: i == 0}
		if i == 4 {
			want.Added, want.Removed = 0, 1
		}
		if c != want {
			t.Errorf("%+v, not %+v", c, want)
		}
	}
}

// TestInCommitTimestamp takes times from commits where the table says that these have them.
func TestInCommitTimestamp(t *testing.T) {
	files, _ := sample(t)
	edit(files, commitFile(0), func(s string) string {
		return strings.Replace(s, `"configuration":{}`, `"configuration":{"delta.enableInCommitTimestamps":"true"}`, 1)
	})
	for v := range int64(5) {
		edit(files, commitFile(v), func(s string) string {
			return strings.Replace(s, `{"commitInfo":{`, fmt.Sprintf(`{"commitInfo":{"inCommitTimestamp":%d,`, 1000*(v+1)), 1)
		})
	}
	for at, want := range map[int64]int64{1000: 0, 1999: 0, 3500: 2, 99999: 4} {
		if s := open(t, files, Timestamp(time.UnixMilli(at))); s.Version != want {
			t.Errorf("at %d: version %d, not %d", at, s.Version, want)
		}
	}
	_, err := Open(files, Timestamp(time.UnixMilli(999)))
	sqlerrtest.Refused(t, err, sqlerr.UndefinedObject)
}

// TestFileStats checks what the log says of a file's values, and which files it lets be skipped.
func TestFileStats(t *testing.T) {
	long := strings.Repeat("é", 40)
	fields := []interop.Field{{Name: "f", Type: "double"}, {Name: "g", Type: "float"}, {Name: "s", Type: "string"},
		{Name: "b", Type: "binary"}, {Name: "i", Type: "long"}}
	write := func(rows ...[]any) (*Snapshot, string) {
		tx, err := Create(Memory{}, fields, TableOptions{}, WriteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s := commit(t, tx, rows...)
		return s, s.Files()[0].Stats
	}
	nan, inf, zero := math.NaN(), math.Inf(1), math.Copysign(0, -1)
	s, stats := write([]any{1.0, float32(1), long, []byte("x"), int64(-5)}, []any{nan, float32(inf), "z", nil, int64(7)},
		[]any{2.0, float32(2), nil, nil, nil})
	var got map[string]map[string]any
	var any1 map[string]any
	if err := json.Unmarshal([]byte(stats), &any1); err != nil || any1["numRecords"] != 3.0 {
		t.Fatal(stats, err)
	}
	delete(any1, "numRecords")
	_ = json.Unmarshal(mustJSON(any1), &got)
	for _, name := range []string{"f", "g", "b"} {
		if got["minValues"][name] != nil || got["maxValues"][name] != nil {
			t.Errorf("bounds of %s: %s", name, stats)
		}
	}
	if got["minValues"]["i"] != -5.0 || got["maxValues"]["i"] != 7.0 || got["nullCount"]["b"] != 2.0 {
		t.Error(stats)
	}
	wants(t, keys(t, s, "i", Bound{"f", 1.5, nil}), "7", "<nil>") // NaN is the largest
	wants(t, keys(t, s, "i", Equal("f", nan)), "7")
	wants(t, keys(t, s, "i", Bound{"f", nil, 1.5}), "-5")
	_, stats = write([]any{0.0, float32(0), long, nil, nil}, []any{zero, float32(zero), long, nil, nil})
	if !strings.Contains(stats, `"f":-0.0`) || !strings.Contains(stats, `"s":"`+strings.Repeat("é", 31)+"ê\"") {
		t.Error(stats)
	}
	// deltalake leaves NaN out of its statistics, so that the largest number does not tell.
	b := span{Bound{"f", 5.0, nil}, 0}
	if b.none(rangeOf{1.0, 2.0, 0}, 3) {
		t.Error("a file with a NaN is skipped")
	}
	for _, c := range []struct {
		b    Bound
		r    rangeOf
		want bool
	}{
		{Bound{"f", 5.0, 6.0}, rangeOf{1.0, 2.0, 0}, true}, {Bound{"f", nil, 0.5}, rangeOf{1.0, 2.0, 0}, true},
		{Bound{"f", zero, zero}, rangeOf{0.0, 1.0, 0}, false}, {Bound{"f", 0.0, 0.0}, rangeOf{-1.0, zero, 0}, false},
		{Bound{"i", int64(3), nil}, rangeOf{nil, nil, 3}, true}, {Bound{"i", int64(3), nil}, rangeOf{nil, nil, -1}, false},
		{Bound{"s", "b", "c"}, rangeOf{"a", "a", 0}, true}, {Bound{"s", "b", "c"}, rangeOf{"a", "b", 0}, false},
	} {
		if b := (span{c.b, 0}); b.none(c.r, 3) != c.want {
			t.Errorf("%v in %v: %v", c.b, c.r, !c.want)
		}
	}
}

// TestSpecialFloats: NaN, infinities and -0 are found by all bounds, written by rows or by columns, and no bounds of
// them are in the log.
func TestSpecialFloats(t *testing.T) {
	nan, inf, zero := math.NaN(), math.Inf(1), math.Copysign(0, -1)
	all := []float64{nan, inf, -inf, zero, 0, 1, -1}
	for _, one := range all {
		list := []float64{one, 0.5, one}
		for _, columns := range []bool{false, true} {
			tx, err := Create(Memory{}, []interop.Field{{Name: "f", Type: "double"}}, TableOptions{}, WriteOptions{})
			if err == nil && columns {
				err = tx.WriteColumns(len(list), []any{list})
			}
			for i := 0; i < len(list) && err == nil && !columns; i++ {
				err = tx.Write([]any{list[i]})
			}
			if err != nil {
				t.Fatal(err)
			}
			s := commit(t, tx)
			stats, special := s.Files()[0].Stats, one != one || one-one != 0
			if special == strings.Contains(stats, `"minValues":{"f"`) || special == strings.Contains(stats, `"maxValues":{"f"`) {
				t.Errorf("%v: %s", one, stats)
			}
			for _, low := range all {
				for _, high := range all {
					var want []string
					for _, v := range list {
						if compare(v, low) >= 0 && compare(v, high) <= 0 {
							want = append(want, fmt.Sprint(v))
						}
					}
					slices.Sort(want)
					if got := keys(t, s, "f", Bound{"f", low, high}); !slices.Equal(got, want) {
						t.Errorf("%v from %v to %v: %q, not %q", list, low, high, got, want)
					}
				}
			}
		}
	}
}

// TestSkipping: a scan opens only the files and row groups that may have a row.
func TestSkipping(t *testing.T) {
	files := Memory{}
	tx, err := Create(files, fields, TableOptions{}, WriteOptions{FileBytes: 1,
		Parquet: interop.ParquetOptions{Rows: 100}})
	if err != nil {
		t.Fatal(err)
	}
	tx.o.FileBytes = 3000
	for i := range 10000 {
		if err := tx.Write([]any{int64(i), float64(i), fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	s := commit(t, tx)
	r, err := s.Scan([]string{"k"}, []Bound{{"k", int64(1234), int64(1300)}})
	row, n := make([]any, 1), 0
	for err == nil {
		if err = r.Next(row); err == nil {
			n++
		}
	}
	if n != 67 || r.Files != 1 || r.Groups != 2 || len(s.Files()) < 5 {
		t.Errorf("%d rows of %d files of %d and %d groups (%v)", n, r.Files, len(s.Files()), r.Groups, err)
	}
}

// TestNames reads files with names that are percent-encoded in the log.
func TestNames(t *testing.T) {
	for _, name := range []string{"a b.parquet", "50%.parquet", "%41.parquet", "ä/ö=ü.parquet", "x+y&z?#.parquet"} {
		files, want := sample(t)
		f := open(t, files, Latest()).Files()[0]
		files[name] = files[f.name]
		delete(files, f.name)
		edit(files, commitFile(0), func(s string) string {
			return strings.Replace(s, f.Path, (&url.URL{Path: name}).EscapedPath(), 1)
		})
		wants(t, keys(t, open(t, files, Latest()), "k"), want...)
	}
}

// FuzzLog feeds texts to the reader of the log, as the first commit of a table.
func FuzzLog(f *testing.F) {
	files := Memory{}
	tx, err := Create(files, everything, TableOptions{Partition: []string{"p"}}, WriteOptions{})
	if err != nil {
		f.Fatal(err)
	}
	commit(f, tx, everyRow(0), everyRow(3))
	f.Add(files[commitFile(0)])
	f.Fuzz(func(t *testing.T, b []byte) {
		spoilt := maps.Clone(files)
		spoilt[commitFile(0)] = b
		s, err := Open(spoilt, Latest())
		if err == nil {
			_, err = scan(s, []string{"i4", "p"}, Bound{"i4", int64(0), int64(2)})
		}
		var e *sqlerr.Error
		if err != nil && (!errors.As(err, &e) || e.Code == sqlerr.Internal) {
			t.Error(err, e.Detail)
		}
	})
}
