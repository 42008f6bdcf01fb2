package safetytest

import "strings"

// denied calls without the rights that the queries themselves need.
func denied(e *env) {
	e.must("CREATE ROLE poor LOGIN; GRANT SELECT ON trend, loss TO poor")
	p := e.another("user=poor")
	p.fails("SELECT * FROM gradient('loss', NULL::trend)", "42501", "permission denied for table point")
	p.fails("SELECT backward('loss', ARRAY['trend'])", "42501", "permission denied")
	p.fails("CALL train('loss', ARRAY['trend'])", "42501", "permission denied")
	p.fails(
		"SELECT * FROM gradient('SELECT sum(slope) FROM trend WHERE id IN (SELECT id FROM point LIMIT 3)', NULL::trend)",
		"42501", "permission denied")
	e.must("GRANT SELECT ON point TO poor")
	p.alive()
	p.must("SELECT backward('loss', ARRAY['trend'])")
	p.fails("CALL train('loss', ARRAY['trend'], epochs => 2)", "42501", "permission denied for table trend")
	p.gives("SELECT count(*) FROM relgrad.run WHERE status = 'finished'", "0")
	e.must("REVOKE SELECT ON point FROM poor; GRANT SELECT (id, x) ON point TO poor")
	p.fails("SELECT * FROM gradient('loss', NULL::trend)", "42501", "permission denied")
	e.must("GRANT SELECT ON point TO poor; GRANT UPDATE ON trend TO poor")
	p.must("CALL train('loss', ARRAY['trend'], epochs => 2)")
	e.must("REVOKE USAGE ON SCHEMA public FROM PUBLIC; REVOKE USAGE ON SCHEMA public FROM poor")
	p.fails("SELECT * FROM relgrad.gradient('SELECT sum(slope) FROM public.trend', NULL::public.trend)", "42501",
		"permission denied for schema public")
	e.must("GRANT USAGE ON SCHEMA public TO PUBLIC; REVOKE TEMPORARY ON DATABASE \"" + e.db + "\" FROM PUBLIC")
	p.Close(e.t.Context())
	p = e.another("user=poor") // a session without temporary tables
	p.alive2()
	p.fails("SELECT backward('loss', ARRAY['trend'])", "42501", "permission denied to create temporary tables")
	p.Close(e.t.Context())
	e.must("DROP OWNED BY poor; DROP ROLE poor")
}

// columns: rights to single columns suffice for what a loss reads, and for nothing else.
func columns(e *env) {
	e.must("ALTER TABLE point ADD COLUMN hidden double precision DEFAULT 7; ALTER TABLE point ADD COLUMN chunk real[]; " +
		"UPDATE point SET chunk = '{1,2}'; ALTER TABLE trend ADD COLUMN note text DEFAULT 'mine';" +
		"ALTER TABLE trend ADD COLUMN spare double precision DEFAULT 3; CREATE ROLE poor LOGIN; " +
		"GRANT SELECT (x, y) ON point TO poor; GRANT SELECT (id, slope, shift) ON trend TO poor; " +
		"GRANT SELECT ON loss TO poor")
	p := e.another("user=poor")
	for _, engine := range []string{"chunk", "sql"} {
		p.must("SET relgrad.engine = " + engine)
		for range 2 { // the second call finds what the first has kept
			p.gives("SELECT id, round(slope::numeric, 1), note, spare FROM gradient('loss', NULL::trend)",
				"1|"+slope+"|NULL|NULL")
			p.gives("SELECT round(backward('loss', ARRAY['trend'])::numeric, 2)", "19.30")
			p.gives("SELECT round(slope::numeric, 1) FROM trend_grad", slope)
		}
		p.gives("SELECT round(backward('loss', ARRAY['trend.slope'])::numeric, 2)", "19.30")
		p.gives("SELECT bool_and(ok) FROM check_gradient('loss', 'trend')", "t")
		p.gives("SELECT round(slope::numeric, 1) FROM gradient('SELECT avg((y - slope * x - shift) ^ 2) "+
			"FROM (SELECT DISTINCT x, y FROM point) q, trend', NULL::trend)", slope)
		for _, loss := range []string{"SELECT avg(hidden * slope) FROM point, trend",
			"SELECT avg(p.hidden * slope) FROM point p, trend",
			"SELECT sum(slope) FROM trend WHERE id IN (SELECT id FROM point LIMIT 3)",
			"SELECT avg(sum_elements(chunk) * slope) FROM point, trend", "SELECT sum(slope * spare) FROM trend",
			"SELECT sum(slope) FROM trend WHERE length(note) > 1"} {
			p.fails("SELECT * FROM gradient('"+loss+"', NULL::trend)", "42501", "permission denied for table")
			p.fails("CALL train('"+loss+"', ARRAY['trend'])", "42501", "permission denied for table")
		}
		p.fails("SELECT backward('loss', ARRAY['trend.spare'])", "42501", "permission denied for table trend")
		// the parameter's key cannot be read
		p.fails("SELECT * FROM gradient('SELECT sum(x) FROM point', NULL::public.point)", "42501",
			"permission denied for table point")
		// a role that the session changes to does not see what the table's owner has seen
		e.must("SET relgrad.engine = " + engine)
		e.must("SELECT * FROM gradient('SELECT avg(hidden * slope) FROM point, trend', NULL::trend); SET ROLE poor")
		e.fails("SELECT * FROM gradient('SELECT avg(hidden * slope) FROM point, trend', NULL::trend)", "42501",
			"permission denied for table point")
		e.gives("SELECT round(slope::numeric, 1), spare FROM gradient('loss', NULL::trend)", slope+"|NULL")
		e.must("RESET ROLE")
		e.gives("SELECT slope FROM gradient('SELECT avg(hidden * slope) FROM point, trend', NULL::trend)", "7")
		e.must("GRANT UPDATE (slope, shift) ON trend TO poor")
		p.must("CALL train('loss', ARRAY['trend'], lr => 0.1, epochs => 5)")
		if !strings.Contains(strings.Join(p.notices, "\n"), "trains trend.slope, trend.shift (1),") {
			e.t.Errorf("train says %q", p.notices)
		}
		p.gives("SELECT slope > 0.1, (SELECT status FROM relgrad.run ORDER BY run DESC LIMIT 1) FROM trend", "t|finished")
		e.must("REVOKE UPDATE (slope, shift) ON trend FROM poor; UPDATE trend SET slope = 0, shift = 0")
		e.gives("SELECT note, spare FROM trend", "mine|3")
	}
	p.Close(e.t.Context())
	e.must("DROP OWNED BY poor; DROP ROLE poor")
}

// rowSecurity reads tables in which users see different rows.
func rowSecurity(e *env) {
	e.must(`CREATE ROLE anna LOGIN; CREATE ROLE otto LOGIN; ALTER TABLE point ADD COLUMN whose name DEFAULT 'otto';
UPDATE point SET whose = 'anna' WHERE id < 2;
		ALTER TABLE point ENABLE ROW LEVEL SECURITY; CREATE POLICY own ON point USING (whose = current_user);
GRANT SELECT ON ALL TABLES IN SCHEMA public TO anna, otto; GRANT CREATE ON SCHEMA public TO otto`)
	anna, otto := e.another("user=anna"), e.another("user=otto")
	const mine = "SELECT round(slope::numeric, 4) FROM gradient('SELECT avg((y - (slope * x + shift)) ^ 2) AS loss " +
		"FROM point CROSS JOIN trend', NULL::trend)"
	const plain = "SELECT round((-2 * avg(x * y))::numeric, 4) FROM point"
	anna.gives("SELECT count(*) FROM point", "2")
	want := anna.must(plain)
	for _, engine := range []string{"chunk", "sql"} {
		anna.must("SET relgrad.engine = " + engine)
		otto.must("SET relgrad.engine = " + engine)
		anna.gives(mine, want)
		otto.gives(mine, otto.must(plain))
	}
	e.gives(mine, e.must(plain)) // a superuser sees all
	anna.fails("SELECT * FROM gradient('loss', NULL::trend)", "42501", "row-level security")
	anna.fails("CALL train('loss', ARRAY['trend'])", "42501", "row-level security")
	otto.must("CREATE VIEW other AS SELECT x, y FROM point; GRANT SELECT ON other TO anna; " +
		"CREATE VIEW above AS SELECT avg((y - (slope * x + shift)) ^ 2) AS loss FROM other CROSS JOIN trend; " +
		"GRANT SELECT ON above TO anna")
	anna.fails("SELECT * FROM gradient('above', NULL::trend)", "42501", "row-level security")
	otto.gives("SELECT round(slope::numeric, 4) FROM gradient('above', NULL::trend)", otto.must(plain))
	if e.must("SELECT current_setting('server_version_num')::int >= 150000") == "t" {
		otto.must("ALTER VIEW other SET (security_invoker = true); ALTER VIEW above SET (security_invoker = yes)")
		anna.gives("SELECT round(slope::numeric, 4) FROM gradient('above', NULL::trend)", want)
	}
	anna.gives("SET row_security = on; "+mine, want)
	anna.fails("SET row_security = off; "+mine, "42501", "row-level security")
	anna.Close(e.t.Context())
	otto.Close(e.t.Context())
	e.must("DROP OWNED BY anna, otto; DROP ROLE anna, otto")
}

// runs checks that everybody sees their own runs.
func runs(e *env) {
	e.must(
		"CREATE ROLE anna LOGIN; CREATE ROLE otto LOGIN; GRANT SELECT, UPDATE ON ALL TABLES IN SCHEMA public TO anna, otto")
	anna, otto := e.another("user=anna"), e.another("user=otto")
	anna.must("CALL train('loss', ARRAY['trend'], epochs => 2)")
	otto.must("CALL train('loss', ARRAY['trend'], epochs => 3)")
	for s, want := range map[*session]string{anna: "1|2|2|t", otto: "2|3|3|t"} {
		s.gives(
			"SELECT run, step, (SELECT count(*) FROM relgrad.loss), (SELECT count(*) FROM relgrad.state) > 0 FROM relgrad.run",
			want)
	}
	anna.fails("CALL train(resume => 2)", "42704", "run 2 does not exist")
	anna.must("DELETE FROM relgrad.run; DELETE FROM relgrad.loss; DELETE FROM relgrad.state")
	otto.gives("SELECT count(*) FROM relgrad.run", "1")
	anna.fails("SELECT setval('relgrad.run_id', 1)", "42501", "permission denied")
	anna.fails("TRUNCATE relgrad.run_row", "42501", "permission denied")
	anna.fails("CREATE TABLE relgrad.mine ()", "42501", "permission denied for schema relgrad")
	// anna may write nonsense into her own row
	anna.must("INSERT INTO relgrad.run_row (loss, parameters, keys, options, seed, status, step, waited, started, " +
		"updated) VALUES ('l', '{}', '', '{}', 0, 'running', 0, 0, now(), now())")
	anna.must("CALL train('loss', ARRAY['trend'], epochs => 2)")
	anna.gives("SELECT status FROM relgrad.run WHERE run = 3", "interrupted")
	anna.Close(e.t.Context())
	otto.Close(e.t.Context())
	e.must("DROP OWNED BY anna, otto; DROP ROLE anna, otto")
}

// names uses unusual names.
func names(e *env) {
	for i, n := range []struct{ schema, table, column, key string }{
		{`public`, `w""; DROP TABLE point; --`, `v"`, `k""`},
		{`s'; --`, `it's`, `a\b`, `select`},
		{`Größe`, `表 名`, `値 x`, `Ünïcode`},
		{`select`, `table`, `order`, `user`},
		{` `, `  `, ` v `, ` k `},
		{`a.b`, `c.d`, `e.f`, `g.h`},
		{`UPPER`, `Mixed`, `CamelCase`, `ID`},
		{`%s%d%I`, `%L`, `%%`, `$1`},
		{`$$`, `$q$`, `{a}`, `[1]`},
	} {
		q := func(s string) string { return `"` + s + `"` }
		if i == 0 { // its quotes are already doubled
			n.column, n.key = `v""`, `k""`
		}
		table, v, k := q(n.schema)+"."+q(n.table), q(n.column), q(n.key)
		e.must("CREATE SCHEMA IF NOT EXISTS " + q(n.schema) + "; CREATE TABLE " + table + " (" + k + " int PRIMARY KEY, " +
			v + " double precision[], \"note " + n.column + "\" text);" +
			"INSERT INTO " + table + " VALUES (1, '{1,2}', 'it''s \\ \"'); CREATE VIEW " + q(n.schema) + "." +
			q("loss of "+n.table) + " AS SELECT sum(sqnorm(" + v + ")) AS " + v + " FROM " + table)
		loss := "SELECT sum(sqnorm(" + v + ")) FROM " + table
		for _, engine := range []string{"chunk", "sql"} {
			e.must("SET relgrad.engine = " + engine)
			e.gives("SELECT "+k+", "+v+" FROM gradient("+literal(loss)+", NULL::"+table+")", "1|{2,4}")
			e.gives("SELECT "+v+" FROM gradient("+literal(q(n.schema)+"."+q("loss of "+n.table))+", NULL::"+table+")", "{2,4}")
			e.gives("SELECT backward("+literal(loss)+", ARRAY["+literal(table)+"])", "5")
			e.gives("SELECT "+v+" FROM "+q(n.table+"_grad"), "{2,4}")
			e.must("DROP TABLE " + q(n.table+"_grad"))
			e.must("CALL train(" + literal(loss) + ", ARRAY[" + literal(table) +
				"], optimizer => 'sgd', lr => 0.25, epochs => 1)")
			e.gives("SELECT "+v+" FROM "+table, "{0.5,1}")
			e.must("UPDATE " + table + " SET " + v + " = '{1,2}'")
		}
	}
	e.gives("SELECT count(*) FROM point", "21")
}
