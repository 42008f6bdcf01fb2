package extension

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// types sends a column of each kind to the engine and back, and rows of several blocks.
func types(b *bridge) {
	b.must(`CREATE DOMAIN share AS double precision CHECK (VALUE >= 0);
		CREATE TABLE all_types (a smallint, b bigint, c oid, d boolean, e numeric(5,2), f date, g jsonb,
h double precision[], i int[], j bigint[], k varchar(3), l char(3), m share, n real, o "char", p text[]);
		INSERT INTO all_types VALUES (-3, 9007199254740993, 4294967295, true, 12.34, '2001-02-03', '{"a": [1]}',
'{{1,2},{3,4.5}}', '{-1,2}', '{9007199254740993}', 'abc', 'x', 0.25, 1.5, 'q', '{a,NULL}'),
			(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)`)
	defer b.must("DROP TABLE all_types; DROP DOMAIN share")
	want := b.must("SELECT * FROM all_types ORDER BY a")
	call := func(lines ...string) string {
		return strings.ReplaceAll(script(lines...), "NULL::w", "NULL::all_types")
	}
	b.gives("SELECT * FROM "+call("Q SELECT * FROM all_types ORDER BY a", "O", "D"), want)
	b.gives("SELECT * FROM "+call("J SELECT * FROM all_types ORDER BY a"), want)
	b.gives("SELECT count(*), sum(i) FROM "+script("Q SELECT i AS id, repeat('x', 200) AS name, NULL::real[] AS v, i + "+
		"0.5::double precision AS x FROM generate_series(1, 5) AS i", "O", "D")+
		" AS g(i)", "5|15")
	b.gives("SELECT 1 FROM "+script("Q SELECT i, repeat('x', 1000) FROM generate_series(1, 10000) AS i", "say",
		"J SELECT * FROM w LIMIT 1"), "1", "NOTICE: SELECT 10000, 10000 rows")
}

// described checks the descriptions of rows: shapes, irregular rows, columns without values.
func described(b *bridge) {
	word := func(n int) string { return fmt.Sprintf("%02x000000", n) }
	long := func(n int) string { return word(n) + "00000000" }
	column := func(typ int, kind string, flags int, dims []int, places ...int) string {
		s := word(1) + "76" + fmt.Sprintf("%02x%02x0000", typ%256, typ/256) + fmt.Sprintf("%x", kind) +
			fmt.Sprintf("%02x%02x", flags, len(dims))
		for _, d := range dims {
			s += word(d)
		}
		for _, p := range places {
			s += fmt.Sprintf("%02x%02x%02x0000000000", p%256, p/256%256, p/65536)
		}
		return s
	}
	for _, c := range []struct{ sql, want string }{
		{"SELECT '{{1,2,3}}'::real[] AS v", "1 blocks, " +
			long(1) + word(1) + column(1021, "F", 0, []int{1, 3}, 0, 4194312-8-8, 0)},
	} {
		b.must("SELECT 1 FROM " + script("Q "+c.sql, "say block", "J SELECT * FROM w LIMIT 1"))
		if len(b.notices) != 1 || !strings.HasPrefix(b.notices[0][8:], c.want[:60]) {
			b.t.Errorf("%s: %q, want %s", c.sql, b.notices, c.want)
		}
	}
	for sql, why := range map[string]string{ // the last row is odd: its number in hexadecimal digits, why, its shape
		"SELECT '{1,2}'::real[] AS v UNION ALL SELECT '{1}'":             long(1) + "73" + "01" + word(1),
		"SELECT '{1,2}'::real[] AS v UNION ALL SELECT '{1,NULL}'":        long(1) + "6e" + "01" + word(2),
		"SELECT '{1,2}'::real[] AS v UNION ALL SELECT '[0:1]={1,2}'":     long(1) + "6c" + "01" + word(2),
		"SELECT '{1,2}'::real[] AS v UNION ALL SELECT '{}'":              long(1) + "65" + "00",
		"SELECT '{}'::int[] AS v":                                        long(0) + "65" + "00",
		"SELECT '{NULL}'::double precision[] AS v UNION ALL SELECT '{}'": long(0) + "6e" + "01" + word(1),
	} {
		b.must("SELECT 1 FROM " + script("Q "+sql, "say block", "J SELECT * FROM w LIMIT 1"))
		if len(b.notices) != 1 || !strings.HasSuffix(b.notices[0], why) {
			b.t.Errorf("%s: %q, want … %s", sql, b.notices, why)
		}
	}
	for sql, blocks := range map[string]int{
		"SELECT 1 AS v WHERE false": 1,
		"SELECT":                    1,
		"SELECT NULL::real[] AS v":  1,
		"SET enable_seqscan = on":   0,
		"SELECT NULL::real[] AS v UNION ALL SELECT '{1,2}'":                             2, // the shape is not known before
		"SELECT array_fill(1::real, ARRAY[1000, 100]) AS v FROM generate_series(1, 20)": 2,
		"SELECT repeat('x', 1000000) AS v FROM generate_series(1, 9)":                   2,
		"EXPLAIN SELECT 1":                              1,
		"SHOW search_path":                              1,
		"VALUES (1, 'a'), (2, NULL)":                    1,
		"SELECT i FROM generate_series(1, 700000) AS i": 3,
	} {
		b.must("DO $do$ BEGIN PERFORM backward('" +
			strings.ReplaceAll("Q "+sql+"\nsay block\nQ SELECT 1.5::double precision\nO\nD", "'", "''") + "', NULL); END $do$")
		if len(b.notices) != 1 || !strings.HasPrefix(b.notices[0], fmt.Sprintf("NOTICE: %d blocks", blocks)) {
			b.t.Errorf("%s: %.60q, want %d blocks", sql, b.notices, blocks)
		}
	}
}

// bulk measures how fast rows go to the engine and back.
func bulk(b *bridge) {
	b.must("CREATE TABLE big (id int PRIMARY KEY, v real[]); INSERT INTO big SELECT i, array_fill(i::real, ARRAY[128]) " +
		"FROM generate_series(1, 100000) AS i")
	b.must("VACUUM ANALYZE big")
	defer b.must("DROP TABLE big")
	for _, c := range []struct{ what, script string }{
		{"chunks", "read SELECT v FROM big"}, {"chunks and keys", "read SELECT id, v FROM big"},
	} {
		b.must("SET max_parallel_workers_per_gather = 0")
		best := time.Hour
		for range 5 {
			start := time.Now()
			b.gives("SELECT 1 FROM "+script(c.script, "say", "J SELECT * FROM w LIMIT 1"), "1",
				"NOTICE: SELECT 100000, 100000 rows")
			best = min(best, time.Since(start))
		}
		b.t.Logf("%s to the engine: 100000 × real[128] in %v, %.0f MB/s", c.what,
			best.Round(time.Millisecond), 51.2/best.Seconds())
	}
	for what, sql := range map[string]string{
		"a table from the engine": "CREATE TEMP TABLE got AS SELECT v FROM gradient('chunks 100000\nW\nJ SELECT 0, " +
			"NULL::text, v, 0::double precision FROM relgrad.gen_rows() AS r(v real[])', NULL::w)",
		"a result of the engine": "CREATE TEMP TABLE got AS SELECT v FROM gradient('chunks 100000\nO\nD', NULL::ww)",
		"counted rows of gen_rows": "CREATE TEMP TABLE got AS SELECT v FROM gradient('chunks 100000\nW\nJ SELECT " +
			"array_fill(count(v)::real, ARRAY[1]) AS v FROM relgrad.gen_rows() AS r(v real[])', NULL::ww)",
	} {
		b.must("CREATE TABLE ww (v real[])")
		start := time.Now()
		b.must("SELECT set_config('work_mem', '1GB', false); " + strings.ReplaceAll(sql, "('chunks", "(E'chunks"))
		d := time.Since(start)
		b.t.Logf("%s: 100000 × real[128] in %v, %.0f MB/s", what, d.Round(time.Millisecond), 51.2/d.Seconds())
		if n := b.must("SELECT count(*) FROM got"); n != "100000" && b.must("SELECT v FROM got") != "{100000}" {
			b.t.Errorf("%s: %s rows", what, n)
		}
		b.must("DROP TABLE got, ww")
	}
}

// children lists the processes that a backend has started.
func children(pid string) []string {
	var out []string
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, f := range stats {
		text, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		rest := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		if len(rest) > 1 && rest[1] == pid {
			out = append(out, strings.Fields(string(text))[0]+" "+rest[0])
		}
	}
	return out
}

// alive reports whether a process runs. When its parent was killed, init reaps it, which may take a moment.
func alive(pid string) bool {
	text, err := os.ReadFile("/proc/" + pid + "/stat")
	return err == nil && !strings.Contains(string(text), ") Z ")
}

// killed reports whether a process has been sent SIGKILL. On a busy machine it may take a moment to end.
func killed(pid string) bool {
	text, err := os.ReadFile("/proc/" + pid + "/status")
	_, pending, _ := strings.Cut(string(text), "\nShdPnd:")
	pending, _, _ = strings.Cut(pending, "\n")
	signals, bad := strconv.ParseUint(strings.TrimSpace(pending), 16, 64)
	return err == nil && bad == nil && signals&(1<<(syscall.SIGKILL-1)) != 0
}

// faults checks that whatever the engine does wrong ends as an error of one statement, and that the next call has a new
// engine.
func faults(b *bridge) {
	pid := b.must("SELECT pg_backend_pid()")
	const big = "ffffffffffffff7f"
	for _, c := range []struct {
		code, message string
		lines         []string
	}{
		{"08006", "ended by signal 9", []string{"kill"}},
		{"08006", "exit status 7", []string{"exit 7"}},
		{"08006", "exit status 0", []string{"exit 0"}},
		{"08006", "ended by signal 9", []string{"Q SELECT * FROM w", "kill"}},
		{"08006", "ended by signal 9", []string{"killed-asking SELECT * FROM w"}},
		{"08006", "ended by signal 9", []string{"killed-asking INSERT INTO w VALUES (9)"}},
		{"08006", "ended by signal 9", []string{"killed-reading SELECT * FROM w"}},
		{"08006", "ended by signal 9",
			[]string{"killed-reading SELECT i, repeat('x', 1000) FROM generate_series(1, 100000) AS i"}},
		{"08006", "exit status 3", []string{"bytes ffff", "exit 3"}},
		{"08006", "exit status 3", []string{"bytes 0a00000051", "exit 3"}},
		{"08P01", "a frame of 4294967295 bytes", []string{"bytes ffffffffffffffff"}},
		{"08P01", "a frame of kind 0", []string{"bytes 0000000000"}},
		{"08P01", "a frame of kind 90", []string{"raw Z"}},
		{"08P01", "a frame Q that is too short", []string{"raw Q"}},
		{"08P01", "a frame Q that is too short", []string{"raw Q00ffffffff"}},
		{"08P01", "a frame Q that is too long", []string{"raw Q000000000000"}},
		{"08P01", "a query with flags 128", []string{"raw Q8000000000"}},
		{"08P01", "text that is not UTF-8", []string{"raw Q0001000000ff"}},
		{"08P01", "text that is not UTF-8", []string{"raw Q000100000000"}},
		{"08P01", "a frame T that is too short", []string{"raw T"}},
		{"08P01", "the end 99 of a transaction", []string{"raw T63"}},
		{"08P01", "a message of level LOUD", []string{"N LOUD hello"}},
		{"08P01", "a frame N that is too short", []string{"raw N00"}},
		{"08P01", "an error without a message or SQLSTATE", []string{"raw X00000000"}},
		{"08P01", "an error without a message or SQLSTATE", []string{"X 0x2 what"}},
		{"08P01", "an error with a field 90", []string{"raw X010000005a00000000"}},
		{"08P01", "a frame D that is too long", []string{"raw D00"}},
		{"08P01", "0 columns", []string{"raw O000000000000000000000000"}},
		{"08P01", "a frame O that is too short", []string{"raw O000000000000000001000000"}},
		{"08P01", "rows of 1 columns", []string{"raw O" + big + "01000000"}},
		{"08P01", "outside the",
			[]string{"Q SELECT 1::bigint AS v", "patch -16 1", "patch -8 255", "patch -24 8", "patch -20 255", "O"}},
		{"08P01", "outside the", []string{"Q SELECT 1::bigint AS v", "patch -24 4", "O"}},
		{"08P01", "of kind 70", []string{"Q SELECT 1::bigint AS v", "patch -27 70", "O"}},
		{"08P01", "of kind 90", []string{"Q SELECT 1::bigint AS v", "patch -27 90", "O"}},
		{"08P01", "flags 2", []string{"Q SELECT 1::bigint AS v", "patch -26 2", "O"}},
		{"08P01", "with 6 dimensions", []string{"Q SELECT 1::bigint AS v", "patch -25 6", "O"}},
		{"08P01", "a chunk without a shape",
			[]string{"Q SELECT 1 AS id, NULL::text AS name, NULL::real[] AS v, NULL::double precision AS x", "patch 98 0", "O"}},
		{"08P01", "empty or too large", []string{"Q SELECT '{1,2}'::real[] AS v", "patch -28 0", "O"}},
		{"08P01", "outside the", []string{"Q SELECT '{1,2}'::real[] AS v", "patch -26 255", "O"}},
		{"08P01", "too large", []string{"Q SELECT '{1,2}'::real[] AS v", "patch -25 255", "O"}},
		{"08P01", "outside the", []string{"Q SELECT 'abc'::text AS v", "patch -4 255", "O"}},
		{"42804", "The engine has (v text); wanted are (id integer, name text, v real[], x double precision)",
			[]string{"Q SELECT 'abc'::text AS v", "O"}},
		{"42804", "The engine has (id integer, name text, v double precision[], x double precision)",
			[]string{"Q SELECT id, name, v::double precision[], x FROM w", "O"}},
		{"42804", "not those of gradient", []string{"Q SELECT *, 1 AS more FROM w", "O"}},
		{"42804", "not those of gradient", []string{"J SELECT id, name, v FROM w"}},
		{"42804", "not those of gradient", []string{"J SET work_mem = '1MB'"}},
		{"42P01", "relation \"nothing\" does not exist", []string{"J SELECT * FROM nothing"}},
		{"42804", "not those of gen_rows()",
			[]string{"Q SELECT 1::bigint AS v", "W", "Q SELECT * FROM relgrad.gen_rows() AS r(v int)"}},
		{"55000", "there are no rows", []string{"Q SELECT 1::bigint AS v", "W", "forget",
			"Q SELECT * FROM relgrad.gen_rows() AS r(v bigint)"}},
		{"22012", "division by zero", []string{"Q SELECT 1 / 0"}},
		{"22012", "division by zero", []string{"plain SELECT 1 / 0"}},
		{"22012", "division by zero", []string{"Q SELECT 1 / (3 - i), repeat('x', 5000000) FROM generate_series(1, 3) AS i"}},
		{"42601", "syntax error", []string{"P SELEC 1"}},
		{"42601", "expected one statement, not 2", []string{"Q SELECT 1; SELECT 2"}},
		{"42601", "expected one statement, not 0", []string{"Q --"}},
		{"0A000", "UPDATE is not allowed in a non-volatile function", []string{"Q UPDATE w SET x = 1"}},
		{"0A000", "BEGIN is not allowed in a statement that gradient() runs", []string{"Q BEGIN"}},
		{"0A000", "COPY is not allowed", []string{"Q COPY w TO STDOUT"}},
		{"22023", "no", []string{"X 22023 no"}},
	} {
		b.fails("SELECT * FROM "+script(c.lines...), c.code, c.message)
	}
	b.gives("SELECT * FROM "+script("Q SELECT * FROM w ORDER BY id", "shrink", "say", "O", "D"), rowsOfW,
		"NOTICE: operation not permitted, 3 rows")
	if list := children(pid); len(list) != 1 || strings.HasSuffix(list[0], "Z") {
		b.t.Errorf("processes: %q", list)
	}
}

// corrupted changes each byte of a description of rows in several ways. The result may be an error or other rows, but
// the session lives on.
func corrupted(b *bridge) {
	pid := b.must("SELECT pg_backend_pid()")
	const query = "Q SELECT 1 AS id, 'text'::text AS name, '{{1,2}}'::real[] AS v, 0.5::double precision AS x"
	failed := 0
	for at := range 12 + 5*24 + 10*4 + 12 { // its length
		for _, x := range []byte{1, 255} {
			sql := "SELECT * FROM " + script(query, fmt.Sprintf("patch %d %d", at, x), "O", "D")
			if _, err := b.run(sql); err != nil {
				failed++
			}
		}
	}
	b.t.Logf("%d errors", failed)
	if failed == 0 {
		b.t.Error("nothing was refused")
	}
	b.gives("SELECT pg_backend_pid()", pid)
	b.gives("SELECT * FROM "+script("Q SELECT * FROM w ORDER BY id", "O", "D"), rowsOfW)
}

// interrupts ends statements whose engine does not answer.
func interrupts(b *bridge) {
	pid := b.must("SELECT pg_backend_pid()")
	other := open(b.t, b.dsn)
	for _, lines := range [][]string{{"sleep"}, {"Q SELECT pg_sleep(60)"}, {"plain SELECT pg_sleep(60)"},
		{"Q SELECT i, repeat('x', 100) FROM generate_series(1, 1000000000) AS i"}, {"J SELECT w.* FROM w, pg_sleep(60)"}} {
		sql := "SELECT * FROM " + script(lines...)
		b.fails("SET statement_timeout = 100; "+sql, "57014", "statement timeout")
		b.must("SET statement_timeout = 0")
		var sent time.Time
		done := make(chan struct{})
		go func() {
			defer close(done)
			time.Sleep(100 * time.Millisecond)
			sent = time.Now()
			other.must("SELECT pg_cancel_backend(" + pid + ")")
		}()
		b.fails(sql, "57014", "user request")
		took := time.Now()
		<-done // the statement's error may arrive before the answer of the one who cancelled it
		b.t.Logf("cancelled in %v: %s", took.Sub(sent).Round(100*time.Microsecond), lines)
	}
	b.gives("DO $$ BEGIN PERFORM * FROM "+strings.ReplaceAll(script("Q SELECT 1/0"), "$", "")+
		"; EXCEPTION WHEN division_by_zero THEN RAISE NOTICE 'caught'; END $$", "", "NOTICE: caught")
	b.must("SELECT * FROM " + script("D"))
	list := children(pid)
	if len(list) != 1 {
		b.t.Fatalf("processes: %q", list)
	}
	engine, _, _ := strings.Cut(list[0], " ")
	other.must("SELECT pg_cancel_backend(" + pid + ")") // cancels nothing, or the statement after
	time.Sleep(50 * time.Millisecond)
	if !alive(engine) {
		b.t.Error("a signal for the backend has ended an idle engine")
	}
	terminated(b, other, engine, pid)
}

// terminated ends backends and checks that nothing of their engines is left.
func terminated(b, other *bridge, idle, pid string) {
	other.must("SELECT pg_terminate_backend(" + pid + ", 5000)")
	gone(b, idle)
	for _, signal := range []string{"pg_terminate_backend(%s)", "kill"} {
		c := open(b.t, b.dsn)
		pid := c.must("SELECT pg_backend_pid()")
		done := make(chan error)
		go func() {
			_, err := c.run("SELECT * FROM " + script("N NOTICE now", "sleep"))
			done <- err
		}()
		var list []string
		for i := 0; i < 200 && len(list) == 0; i++ {
			time.Sleep(10 * time.Millisecond)
			list = children(pid)
		}
		if len(list) != 1 {
			b.t.Fatalf("processes: %q", list)
		}
		engine, _, _ := strings.Cut(list[0], " ")
		if signal == "kill" {
			n, _ := strconv.Atoi(pid)
			if p, err := os.FindProcess(n); err != nil || p.Kill() != nil {
				b.t.Fatal("cannot kill", pid)
			}
		} else {
			other.must("SELECT " + fmt.Sprintf(signal, pid))
		}
		if err := <-done; err == nil {
			b.t.Error("the statement went on")
		}
		for i := 0; i < 200 && alive(pid); i++ { // its client is told before it has ended
			time.Sleep(10 * time.Millisecond)
		}
		gone(b, engine)
	}
	for range 200 { // a killed backend restarts the server
		time.Sleep(50 * time.Millisecond)
		if c, err := pgx.Connect(context.Background(), b.dsn); err == nil {
			c.Close(context.Background())
			return
		}
	}
	b.t.Error("the server does not come back")
}

func gone(b *bridge, pid string) {
	for range 5 {
		if !alive(pid) || killed(pid) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	b.t.Errorf("process %s is still there", pid)
}
