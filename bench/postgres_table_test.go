package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// What is trained from tables: so many users have 100 ratings each, of 5,000 items. It takes so many steps of Adam.
const (
	tableUsers = 10000
	tableSteps = 50
)

// fromTable compares training where the data lie with a copy of them to PyTorch and of the parameters back.
func fromTable(s *server, out *Table) {
	makeRatings(s, tableUsers)
	what := fmt.Sprintf("%d steps of Adam on %d ratings in a table, rank 64, by `CALL train`, against COPY out, PyTorch, "+
		"COPY back; all included", tableSteps, 100*tableUsers)
	ours := func() (time.Duration, error) { return trainTable(s, tableSteps) }
	if _, err := copiedTable(s, tableSteps); errors.Is(err, ErrMissing) {
		var times []float64
		for range 3 {
			d, err := ours()
			if err != nil {
				s.t.Fatal(err)
			}
			times = append(times, d.Seconds())
		}
		out.Add(what, Seconds(Median(times)), err.Error(), "", "", "")
		return
	}
	p, err := Alternate(3, ours, func() (time.Duration, error) { return copiedTable(s, tableSteps) })
	if err != nil {
		s.t.Fatal(err)
	}
	out.AddPair(what, p, "")
}

func makeRatings(s *server, users int) {
	s.t.Helper()
	for _, sql := range strings.SplitAfter(read(s.t, "postgres/ratings.sql"), ";\n") {
		s.must(strings.ReplaceAll(sql, ":users", strconv.Itoa(users)))
	}
}

// beginTable gives the factors their first values, the same each time.
func beginTable(s *server) {
	for _, of := range [][2]string{{"taste", "usr"}, {"trait", "item"}} {
		s.must(fmt.Sprintf("TRUNCATE %[1]s; INSERT INTO %[1]s SELECT k, (0.3 * random_uniform(ARRAY[64], 1, "+
			"ARRAY[%[3]d, k]))::real[] FROM (SELECT DISTINCT %[2]s AS k FROM rating) AS r; ANALYZE %[1]s", of[0], of[1],
			len(of[1])))
	}
}

// trainTable trains in a session of its own, whose engine begins with the call.
func trainTable(s *server, steps int) (time.Duration, error) {
	beginTable(s)
	own := connect(s.t, s.dsn)
	own.must(settings)
	return own.takes(fmt.Sprintf("CALL train('rating_loss', ARRAY['taste', 'trait'], optimizer => 'adam', lr => 0.01, "+
		"epochs => %d)", steps))
}

// copiedTable is the same by the peer, which says how long it took.
func copiedTable(s *server, steps int) (time.Duration, error) {
	beginTable(s)
	root, err := Folder()
	if err != nil {
		return 0, err
	}
	python := Python(root)
	if _, err := os.Stat(python); err != nil {
		return 0, fmt.Errorf("%w: no %s; scripts/bench-setup makes it", ErrMissing, python)
	}
	if _, err := exec.LookPath("psql"); err != nil {
		return 0, fmt.Errorf("%w: psql", ErrMissing)
	}
	cmd := exec.Command(python, "peers/table_torch.py", "copy", ".", strconv.Itoa(steps), "3600")
	cmd.Env = append(os.Environ(), "PEER_DSN="+s.dsn, fmt.Sprintf("OMP_NUM_THREADS=%d", runtime.NumCPU()))
	text, _, err := execute(cmd)
	if err != nil {
		if strings.Contains(err.Error(), "ModuleNotFoundError") {
			return 0, fmt.Errorf("%w: a library of table_torch.py", ErrMissing)
		}
		return 0, err
	}
	var run Run
	if err := json.Unmarshal([]byte(text), &run); err != nil || len(run.Steps) != 1 {
		return 0, fmt.Errorf("table_torch.py printed %s (%w)", text, err)
	}
	return time.Duration(run.Steps[0] * float64(time.Second)), nil
}

// TestPostgresTable trains by both ways from the same tables: the losses of what they leave there agree.
func TestPostgresTable(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	_, s := start(t)
	makeRatings(s, 100)
	loss := func() float64 {
		x, err := strconv.ParseFloat(s.must("SELECT loss FROM rating_loss"), 64)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	beginTable(s)
	losses := []float64{loss()}
	for _, way := range []func(*server, int) (time.Duration, error){trainTable, copiedTable} {
		d, err := way(s, 10)
		if errors.Is(err, ErrMissing) {
			t.Log(err)
			continue
		}
		if err != nil || d <= 0 {
			t.Fatal(d, err)
		}
		losses = append(losses, loss())
	}
	if slices.Max(losses[1:]) >= losses[0] {
		t.Errorf("losses %v: the first is before training", losses)
	}
	for _, x := range losses[1:] {
		if math.Abs(x-losses[1]) > 1e-4*losses[1] {
			t.Errorf("losses %v: the second by relgrad, the third by the peer", losses)
		}
	}
}
