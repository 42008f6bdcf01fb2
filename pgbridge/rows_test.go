package pgbridge

import (
	"context"
	"testing"

	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/internal/pgcluster"
	"github.com/relgrad/relgrad/sqlfront"
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

// TestGenerated: a table with a column that the server computes of others can be read, but is no parameter.
func TestGenerated(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	ctx := context.Background()
	remote, err := Dial(ctx, pgcluster.Start(t).DSN, nil)
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
		if err := remote.Script(ctx, "DROP TABLE IF EXISTS g; CREATE TABLE g (id int PRIMARY KEY, "+c.columns+"); INSERT INTO g VALUES (1, 3)"); err != nil {
			t.Fatal(err)
		}
		table, err := NewSession(remote).TableOn(nil, "", "g")
		if err != nil {
			t.Fatalf("%s: %v", c.columns, err)
		}
		db := memdb.New()
		db.Tables["g"] = table
		if _, _, err := sqlfront.ParseParam(ctx, db, c.param); (err != nil) != c.refused {
			t.Errorf("%s: parameter %s: %v", c.columns, c.param, err)
		}
	}
}
