package relgrad

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/relgrad/relgrad/internal/need"
)

// asked is a context that measures how long its thread works from one question whether it is cancelled to the next.
type asked struct {
	context.Context
	mu      sync.Mutex
	last    time.Duration
	at      string
	longest time.Duration
	from    string
	to      string
}

const rusageThread = 1 // RUSAGE_THREAD: what else runs on the machine does not count

func worked() time.Duration {
	var r syscall.Rusage
	_ = syscall.Getrusage(rusageThread, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

func (a *asked) note() {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, file, line, _ := runtime.Caller(2)
	at := fmt.Sprint(file[strings.LastIndex(file, "/")+1:], ":", line)
	if d := worked() - a.last; d > a.longest {
		a.longest, a.from, a.to = d, a.at, at
	}
	a.at, a.last = at, worked()
}

func (a *asked) Err() error            { a.note(); return a.Context.Err() }
func (a *asked) Done() <-chan struct{} { a.note(); return a.Context.Done() }

// TestPlanningAsksOften: while very large losses are planned, nothing works for 100 ms without asking whether it is
// cancelled.
func TestPlanningAsksOften(t *testing.T) {
	need.Time(t)
	const n, most = 1000, 100 * time.Millisecond
	list := func(sep, term string) string {
		t := make([]string, n)
		for i := range t {
			t[i] = fmt.Sprintf(term, i+1)
		}
		return strings.Join(t, sep)
	}
	db, err := Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Run(context.Background(), `CREATE TABLE x (t int PRIMARY KEY, v double precision);
INSERT INTO x VALUES (1, 0.5), (2, 0.25);
CREATE TABLE w (one int PRIMARY KEY, w double precision); INSERT INTO w VALUES (1, 0.5);`+
		list("", `CREATE TABLE p%[1]d (id int PRIMARY KEY, x double precision);
INSERT INTO p%[1]d VALUES (1, 0.5), (2, 0.25);`)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, loss string
		params     []string
	}{
		{"sub-queries", "SELECT " + list(" + ", "(SELECT sum(x.v * w.w) FROM x CROSS JOIN w WHERE x.t <> %d + 9)"),
			[]string{"w"}},
		{"parameters", "SELECT " + list(" + ", "(SELECT sum(x * x) FROM p%d)"), strings.Split(list(" ", "p%d"), " ")},
		{"conditions", "SELECT sum(x.v * w.w) FROM x CROSS JOIN w WHERE " + list(" AND ", "x.t <> %d + 9"), []string{"w"}},
		{"a union", "SELECT sum(q * q) FROM (" +
			list(" UNION ALL ", "SELECT w * 2 AS q FROM w WHERE one <> %d + 1") + ") t", []string{"w"}},
	} {
		var best *asked
		for try := 0; try < 3 && (best == nil || best.longest > most); try++ { // the collector takes a share of some
			a := planned(t, db, "/* "+fmt.Sprint(try)+" */ "+c.loss, c.params)
			if best == nil || a.longest < best.longest {
				best = a
			}
		}
		t.Logf("%s: %v from %s to %s", c.name, best.longest, best.from, best.to)
		if best.longest > most {
			t.Errorf("%s: from %s to %s it works for %v", c.name, best.from, best.to, best.longest)
		}
	}
}

func planned(t *testing.T, db *DB, loss string, params []string) *asked {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	a := &asked{Context: context.Background(), last: worked(), at: "the call"}
	if _, err := db.Backward(a, loss, params, nil, 0); err != nil {
		t.Fatal(err)
	}
	return a
}
