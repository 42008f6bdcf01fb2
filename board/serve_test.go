package board

import (
	"context"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/relgrad/relgrad"
	"github.com/relgrad/relgrad/internal/pgcluster"
	"github.com/relgrad/relgrad/internal/sqlerr"
)

// model makes two tables of parameters, a loss and three runs; the first has validations.
const model = `
CREATE TABLE w (id int PRIMARY KEY, x double precision);
INSERT INTO w SELECT g, sin(g) * 3 FROM generate_series(1, 500) AS g;
CREATE TABLE v (k int PRIMARY KEY, c real[]);
INSERT INTO v VALUES (1, '{0.1,0.2,0.3}'), (2, '{0.5,-0.2,0.3}');
CREATE TABLE d (id int, k int, y double precision, PRIMARY KEY (id, k));
INSERT INTO d SELECT g, 1 + g % 2, cos(g) FROM generate_series(1, 500) AS g;
CREATE VIEW loss AS SELECT sum((w.x * dot(v.c, v.c) - d.y) ^ 2) / 500 + 1 AS loss
  FROM d JOIN w ON w.id = d.id JOIN v ON v.k = d.k;
CREATE VIEW mean AS SELECT avg(x * x) AS v, max(x) AS most, min(x) FILTER (WHERE x > 99) AS none FROM w;
CALL train('loss', ARRAY['w','v'], optimizer => 'adam', lr => 0.01, epochs => 300, validate => 'mean', every => 5);
CALL train('loss', ARRAY['w','v'], optimizer => 'sgd', lr => 0.01, epochs => 200);
CALL train('loss', ARRAY['w.x'], optimizer => 'sgd', lr => 0.02, epochs => 400);`

// filled makes a store that has run a text.
func filled(t *testing.T, sql string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "model.db")
	runOn(t, file, sql)
	return file
}

func runOn(t *testing.T, file, sql string) {
	t.Helper()
	db, err := relgrad.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Run(context.Background(), sql); err != nil {
		t.Fatal(sqlerr.Render(err))
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// serve serves a board until the test ends.
func serve(t *testing.T, open func(context.Context) (*Session, error)) *Server {
	t.Helper()
	b := New("model.db", open)
	s, err := Listen(b, 0)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- s.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func onStore(file string) func(context.Context) (*Session, error) {
	return func(context.Context) (*Session, error) { return OpenStore(file) }
}

// reader is a browser that has opened the address with the token.
type reader struct {
	t      *testing.T
	client http.Client
	base   string
}

func newReader(t *testing.T, s *Server) *reader {
	jar, _ := cookiejar.New(nil)
	r := &reader{t: t, client: http.Client{Jar: jar}}
	u, err := url.Parse(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	r.base = "http://" + u.Host
	if status, text := r.get(u.RequestURI()); status != 200 || !strings.Contains(text, "<main") {
		t.Fatal(status, text)
	}
	return r
}

func (r *reader) get(path string) (int, string) {
	r.t.Helper()
	res, err := r.client.Get(r.base + path)
	if err != nil {
		r.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// ask reads an answer, which must be no error.
func (r *reader) ask(path string, into any) {
	r.t.Helper()
	status, text := r.get(path)
	if err := json.Unmarshal([]byte(text), into); err != nil || status != 200 {
		r.t.Fatalf("%s: %d %v %s", path, status, err, text)
	}
}

// Who does not know the token, comes by another name or wants to write gets nothing.
func TestGuard(t *testing.T) {
	s := serve(t, onStore(filled(t, "CREATE TABLE w (id int PRIMARY KEY)")))
	u, _ := url.Parse(s.URL())
	if u.Hostname() != "127.0.0.1" {
		t.Errorf("it listens on %s", u.Host)
	}
	base, good := "http://"+u.Host, "relgrad_board_"+u.Port()+"="+u.Query().Get("token")
	plain := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for _, c := range []struct {
		name, method, path, host, cookie string
		status                           int
	}{
		{"with the token", "GET", u.RequestURI(), "", "", 303},
		{"with the cookie", "GET", "/api/runs", "", good, 200},
		{"by the name localhost", "GET", "/", "localhost:" + u.Port(), good, 200},
		{"without either", "GET", "/", "", "", 403},
		{"a file without either", "GET", "/main.js", "", "", 403},
		{"an answer without either", "GET", "/api/runs", "", "", 403},
		{"a wrong token", "GET", "/?token=" + strings.Repeat("0", 48), "", "", 403},
		{"an empty token", "GET", "/?token=", "", "", 403},
		{"a wrong cookie", "GET", "/api/runs", "", good + "0", 403},
		{"the token elsewhere than on the first page", "GET", "/api/runs?" + u.RawQuery, "", "", 403},
		{"a foreign host", "GET", "/api/runs", "evil.example:" + u.Port(), good, 421},
		{"a foreign host with the token", "GET", u.RequestURI(), "evil.example", "", 421},
		{"another port", "GET", "/api/runs", "127.0.0.1:1", good, 421},
		{"POST", "POST", "/api/runs", "", good, 405},
		{"DELETE", "DELETE", "/api/runs", "", good, 405},
		{"a file that does not exist", "GET", "/none.js", "", good, 404},
		{"a file outside", "GET", "/..%2fserve.go", "", good, 404},
		{"a question that does not exist", "GET", "/api/none", "", good, 404},
	} {
		req, err := http.NewRequest(c.method, base+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = c.host
		if c.cookie != "" {
			req.Header.Set("Cookie", c.cookie)
		}
		res, err := plain.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode != c.status {
			t.Errorf("%s: status %d, not %d", c.name, res.StatusCode, c.status)
		}
		if c.status >= 400 && strings.Contains(string(text), u.Query().Get("token")) {
			t.Errorf("%s: the answer tells the token", c.name)
		}
		if p := res.Header.Get("Content-Security-Policy"); !strings.HasPrefix(p, "default-src 'none'") ||
			strings.Contains(p, "unsafe") {
			t.Errorf("%s: policy %q", c.name, p)
		}
		set := res.Header.Get("Set-Cookie")
		if (set != "") != (c.status == 303) || set != "" && !(strings.Contains(set, "HttpOnly") &&
			strings.Contains(set, "SameSite=Strict")) {
			t.Errorf("%s: cookie %q", c.name, set)
		}
	}
}

// What the pages ask, on a store, which stays as it is.
func TestStore(t *testing.T) {
	file := filled(t, model)
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	answers(t, onStore(file))
	after, err := os.ReadFile(file)
	if err != nil || string(after) != string(before) {
		t.Error("the store has changed", err)
	}
	s, err := OpenStore(file)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, sql := range []string{"DELETE FROM relgrad.run", "UPDATE w SET x = 0", "CREATE TABLE other (id int)"} {
		if _, err := s.RunSQL(context.Background(), sql); err == nil {
			t.Errorf("%s: no error", sql)
		}
	}
	if _, err := OpenStore(filepath.Join(t.TempDir(), "none.db")); sqlerr.Code(err) != sqlerr.UndefinedFile {
		t.Error(err)
	}
}

// The same on a server.
func TestServer(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	c := pgcluster.Start(t)
	client := c.Client("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", c.DSN)
	client.Stdin = strings.NewReader("CREATE EXTENSION relgrad; SET search_path = public, relgrad;" + model)
	if out, err := client.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	open := func(ctx context.Context) (*Session, error) { return OpenServer(ctx, c.DSN) }
	answers(t, open)
	s, err := open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.RunSQL(context.Background(), "UPDATE w SET x = 0"); sqlerr.Code(err) != "25006" {
		t.Errorf("a write: %v", err)
	}
}

func answers(t *testing.T, open func(context.Context) (*Session, error)) {
	r := newReader(t, serve(t, open))
	var l list
	r.ask("/api/runs", &l)
	if len(l.Runs) != 3 || l.Runs[0].Fields["status"] != "finished" || l.Runs[0].Options["optimizer"] != "adam" ||
		l.Runs[1].Options["beta1"] != nil || l.Runs[0].Last["loss"] == 0 || l.Runs[0].Last["validation"] == 0 ||
		len(l.Runs[1].Last) != 1 || !(l.Runs[0].Last["most"] > 1) || len(l.Runs[0].Last) != 3 ||
		!slices.Equal(l.Metrics, []string{"loss", "validation", "most", "none"}) {
		t.Errorf("runs: %+v", l)
	}
	var c chart
	r.ask("/api/curves?run=1,2,3&points=1000", &c)
	if len(c.X) != 400 || c.Steps != [2]int64{1, 400} || len(c.Lines) != 5 ||
		float64(c.Lines[0].Y[299])-l.Runs[0].Last["loss"] > 1e-8 {
		t.Errorf("curves: %d places, %v, %d lines", len(c.X), c.Steps, len(c.Lines))
	}
	r.ask("/api/curves?run=1&metric=validation", &c)
	if len(c.Lines) != 1 || c.Lines[0].Metric != "validation" || len(c.X) != 60 {
		t.Errorf("validation: %d places of %d lines", len(c.X), len(c.Lines))
	}
	r.ask("/api/curves?run=1,2&metric=most", &c)
	if len(c.Lines) != 1 || c.Lines[0].Metric != "most" || len(c.X) != 60 ||
		math.Abs(float64(c.Lines[0].Y[59])-l.Runs[0].Last["most"]) > 1e-7 {
		t.Errorf("a column of the validation: %d places of %d lines", len(c.X), len(c.Lines))
	}
	var ms []measures
	r.ask("/api/parameters?run=1", &ms)
	if len(ms) != 2 || ms[0].Name != "w.x" || ms[0].Elements != 500 || ms[1].Elements != 6 || !(ms[0].Norm > 0) {
		t.Errorf("parameters: %+v", ms)
	}
	for _, stage := range []string{"ra", "grad", "opt", "physical", "analyze", "sites:3"} {
		var p drawn
		r.ask("/api/plan?run=1&stage="+stage, &p)
		seconds := 0.0
		for i, n := range p.Nodes {
			for _, in := range n.Inputs {
				if in >= i {
					t.Errorf("stage %s: node %d reads node %d", stage, i, in)
				}
			}
			seconds += n.Seconds
		}
		roots := map[string]int{"ra": 1, "physical": 0, "analyze": 0}
		want, ok := roots[stage]
		if !ok {
			want = 3
		}
		if len(p.Nodes) < 4 || len(p.Roots) != want || (seconds > 0) != (stage == "analyze") {
			t.Errorf("stage %s: %d nodes, roots %v, %g s", stage, len(p.Nodes), p.Roots, seconds)
		}
	}
	var x texts
	r.ask("/api/sql?run=1", &x)
	if len(x.Parts) != 3 || x.Parts[0].Name != "loss" || !strings.Contains(x.Parts[2].SQL, "SELECT") ||
		!strings.Contains(x.View, "500") {
		t.Errorf("sql: %+v", x)
	}
	for path, want := range map[string]struct {
		status int
		code   string
	}{
		"/api/curves?run=9":               {404, sqlerr.UndefinedObject},
		"/api/curves?run=one":             {400, sqlerr.InvalidText},
		"/api/curves?run=1&smooth=1":      {400, sqlerr.InvalidParameter},
		"/api/curves?run=1&points=1e9":    {400, sqlerr.InvalidParameter},
		"/api/plan?run=9&stage=opt":       {404, sqlerr.UndefinedObject},
		"/api/plan?run=1&stage=none":      {400, sqlerr.InvalidParameter},
		"/api/plan?run=1,2&stage=opt":     {400, sqlerr.InvalidParameter},
		"/api/plan?run=1&stage=sites:0":   {400, sqlerr.InvalidParameter},
		"/api/parameters?run=1;DROP":      {400, sqlerr.InvalidText},
		"/api/sql?run=9":                  {404, sqlerr.UndefinedObject},
		"/api/curves?run=1&from=nowhere":  {400, sqlerr.InvalidText},
		"/api/curves?run=" + many(t, 201): {400, sqlerr.InvalidParameter},
	} {
		status, text := r.get(path)
		var f failure
		if err := json.Unmarshal([]byte(text), &f); err != nil || status != want.status || f.Code != want.code ||
			!strings.Contains(f.Text, f.Message) {
			t.Errorf("%.60s: %d %s, not %d %s", path, status, text, want.status, want.code)
		}
	}
}

func many(t *testing.T, n int) string {
	t.Helper()
	return strings.TrimSuffix(strings.Repeat("1,", n), ",")
}

// Steps that are stored while the board is open show, and so do those of a run that has taken another's number.
func TestStepsArrive(t *testing.T) {
	file := filled(t, model)
	r := newReader(t, serve(t, onStore(file)))
	last := func() int64 {
		var c chart
		r.ask("/api/curves?run=3", &c)
		return c.Steps[1]
	}
	if n := last(); n != 400 {
		t.Fatal(n)
	}
	runOn(t, file, `INSERT INTO relgrad.loss (run, step, epoch, loss, at) VALUES (3, 401, 401, 0.5, '2026-01-01');
		UPDATE relgrad.run SET step = 401 WHERE run = 3`)
	if n := last(); n != 401 {
		t.Errorf("after one step more the last is %d", n)
	}
	beside := func() (n int) {
		var c chart
		r.ask("/api/curves?run=1&metric=most", &c)
		return len(c.X)
	}
	if n := beside(); n != 60 {
		t.Errorf("%d figures beside the first", n)
	}
	runOn(t, file, `INSERT INTO relgrad.loss (run, step, epoch, loss, at) VALUES (1, 301, 301, 0.5, '2026-01-01');
		INSERT INTO relgrad.validation (run, step, position, name, value) VALUES (1, 301, 2, 'most', 3)`)
	if n := beside(); n != 61 {
		t.Errorf("%d figures beside the first after one more", n)
	}
	runOn(t, file, `DELETE FROM relgrad.loss WHERE run = 3 AND step > 100`)
	if n := last(); n != 100 {
		t.Errorf("after steps were deleted the last is %d", n)
	}
	runOn(t, file, `DELETE FROM relgrad.loss WHERE run = 3; DELETE FROM relgrad.state WHERE run = 3;
		DELETE FROM relgrad.run WHERE run = 3;
		CALL train('loss', ARRAY['v'], optimizer => 'sgd', lr => 0.01, epochs => 150)`)
	if n := last(); n != 150 {
		t.Errorf("a new run of that number: the last step is %d", n)
	}
}
