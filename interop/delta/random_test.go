package delta

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/relgrad/relgrad/interop"
)

// TestRandom changes tables at random, beside a list of what each version has, and reads every version and parts of it.
func TestRandom(t *testing.T) {
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 1))
		files, o := Memory{}, TableOptions{Configuration: map[string]string{"delta.checkpointInterval": "7"}}
		if seed%2 == 1 {
			o.Partition = []string{"s"}
		}
		s := newTable(t, files, o)
		versions := [][][]any{nil}
		for range 20 {
			now := slices.Clone(versions[len(versions)-1])
			tx, err := s.Begin(WriteOptions{FileBytes: 1, Parquet: interop.ParquetOptions{Rows: 3}})
			if err != nil {
				t.Fatal(err)
			}
			for range r.IntN(8) {
				row := randomRow(r)
				if err := tx.Write(row); err != nil {
					t.Fatal(err)
				}
				now = append(now, row)
			}
			if r.IntN(3) == 0 {
				where := randomBounds(r)
				if _, err := tx.Delete(where...); err != nil {
					t.Fatal(err)
				}
				before := len(versions[len(versions)-1]) // rows of the same transaction stay
				now = slices.Concat(without(now[:before], where), now[before:])
			}
			s = commit(t, tx)
			versions = append(versions, now)
		}
		for v, rows := range versions {
			s := open(t, files, Version(int64(v)))
			for _, where := range [][]Bound{nil, randomBounds(r), randomBounds(r)} {
				var want []string
				for _, row := range rows {
					if len(where) == 0 || inside(row, where) {
						want = append(want, fmt.Sprint(row[0]))
					}
				}
				slices.Sort(want)
				if got := keys(t, s, "k", where...); !slices.Equal(got, want) {
					t.Fatalf("seed %d, version %d, %v: %v, not %v", seed, v, where, got, want)
				}
			}
		}
	}
}

func randomRow(r *rand.Rand) []any {
	row := []any{r.Int64N(50), float64(r.IntN(9)) / 2, string(rune('a' + r.IntN(4)))}
	if i := r.IntN(12); i < 3 {
		row[i] = nil
	}
	return row
}

func randomBounds(r *rand.Rand) []Bound {
	low, letter := r.Int64N(50), string(rune('a'+r.IntN(4)))
	return [][]Bound{{{"k", low, low + 10}}, {{"k", low, nil}, Equal("s", letter)}, {{"v", nil, 1.5}},
		{{"v", 2.5, nil}, {"k", nil, low}}, {Equal("s", letter)}}[r.IntN(5)]
}

// inside and without are what bounds mean, by definition.
func inside(row []any, where []Bound) bool {
	for _, b := range where {
		v := row[slices.IndexFunc(fields, func(f interop.Field) bool { return f.Name == b.Column })]
		if v == nil || b.Min != nil && compare(v, b.Min) < 0 || b.Max != nil && compare(v, b.Max) > 0 {
			return false
		}
	}
	return true
}

func without(rows [][]any, where []Bound) [][]any {
	return slices.DeleteFunc(slices.Clone(rows), func(row []any) bool { return inside(row, where) })
}
