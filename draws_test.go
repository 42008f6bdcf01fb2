package relgrad

import "testing"

// TestDropoutByRow: a condition with a sub-query over several relations joins them; dropout of a column still draws
// once for each row of its own table, so that an element's gradient is 0 or twice what it is without dropout.
func TestDropoutByRow(t *testing.T) {
	db := open(t, "")
	mustRun(t, db, `CREATE TABLE a (k int PRIMARY KEY, x double precision);
INSERT INTO a SELECT i, i FROM generate_series(1, 40) AS g(i);
CREATE TABLE b (j int, y double precision); -- without a key
INSERT INTO b VALUES (1, 1), (2, 10), (3, 100);
CREATE TABLE c (k int, j int);
INSERT INTO c SELECT k, j FROM a, b;`)
	rows := mustRun(t, db, `SELECT x FROM gradient('SELECT sum(dropout(x, 0.5) * y) FROM a, b
WHERE a.k IN (SELECT c.k FROM c WHERE c.j = b.j AND c.k >= a.k)', NULL::a, step => 1) ORDER BY k`).Rows
	kept := 0
	for i, row := range rows {
		switch row[0] {
		case 222.0:
			kept++
		case 0.0:
		default:
			t.Errorf("row %d: %v", i+1, row[0])
		}
	}
	if len(rows) != 40 || kept < 8 || kept > 32 {
		t.Errorf("%d of %d rows are kept", kept, len(rows))
	}
}
