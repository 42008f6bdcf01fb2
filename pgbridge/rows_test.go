package pgbridge

import (
	"context"
	"math"
	"testing"

	"github.com/relgrad/relgrad/internal/pgcluster"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// TestVersion: a table's version tells each change of its content, and which of them change keys.
func TestVersion(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	ctx := context.Background()
	remote, err := Dial(ctx, pgcluster.Start(t).DSN, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer remote.Close()
	s := NewSession(remote)
	for _, table := range []string{
		"CREATE TABLE t (id int PRIMARY KEY, name text, v real[])",
		"CREATE TABLE t (id int PRIMARY KEY, name text, v real[]) PARTITION BY RANGE (id); CREATE TABLE t1 PARTITION OF t FOR VALUES FROM (0) TO (2); CREATE TABLE t2 PARTITION OF t DEFAULT",
		"CREATE TEMP TABLE t (id int PRIMARY KEY, name text, v real[])",
	} {
		if err := remote.Script(ctx, "DROP TABLE IF EXISTS t; "+table+"; INSERT INTO t SELECT i, 'a', ARRAY[i, 1] FROM generate_series(1, 100) AS g(i)"); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			sql          string
			keys, values bool // change
		}{
			{"SELECT * FROM t", false, false},
			{"ANALYZE t", false, false},
			{"UPDATE t SET v = v WHERE id = 7", false, true},
			{"UPDATE t SET name = 'b' WHERE id = 7", true, true},
			{"BEGIN; UPDATE t SET id = 200 WHERE id = 7; INSERT INTO t VALUES (300, 'c', '{1,2}'); ROLLBACK", false, false},
			{"BEGIN; SAVEPOINT a; DELETE FROM t WHERE id = 7; ROLLBACK TO a; COMMIT", false, false},
			{"DELETE FROM t WHERE id = 7", true, true},
			{"INSERT INTO t VALUES (7, 'b', '{7,1}')", true, true},
			{"BEGIN; UPDATE t SET v = '{1,2}' WHERE id = 8; UPDATE t SET v = '{8,1}' WHERE id = 8; COMMIT", false, true},
			{"TRUNCATE t", true, true},
			{"INSERT INTO t VALUES (7, 'b', '{7,1}')", true, true},
		} {
			s.forget()
			before, err := s.Version("", "t")
			if err != nil {
				t.Fatal(err)
			}
			if err := remote.Script(ctx, c.sql); err != nil {
				t.Fatalf("%s: %v", c.sql, err)
			}
			s.forget()
			after, err := s.Version("", "t")
			if err != nil {
				t.Fatal(err)
			}
			if keys, values := after.Keys != before.Keys, after.Values != before.Values; keys != c.keys || values != c.values {
				t.Errorf("%s\n%s: keys changed %v, values %v", table, c.sql, keys, values)
			}
		}
	}
}

// TestInheritedKey: a key does not tell rows apart that child tables add, a partitioned table's does.
func TestInheritedKey(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	ctx := context.Background()
	remote, err := Dial(ctx, pgcluster.Start(t).DSN, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer remote.Close()
	s := NewSession(remote)
	for _, c := range []struct {
		sql  string
		keys int
	}{
		{"CREATE TABLE w (id int PRIMARY KEY, v float8); INSERT INTO w VALUES (1, 2), (2, 3)", 1},
		{"CREATE TABLE child () INHERITS (w); INSERT INTO child VALUES (1, 5)", 0},
		{"DROP TABLE child, w; CREATE TABLE w (id int PRIMARY KEY, v float8) PARTITION BY RANGE (id); CREATE TABLE part PARTITION OF w DEFAULT; INSERT INTO w VALUES (1, 2), (2, 3)", 1},
	} {
		if err := remote.Script(ctx, c.sql); err != nil {
			t.Fatal(err)
		}
		s.forget()
		def := s.Definition("", "w")
		if err := s.failed(); err != nil || def == nil {
			t.Fatalf("%s: %v, %v", c.sql, def, err)
		}
		if got := len(def.Keys()); got != c.keys {
			t.Errorf("%s: %d keys, want %d", c.sql, got, c.keys)
		}
	}
}

// TestSortedNaN: NaN is the last key, in every order that rows arrive in.
func TestSortedNaN(t *testing.T) {
	for _, keys := range [][]float64{{3, math.NaN(), 1, 2}, {math.NaN(), 1, 2, 3}, {1, 2, 3, math.NaN()}} {
		v := ra.NewVector(kernels.Type{Kind: kernels.Float64}, len(keys))
		copy(v.F64, keys)
		got := sorted([]*ra.Vector{v}, []int{0}, []int{0})[0].F64
		if got[0] != 1 || got[1] != 2 || got[2] != 3 || !math.IsNaN(got[3]) {
			t.Errorf("%v is sorted as %v", keys, got)
		}
	}
}
