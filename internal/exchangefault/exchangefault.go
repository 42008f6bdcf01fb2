// Package exchangefault builds relgrad with a network between sites that fails when a test says so.
//
// # What
//
// Build lays another executor/device/exchange.go over the real one (go build -overlay): at three places of an exchange
// it asks whether something shall happen to the site. A test says that with Plan. Nothing of it is in the tree's own
// code.
//
// # Invariants
//
// A plan happens once. Happened tells that it has, and so that what a test sees is its doing.
//
// # Errors
//
// A place that exchange.go does not have exactly once fails the test.
//
// # Where to add
//
// Something that can happen is a case in planted.go.txt, a place is one of the texts in places.
package exchangefault

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/relgrad/relgrad/internal/need"
)

//go:embed planted.go.txt
var planted string

// places are the texts of exchange.go before which something may happen to a site, and what they are called: before it
// comes, while the others wait for it; amid the rows that it copies; behind them, while the others wait for it to go.
var places = map[string]string{
	"before": "	t, err := p.come(x.Number, sent)\n",
	"amid":   "		copyRows(&into, from, part.Rows)\n",
	"behind": "	p.net.leave(t)\n",
}

// Model is a loss whose training moves rows at each step.
const Model = `
CREATE TABLE w (u int PRIMARY KEY, v double precision[] NOT NULL);
INSERT INTO w SELECT u, random_uniform(ARRAY[3], 1, ARRAY[1, u]) FROM generate_series(1, 23) AS g(u);
CREATE TABLE h (i int PRIMARY KEY, v double precision[] NOT NULL);
INSERT INTO h SELECT i, random_uniform(ARRAY[3], 2, ARRAY[2, i]) FROM generate_series(1, 17) AS g(i);
CREATE TABLE a (u int, i int, x double precision NOT NULL, PRIMARY KEY (u, i));
INSERT INTO a SELECT u, i, (u * 3 + i) % 5 / 2.0 FROM w CROSS JOIN h WHERE (u + i * 3) % 4 > 0;
CREATE VIEW loss AS SELECT avg((a.x - dot(w.v, h.v)) ^ 2) AS loss FROM a JOIN w USING (u) JOIN h USING (i);`

// Train trains it.
const Train = "CALL train('loss', ARRAY['w', 'h'], lr => 0.05, epochs => 40)"

// Program is relgrad, built with such a network.
type Program struct {
	File string // the program
	plan string // the file in which it looks for what shall happen
}

// Build builds the program. Whoever runs it must be able to write in dir, which it looks into.
func Build(t testing.TB, dir string) *Program {
	t.Helper()
	folder := filepath.Join(need.Root(), "executor", "device")
	text, err := os.ReadFile(filepath.Join(folder, "exchange.go"))
	if err != nil {
		t.Fatal(err)
	}
	p := &Program{filepath.Join(t.TempDir(), "relgrad"), filepath.Join(dir, "plan")}
	code := string(text)
	for name, place := range places {
		if strings.Count(code, place) != 1 {
			t.Fatalf("exchange.go has the text %q %d times", place, strings.Count(code, place))
		}
		ctx := "ctx"
		if name == "amid" { // what copies does not look at it
			ctx = "context.Background()"
		}
		code = strings.Replace(code, place, fmt.Sprintf("if err := planted(%s, p.site, %q); err != nil {\nreturn err\n}\n",
			ctx, name)+place, 1)
	}
	work := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(work, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {
		filepath.Join(folder, "exchange.go"): write("exchange.go", code),
		filepath.Join(folder, "planted.go"):  write("planted.go", strings.Replace(planted, "PLAN", p.plan, 1)),
	}})
	if err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-buildvcs=false", "-overlay", write("overlay.json", string(overlay)), "-o",
		p.File, "./cmd/relgrad")
	build.Dir = need.Root()
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building relgrad with a network that fails: %v\n%s", err, out)
	}
	return p
}

// Plan has something happen to a site at a place of its exchanges: kill, panic, memory, error or wait, once it has
// passed there so many times.
func (p *Program) Plan(t testing.TB, what string, site int, place string, passed int) {
	t.Helper()
	_ = os.Remove(p.plan + ".done")
	if places[place] == "" {
		t.Fatalf("an exchange has no place %q", place)
	}
	begun := p.plan + ".new" // a program never sees half a plan
	if err := os.WriteFile(begun, fmt.Appendf(nil, "%s %d %s %d", what, site, place, passed), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(begun, p.plan); err != nil {
		t.Fatal(err)
	}
}

// Happened waits a while for what is planned, and fails where it has not happened.
func (p *Program) Happened(t testing.TB, within time.Duration) {
	t.Helper()
	for begin := time.Now(); ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(p.plan + ".done"); err == nil {
			return
		} else if time.Since(begin) > within {
			plan, _ := os.ReadFile(p.plan)
			t.Fatalf("what is planned has not happened: %s", plan)
		}
	}
}
