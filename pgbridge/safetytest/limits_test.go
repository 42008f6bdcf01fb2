package safetytest

import (
	"fmt"
	"strings"
	"time"
)

// call is a query that calls gradient() of a loss.
func call(loss string) string {
	return "SELECT slope FROM gradient('" + strings.ReplaceAll(loss, "'", "''") + "', NULL::trend)"
}

// alive asserts that gradients are still right.
func (s *session) alive() {
	s.t.Helper()
	s.gives("SELECT round(slope::numeric, 6) FROM gradient('loss', NULL::trend)", slope+"00000")
}

// memory computes what needs more memory than is allowed.
func memory(e *env) {
	e.must("CREATE TABLE chunk (id int PRIMARY KEY, v real[]); INSERT INTO chunk SELECT i, array_fill(0.5::real, " +
		"ARRAY[256, 256]) FROM generate_series(1, 40) AS i;" +
		"CREATE VIEW heavy AS SELECT sum(sum_elements(relgrad.tanh(matmul(a.v, b.v)))) AS loss FROM chunk a, chunk b " +
		"WHERE b.id <= 10")
	for _, sites := range []string{"1", "3"} {
		e.must("SET relgrad.memory = '8MB'; SET relgrad.engine = chunk; SET relgrad.sites = " + sites)
		e.fails("SELECT count(*) FROM gradient('heavy', NULL::chunk)", "53200", "memory")
		e.alive()
	}
	e.must("RESET relgrad.memory; RESET relgrad.sites")
	e.gives("SELECT count(*) FROM gradient('heavy', NULL::chunk)", "40")
	e.alive()
}

// large sends very long and very deep texts.
func large(e *env) {
	start := time.Now()
	lap := func(what string) {
		e.t.Logf("%s: %v", what, time.Since(start).Round(time.Millisecond))
		start = time.Now()
	}
	terms := "SELECT 1" + strings.Repeat("+1", 100000) + " AS loss"
	e.fails(call(terms), "54001", "")
	e.alive()
	lap("terms")
	sum := "SELECT slope" + strings.Repeat(" + slope", 2000) + " AS loss FROM trend"
	e.gives(call(sum), "2001")
	lap("sum")
	deep := "SELECT slope AS s FROM trend"
	for i := range 100 {
		deep = fmt.Sprintf("SELECT s * 1 AS s FROM (%s) AS q%d", deep, i)
	}
	e.gives(call(deep), "1")
	lap("deep")
	_, err := e.run(call("SELECT " + strings.Repeat("(", 5000) + "slope" + strings.Repeat(")", 5000) + " FROM trend"))
	e.t.Logf("5000 parentheses: %v", err)
	e.alive()
	// refused by Postgres's parser
	e.fails(call("SELECT "+strings.Repeat("-(", 100000)+"slope"+strings.Repeat(")", 100000)+" FROM trend"),
		"42601", "memory exhausted")
	e.alive()
	lap("parens")
	e.gives(call("SELECT slope /* "+strings.Repeat("x", 1<<20)+" */ FROM trend"), "1")
	e.fails(call("SELECT slope /* "+strings.Repeat("x", 20<<20)+" */ FROM trend"), "54000", "exceeds the limit")
	lap("comment")
	_, err = e.run(call("SELECT sum(slope) FROM trend WHERE id IN (" + strings.Repeat("1, ", 20000) + "1)"))
	lap("list")
	e.t.Logf("a list of 20000 numbers: %v", err)
	e.alive()
}

// timeouts ends calls by the server's timeouts.
func timeouts(e *env) {
	e.must("CREATE TABLE many (id int PRIMARY KEY, v double precision); INSERT INTO many SELECT i, 1 " +
		"FROM generate_series(1, 3000) AS i;" +
		"CREATE VIEW slow AS SELECT sum(relgrad.exp(sin(a.v * b.v)) * slope) AS loss FROM many a, many b, trend")
	for _, engine := range []string{"chunk", "sql"} {
		e.must("SET relgrad.engine = " + engine + "; SET statement_timeout = '50ms'")
		e.fails("SELECT slope FROM gradient('slow', NULL::trend)", "57014", "statement timeout")
		e.fails("CALL train('slow', ARRAY['trend.slope'])", "57014", "statement timeout")
		e.must("RESET statement_timeout; RESET relgrad.engine")
		e.alive()
	}
	other := e.another()
	other.must("BEGIN; LOCK TABLE trend IN ACCESS EXCLUSIVE MODE")
	e.must("SET lock_timeout = '50ms'")
	e.fails("SELECT slope FROM gradient('loss', NULL::trend)", "55P03", "lock timeout")
	e.fails("SELECT backward('loss', ARRAY['trend'])", "55P03", "lock timeout")
	e.fails("CALL train('loss', ARRAY['trend'])", "55P03", "lock timeout")
	other.must("ROLLBACK; BEGIN; LOCK TABLE trend IN EXCLUSIVE MODE") // locks out writers only
	e.alive()
	e.fails("CALL train('loss', ARRAY['trend'], epochs => 3)", "55P03", "lock timeout")
	other.must("ROLLBACK")
	e.must("RESET lock_timeout")
	e.alive()
	// a backend that waits for its engine notices the timeout of an idle transaction and the end of its client's
	// connection
	e.must("SET idle_in_transaction_session_timeout = '50ms'; BEGIN; SELECT backward('loss', ARRAY['trend'])")
	time.Sleep(300 * time.Millisecond)
	if _, err := e.run("SELECT 1"); err == nil {
		e.t.Error("the session is still there")
	}
}
