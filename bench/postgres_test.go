package bench

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/relgrad/relgrad/internal/pgcluster"
)

// server is a session on a private server with the extension, the peers and the models.
type server struct {
	*pgx.Conn
	t   testing.TB
	dsn string
}

// models are the losses whose gradients are also written by hand: bench/postgres/NAME.sql and NAME.hand.sql.
var models = []struct{ name, what, param, key string }{
	{"product", "a product of 8 × 8 blocks of 128²", "a", "i, k"},
	{"gcn", "a GCN layer, 20,000 edges, 64 → 32", "w", "id"},
	{"nnmf", "NNMF, 50,000 ratings, 15 factors", "taste", "userid"},
}

// settings turn off just-in-time compilation and parallel workers, which would make the measurements vary.
const settings = "SET search_path = public, relgrad; SET jit = off; SET max_parallel_workers_per_gather = 0"

func start(t testing.TB) (*pgcluster.Cluster, *server) {
	t.Helper()
	c := pgcluster.Start(t)
	s := connect(t, c.DSN)
	s.must("CREATE EXTENSION relgrad; " + settings)
	return c, s
}

func connect(t testing.TB, dsn string) *server {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return &server{Conn: conn, t: t, dsn: dsn}
}

// must runs statements one by one and returns the first value of the last row; arrays and numbers as text.
func (s *server) must(sql string) string {
	s.t.Helper()
	results, err := s.PgConn().Exec(context.Background(), sql).ReadAll()
	if err != nil {
		s.t.Fatalf("%s: %v", sql, err)
	}
	r := results[len(results)-1]
	if len(r.Rows) == 0 || len(r.Rows[0]) == 0 {
		return ""
	}
	return string(r.Rows[len(r.Rows)-1][0])
}

// file runs the statements of a file of this folder one by one, since some cannot run inside a transaction.
func (s *server) file(name string) {
	s.t.Helper()
	for _, sql := range strings.SplitAfter(read(s.t, name), ";\n") {
		s.must(sql)
	}
}

func read(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// peers compiles the hand-written C functions with which relgrad's are compared, and declares them to the server.
func (s *server) peers() {
	s.t.Helper()
	config := "pg_config"
	if p := os.Getenv("PG_CONFIG"); p != "" {
		config = p
	}
	include, err := exec.Command(config, "--includedir-server").Output()
	if err != nil {
		s.t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "relgrad-bench")
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { os.RemoveAll(dir) })
	lib := filepath.Join(dir, "peers.so")
	if out, err := exec.Command("gcc", "-O2", "-ftree-vectorize", "-Wall", "-Werror", "-shared", "-fPIC", "-isystem",
		strings.TrimSpace(string(include)), "peers/peers.c", "-o", lib).CombinedOutput(); err != nil {
		s.t.Fatalf("%v\n%s", err, out)
	}
	if err := os.Chmod(dir, 0o755); err != nil { // the server runs as another user
		s.t.Fatal(err)
	}
	s.must(strings.ReplaceAll(read(s.t, "peers/peers.sql"), ":lib", "'"+lib+"'"))
}

// generated is the gradient of a model as relgrad prints it.
func (s *server) generated(name, param string) string {
	s.t.Helper()
	text := s.must("SELECT explain_gradient('" + name + "_loss', '" + param + "', 'sql')")
	at := strings.Index(text, "-- the gradient")
	if at < 0 {
		s.t.Fatalf("no gradient in\n%s", text)
	}
	return strings.TrimRight(strings.TrimSpace(text[at:]), ";") + "\n"
}

// takes runs a statement and returns the time until all of its rows have arrived. They are dropped, not decoded.
func (s *server) takes(sql string) (time.Duration, error) {
	begin := time.Now()
	_, err := s.Exec(context.Background(), sql, pgx.QueryExecModeSimpleProtocol)
	return time.Since(begin), err
}

// alternate measures two statements.
func (s *server) alternate(runs int, ours, peer string) *Pair {
	s.t.Helper()
	p, err := Alternate(runs, func() (time.Duration, error) { return s.takes(ours) },
		func() (time.Duration, error) { return s.takes(peer) })
	if err != nil {
		s.t.Fatal(err)
	}
	return p
}

// chunks returns the numbers of all chunks in column v of a query.
func (s *server) chunks(sql string) []float64 {
	s.t.Helper()
	rows, err := s.Query(context.Background(), "SELECT x::double precision FROM (\n"+sql+
		"\n) AS q, unnest(q.v) WITH ORDINALITY AS u(x, place)")
	if err != nil {
		s.t.Fatal(err)
	}
	out, err := pgx.CollectRows(rows, pgx.RowTo[float64])
	if err != nil {
		s.t.Fatalf("%s: %v", sql, err)
	}
	return out
}

func (s *server) same(what, ours, peer string) {
	s.t.Helper()
	a, b := s.chunks(ours), s.chunks(peer)
	if len(a) != len(b) || len(a) == 0 {
		s.t.Errorf("%s: %d numbers, %d of the peer", what, len(a), len(b))
		return
	}
	most, scale := 0.0, 0.0
	for i := range a {
		most, scale = max(most, math.Abs(a[i]-b[i])), max(scale, math.Abs(b[i]))
	}
	if !(most <= 2e-6*scale) || scale == 0 {
		s.t.Errorf("%s: differs by %g, numbers up to %g", what, most, scale)
	}
}

// TestPostgresPeers checks that the statements that are compared compute the same.
func TestPostgresPeers(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	_, s := start(t)
	for _, m := range models {
		s.file("postgres/" + m.name + ".sql")
		text := s.generated(m.name, m.param)
		s.same(m.name+" by hand", text, read(t, "postgres/"+m.name+".hand.sql"))
		s.same(m.name+" in the engine", text, "SELECT * FROM gradient('"+m.name+"_loss', NULL::"+m.param+") ORDER BY "+m.key)
	}
	s.peers()
	s.must("CREATE TABLE pair AS SELECT i AS id, random_uniform(ARRAY[256, 256], 1, ARRAY[0, i])::real[] AS a, " +
		"random_uniform(ARRAY[256, 256], 1, ARRAY[1, i])::real[] AS b FROM generate_series(1, 3) AS i")
	if s.must("SELECT count(matmul(a, b)) FROM pair") != "3" || !s.hasBLAS() {
		t.Skip("needs OpenBLAS: no libopenblas.so.0 in the server")
	}
	s.same("a product", "SELECT matmul(a, b) AS v FROM pair ORDER BY id",
		"SELECT bench_product(a, b) AS v FROM pair ORDER BY id")
	if got, want := s.must("SELECT scan_chunks(a) FROM pair"), fmt.Sprint(3*(32+4*256*256)); got != want {
		t.Errorf("a scan of %s bytes, not %s", got, want)
	}
}

// hasBLAS reports whether this backend has loaded the library. Without it the peers of matmul are missing.
func (s *server) hasBLAS() bool {
	_, err := s.Exec(context.Background(), "SELECT bench_sgemm(a, 1) FROM pair LIMIT 1", pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		s.t.Log(err)
	}
	return err == nil
}
