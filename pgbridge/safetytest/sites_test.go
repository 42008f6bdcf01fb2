package safetytest

// sites: a session's losses run at as many sites as it says, with the results of one, and a cancelled call leaves
// nothing behind.
func sites(e *env) {
	e.must("CREATE TABLE pairs (k int PRIMARY KEY, y double precision); INSERT INTO pairs SELECT k, k % 7 FROM " +
		"generate_series(1, 300) AS g(k); CREATE TABLE level (part int PRIMARY KEY, v double precision); INSERT INTO level " +
		"SELECT p, p / 10.0 FROM generate_series(0, 19) AS g(p); CREATE VIEW levels AS SELECT avg((y - v) ^ 2) AS loss " +
		"FROM pairs JOIN level ON part = k % 20; SET relgrad.engine = chunk; " +
		"CREATE TABLE alone AS SELECT * FROM gradient('levels', NULL::level)")
	defer e.must("RESET relgrad.sites; RESET relgrad.engine; DROP TABLE alone, pairs, level CASCADE")
	e.must("SET relgrad.sites = 3")
	e.gives("SELECT count(*) FROM gradient('levels', NULL::level) g JOIN alone a USING (part) "+
		"WHERE abs(g.v - a.v) < 1e-12", "20")
	e.must("CALL train('levels', ARRAY['level'], optimizer => 'sgd', lr => 1, epochs => 5)")
	e.gives("SELECT count(*) FROM level WHERE v = part / 10.0", "0")
	e.must("SET statement_timeout = 300")
	e.fails("CALL train('levels', ARRAY['level'], optimizer => 'sgd', lr => 1e-9, epochs => 1000000000)", "57014",
		"statement timeout")
	e.must("RESET statement_timeout")
	e.gives("SELECT count(*) FROM gradient('levels', NULL::level)", "20")
}
