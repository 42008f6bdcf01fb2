package session

import (
	"context"
	"math"
	"testing"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/internal/pgcluster"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/pgbridge/conn"
	"github.com/relgrad/relgrad/sqlfront/bind"
)

// TestVersion: a table's version changes with each change of its content, and says whether keys have changed.
func TestVersion(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	ctx := context.Background()
	remote, err := conn.Dial(ctx, pgcluster.Start(t).DSN, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer remote.Close()
	s := New(remote)
	for _, table := range []string{
		"CREATE TABLE t (id int PRIMARY KEY, name text, v real[])",
		"CREATE TABLE t (id int PRIMARY KEY, name text, v real[]) PARTITION BY RANGE (id); CREATE TABLE t1 PARTITION OF t " +
			"FOR VALUES FROM (0) TO (2); CREATE TABLE t2 PARTITION OF t DEFAULT",
		"CREATE TEMP TABLE t (id int PRIMARY KEY, name text, v real[])",
	} {
		if err := remote.Script(ctx, "DROP TABLE IF EXISTS t; "+table+
			"; INSERT INTO t SELECT i, 'a', ARRAY[i, 1] FROM generate_series(1, 100) AS g(i)"); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			sql          string
			keys, values bool // whether these change
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

// TestGenerated: a table with a column that the server computes from others can be read, but cannot be a parameter.
func TestGenerated(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	ctx := context.Background()
	remote, err := conn.Dial(ctx, pgcluster.Start(t).DSN, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer remote.Close()
	for _, c := range []struct {
		columns, param string
		refused        bool
	}{
		{"a float8, b float8 GENERATED ALWAYS AS (a * 2) STORED", "g", true},
		{"a float8, b float8 GENERATED ALWAYS AS (a * 2) STORED", "g.a", true}, // a loss may read b
		{"a float8, b numeric GENERATED ALWAYS AS (a::numeric) STORED", "g", true},
		{"a float8, b int GENERATED ALWAYS AS (id + 1) STORED", "g", false},
		{"a float8, b float8 DEFAULT 2", "g", false},
	} {
		if err := remote.Script(ctx, "DROP TABLE IF EXISTS g; CREATE TABLE g (id int PRIMARY KEY, "+c.columns+
			"); INSERT INTO g VALUES (1, 3)"); err != nil {
			t.Fatal(err)
		}
		table, err := New(remote).TableOn(nil, "", "g")
		if err != nil {
			t.Fatalf("%s: %v", c.columns, err)
		}
		db := memdb.New()
		db.Tables["g"] = table
		if _, _, err := bind.ParseParam(ctx, db, c.param); (err != nil) != c.refused {
			t.Errorf("%s: parameter %s: %v", c.columns, c.param, err)
		}
	}
}

// TestInheritedKey: the key of a table does not identify rows of child tables; a partitioned table's key does.
func TestInheritedKey(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	ctx := context.Background()
	remote, err := conn.Dial(ctx, pgcluster.Start(t).DSN, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer remote.Close()
	s := New(remote)
	for _, c := range []struct {
		sql  string
		keys int
	}{
		{"CREATE TABLE w (id int PRIMARY KEY, v float8); INSERT INTO w VALUES (1, 2), (2, 3)", 1},
		{"CREATE TABLE child () INHERITS (w); INSERT INTO child VALUES (1, 5)", 0},
		{"DROP TABLE child, w; CREATE TABLE w (id int PRIMARY KEY, v float8) PARTITION BY RANGE (id); CREATE TABLE part " +
			"PARTITION OF w DEFAULT; INSERT INTO w VALUES (1, 2), (2, 3)", 1},
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
		v := column.New(kernels.Type{Kind: kernels.Float64}, len(keys))
		copy(v.F64(), keys)
		got := sorted([]*column.Column{v}, []int{0}, []int{0})[0].F64()
		if got[0] != 1 || got[1] != 2 || got[2] != 3 || !math.IsNaN(got[3]) {
			t.Errorf("%v is sorted as %v", keys, got)
		}
	}
}

// TestDomains: a column of a domain is read as its base type.
func TestDomains(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	ctx := context.Background()
	remote, err := conn.Dial(ctx, pgcluster.Start(t).DSN, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer remote.Close()
	if err := remote.Script(ctx, "CREATE DOMAIN weight AS real[] CHECK (cardinality(VALUE) = 2); CREATE DOMAIN heavy AS "+
		"weight; CREATE DOMAIN share AS numeric(5, 3); CREATE DOMAIN number AS bigint;"+
		"CREATE TABLE d (id int PRIMARY KEY, v heavy, s share, n number); "+
		"INSERT INTO d VALUES (1, '{1,2}', 0.5, 7)"); err != nil {
		t.Fatal(err)
	}
	s := New(remote)
	table, err := s.TableOn(nil, "", "d")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"integer", "real[]", "numeric", "bigint"} {
		if got := table.Cols[i].PGType; got != want {
			t.Errorf("column %s is taken for %s, not %s", table.Cols[i].Name, got, want)
		}
	}
	if v := table.Cols[1]; !v.IsValue() || !v.Type.Shape.Equal([]int{2}) {
		t.Errorf("column v is %+v", v)
	}
	data, err := s.Read(ctx, table, []int{0, 1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	if v := data[1]; len(v.F32()) != 2 || v.F32()[1] != 2 || data[2].F64()[0] != 0.5 || data[3].I64()[0] != 7 {
		t.Errorf("read are %+v, %+v and %+v", v, data[2], data[3])
	}
}

// TestForeignParts: a table with foreign rows has another version each time.
func TestForeignParts(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	ctx := context.Background()
	remote, err := conn.Dial(ctx, pgcluster.Start(t).DSN, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer remote.Close()
	if err := remote.Script(ctx, "CREATE FOREIGN DATA WRAPPER none; CREATE SERVER far FOREIGN DATA WRAPPER none; CREATE "+
		"TABLE p (id int) PARTITION BY LIST (id);"+
		"CREATE TABLE q PARTITION OF p DEFAULT PARTITION BY LIST (id); CREATE FOREIGN TABLE f PARTITION OF q DEFAULT "+
		"SERVER far; CREATE TABLE local (id int)"); err != nil {
		t.Fatal(err)
	}
	s := New(remote)
	for name, same := range map[string]bool{"p": false, "q": false, "f": false, "local": true} {
		a, err := s.Version("", name)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := s.Version("", name); err != nil || (a == b) != same {
			t.Errorf("%s: versions %v and %v (%v)", name, a, b, err)
		}
	}
}
