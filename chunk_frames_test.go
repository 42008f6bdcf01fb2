package relgrad

import "testing"

// TestChunkFrames: the embedded store has extremes of chunks over frames whose start moves, with NULLs among them.
func TestChunkFrames(t *testing.T) {
	db := testDB(t)
	mustRun(t, db, "CREATE TABLE t (id int PRIMARY KEY, v real[]); INSERT INTO t VALUES (1, '{1,9}'), (2, '{4,2}'), "+
		"(3, NULL), (4, '{NaN,3}'), (5, '{2,8}')")
	for over, want := range map[string]string{
		"max_agg(v) OVER (ORDER BY id ROWS 1 PRECEDING)":                         "{1,9} {4,9} {4,2} {NaN,3} {NaN,8}",
		"min_agg(v) OVER (ORDER BY id ROWS 1 PRECEDING)":                         "{1,9} {1,2} {4,2} {NaN,3} {2,3}",
		"min_agg(v) OVER (ORDER BY id ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING)": "{4,2} {NaN,3} {2,3} {2,8} none",
	} {
		if got := answer(t, db, "SELECT string_agg(coalesce(m::text, 'none'), ' ' ORDER BY id) FROM (SELECT id, "+over+
			" AS m FROM t) q"); got != want {
			t.Errorf("%s: %s, not %s", over, got, want)
		}
	}
}
