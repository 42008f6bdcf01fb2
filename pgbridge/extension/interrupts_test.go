package extension

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

var longFlag = flag.String("long", "", "cancel only the calls with this text")

// operands are what calls read: chunks of 8 million numbers and more. The functions that make them look for cancel
// requests.
var operands = map[string]string{
	"v": "full(ARRAY[8000000], 0.5)", "f": "relgrad.gen_to_real(full(ARRAY[8000000], 0.5))",
	"a": "full(ARRAY[2500, 2500], 0.5)", "b": "relgrad.gen_to_real(full(ARRAY[2500, 2500], 0.5))",
	"r": "full(ARRAY[3000], 0.5)", "row": "full(ARRAY[1, 3000], 0.5)", "wide": "full(ARRAY[3000, 3000], 0.5)",
	"col": "full(ARRAY[8000000, 1], 0.5)", "line": "full(ARRAY[1, 8000000], 0.5)",
	"one": "full(ARRAY[1, 1], 0.5)", "ones": "full(ARRAY[8000000, 1, 1], 0.5)",
	"fone": "relgrad.gen_to_real(full(ARRAY[1, 1], 0.5))", "fline": "relgrad.gen_to_real(full(ARRAY[1, 8000000], 0.5))",
	"long": "full(ARRAY[100000000], 0.5)", "big": "full(ARRAY[5000, 5000], 0.5)",
	"ids": "array_fill(7::bigint, ARRAY[8000000])", "t": "repeat('x', (ARRAY[100000000])[1])",
	"state": "relgrad.agg_add('{}', full(ARRAY[4000000], 0.5))", "u": "full(ARRAY[4000000], 0.5)",
	"pairs": "(SELECT pg_temp.pairs(sin(i), i % 2) FROM generate_series(1, 2000000) AS g(i))",
}

// longArgs are calls of functions whose arguments cannot be chosen by type alone. They read chunks v and f, the numbers
// 0.5 and 1, and the shape of v.
var longArgs = map[string][]string{
	"matmul": {"matmul(a, a)", "matmul(b, b)", "matmul(row, wide)", "matmul(line, col)", "matmul(one, line)",
		"matmul(ones, ones)", "matmul(fone, fline)", "matmul(col, one)"},
	"outer":     {"outer(r, r)"},
	"transpose": {"transpose(a)", "transpose(b)"},
	"diag":      {"diag(r)", "diag(wide)"},
	"einsum": {"einsum('ij->j', a)", "einsum('ij,jk->ki', a, a)", "einsum('ij,jk->ki', b, b)",
		"einsum('i,i,i->i', f, f, f)",
		"einsum('i,i,i,i->i', v, v, v, v)", "einsum('i,j->ij', r, r)"},
	"reshape":      {"reshape(long, ARRAY[10000, 10000])"},
	"concat_axis":  {"concat_axis(v, v, 1)", "concat_axis(big, big, 2)"},
	"zeros":        {"zeros(ARRAY[100000000])"},
	"one_hot":      {"one_hot(1, (ARRAY[100000000])[1])"},
	"gen_pad":      {"relgrad.gen_pad(v, ARRAY[100000000], ARRAY[1])"},
	"gen_put":      {"relgrad.gen_put(0.5, ARRAY[100000000], ARRAY[1])"},
	"gen_sum_to":   {"relgrad.gen_sum_to(line, ARRAY[1, 8000000])", "relgrad.gen_sum_to(v, ARRAY[1])"},
	"gen_row_key":  {"relgrad.gen_row_key(ids)"},
	"gen_text_key": {"relgrad.gen_text_key(t)"},

	"random_normal": {"random_normal(ARRAY[8000000], 1)", "random_normal(ARRAY[1], 1, ids)"},
	"random_int":    {"random_int(9, 1, ids)"},

	"agg_add": {"relgrad.agg_add('{}', v)", "relgrad.agg_add(state, u)"},
	"agg_max": {"relgrad.agg_max('{}', v)", "relgrad.agg_max(state, u)"}, "agg_min": {"relgrad.agg_min(state, u)"},
	"agg_add_combine":     {"relgrad.agg_add_combine(state, state)"},
	"agg_max_combine":     {"relgrad.agg_max_combine(state, state)"},
	"agg_min_combine":     {"relgrad.agg_min_combine(state, state)"},
	"agg_scatter_combine": {"relgrad.agg_scatter_combine(state, state)"},
	"agg_scatter":         {"relgrad.agg_scatter('{}', 1, 0.5, (ARRAY[100000000])[1])"},
	"agg_value":           {"relgrad.agg_value(state)"}, "agg_mean": {"relgrad.agg_mean(state)"},
	"agg_pairs_combine":     {"relgrad.agg_pairs_combine(pairs, pairs)"},
	"agg_auc_value_number":  {"relgrad.agg_auc_value_number(pairs)"},
	"agg_ndcg_value_number": {"relgrad.agg_ndcg_value_number(pairs)"},
	"agg_value_real":        {"relgrad.agg_value_real(state)"}, "agg_mean_real": {"relgrad.agg_mean_real(state)"},
}

// fewNumbers are C functions of the extension that take no chunk, or only look at its type.
var fewNumbers = map[string]bool{"gen_decimal": true, "gen_stack_row": true, "gen_row_id": true,
	"gen_place": true, "gen_float_key": true, "agg_accuracy": true, "agg_auc": true, "agg_f1": true, "agg_rmse": true,
	"agg_log_loss": true, "agg_ndcg": true, "agg_f1_value_number": true, "agg_root_number": true,
	"agg_value_number": true, "agg_value_number_real": true, "agg_mean_number": true}

// longCalls lists calls of all C functions that compute: of each, the overloads with the most chunks.
func longCalls(t *testing.T, s *server) (out []string) {
	rows, err := s.Query(s.ctx, `SELECT DISTINCT proname::text,
  ARRAY(SELECT format_type(a, NULL) FROM unnest(proargtypes) WITH ORDINALITY x(a, n) ORDER BY n)
FROM pg_proc JOIN pg_language l ON l.oid = prolang AND lanname = 'c'
WHERE pronamespace = 'relgrad'::regnamespace AND provolatile = 'i' ORDER BY 1, 2`)
	if err != nil {
		t.Fatal(err)
	}
	most, given := map[string]int{}, map[string][]string{}
	var name string
	var args []string
	_, err = pgx.ForEachRow(rows, []any{&name, &args}, func() error {
		if longArgs[name] != nil || fewNumbers[name] {
			given[name] = longArgs[name]
			return nil
		}
		chunks := strings.Count(strings.Join(args, " "), "[]")
		if chunks > most[name] {
			most[name], given[name] = chunks, nil
		}
		if chunks == most[name] && chunks > 0 {
			given[name] = append(given[name], "relgrad."+name+"("+usual(t, name, args)+")")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range longArgs {
		if given[name] == nil {
			t.Errorf("no function in C is called %s", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		out = append(out, given[name]...)
	}
	return out
}

// usual is usual arguments of these types.
func usual(t *testing.T, name string, types []string) string {
	values := make([]string, len(types))
	for i, typ := range types {
		values[i] = map[string]string{"double precision[]": "v", "real[]": "f",
			"double precision": "0.5", "real": "0.5::real",
			"bigint": "1", "bigint[]": "ARRAY[8000000]"}[typ]
		if values[i] == "" {
			t.Errorf("%s(%v): what are its arguments?", name, types)
		}
	}
	return strings.Join(values, ", ")
}

// TestInterrupts cancels calls of every C function, repeatedly, without a library for matrices: each must look for
// cancel requests every 50 ms. It measures for how long the server's process still works, so that other load on the
// machine does not matter.
func TestInterrupts(t *testing.T) {
	s, ready := connectNoticed(t, "OPENBLAS=off")
	pid := s.PgConn().PID()
	if worked(t, pid) == 0 {
		t.Skip("the kernel does not say how long a process has worked")
	}
	if _, err := s.query("SET jit = off; SELECT 1"); err != nil { // JIT does not look for cancels
		t.Fatal(err)
	}
	if _, err := s.query(sayReady + "; " + keepsPairs + "; SELECT 1"); err != nil {
		t.Fatal(err)
	}
	for _, call := range longCalls(t, s) {
		if !strings.Contains(call, *longFlag) {
			continue
		}
		late := time.Duration(0)
		for try := range 2 {
			late = max(late, s.cancelled(t, call, ready, time.Duration(try)*37*time.Millisecond))
		}
		for try := 0; try < 3 && late > seen; try++ { // the kernel's work on pages takes longer on a full machine
			late = min(late, s.cancelled(t, call, ready, time.Duration(try)*37*time.Millisecond))
		}
		t.Logf("%s: %v", call, late)
		if late > seen {
			t.Errorf("%s works on for %v after it was cancelled", call, late)
		}
	}
}

// seen is the time in which a cancel request must end a call: 50 ms until it is noticed, and the time to give back some
// hundred megabytes.
const seen = 100 * time.Millisecond

// worked is how long a process has been on a processor; 0 if the kernel does not say.
func worked(t *testing.T, pid uint32) time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", pid))
	if errors.Is(err, os.ErrNotExist) {
		return 0
	}
	fields := strings.Fields(string(text))
	if err != nil || len(fields) == 0 {
		t.Fatal(err, fields)
	}
	ns, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return time.Duration(ns)
}

// sayReady makes a function that tells the client that the operands are ready.
const sayReady = `CREATE FUNCTION pg_temp.ready(int) RETURNS int LANGUAGE plpgsql AS
'BEGIN RAISE NOTICE ''ready''; RETURN 1; END'`

// keepsPairs makes an aggregate whose value is the state of auc and ndcg.
const keepsPairs = `CREATE AGGREGATE pg_temp.pairs(double precision, double precision)
(SFUNC = relgrad.agg_auc, STYPE = double precision[], INITCOND = '{}')`

// connectNoticed is connect, and sends each notice of the server to the channel.
func connectNoticed(t *testing.T, env ...string) (*server, <-chan struct{}) {
	s := connect(t, env...)
	config, ready := s.Config(), make(chan struct{}, 1)
	config.OnNotice = func(*pgconn.PgConn, *pgconn.Notice) {
		select {
		case ready <- struct{}{}:
		default:
		}
	}
	conn, err := pgx.ConnectConfig(s.ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(s.ctx) })
	s.Conn = conn
	if _, err := s.query("SET search_path = public, relgrad; SELECT 1"); err != nil {
		t.Fatal(err)
	}
	return s, ready
}

// cancelled runs a statement that makes a call again and again, cancels it after it has worked for so long with its
// operands ready, and returns for how long it still worked. The calls are in a join condition that never holds:
// otherwise the server would copy the operands from row to row, without looking for cancel requests.
func (s *server) cancelled(t *testing.T, call string, ready <-chan struct{}, after time.Duration) time.Duration {
	t.Helper()
	var from []string
	for name, value := range operands {
		if regexp.MustCompile(`[(, ]` + name + `[,)]`).MatchString(call) {
			from = append(from, value+" AS "+name)
		}
	}
	slices.Sort(from)
	from = append(from, "1 AS nothing")
	query := "SELECT FROM (SELECT " + strings.Join(from, ", ") + " OFFSET 0) q, " +
		"LATERAL (SELECT pg_temp.ready(nothing) OFFSET 0) r(told), " +
		"LATERAL (SELECT generate_series(1, 1000000) * told OFFSET 0) i(i) " +
		"WHERE (" + call + " IS NULL) <> (i < 0)"
	query = strings.ReplaceAll(query, "ARRAY[", "ARRAY[floor(random())::int + ") // or the planner computes and copies it
	select {
	case <-ready: // of the call before, which has ended otherwise
	default:
	}
	pid, stop, done := s.PgConn().PID(), make(chan time.Duration, 1), make(chan struct{})
	go func() {
		defer close(stop)
		select {
		case <-done:
			return
		case <-ready:
		}
		begin := worked(t, pid)
		for worked(t, pid)-begin < 20*time.Millisecond+after {
			select {
			case <-done:
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
		at := worked(t, pid)
		if s.PgConn().CancelRequest(s.ctx) == nil {
			stop <- at
		}
	}()
	_, err := s.PgConn().Exec(s.ctx, query).ReadAll()
	end := worked(t, pid)
	close(done)
	at, ok := <-stop
	var e *pgconn.PgError
	if !ok || !errors.As(err, &e) || e.Code != sqlerr.QueryCanceled {
		t.Fatalf("%s: %v", call, err)
	}
	return end - at
}
