package main

import (
	"bytes"
	"encoding/csv"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// trainedStore makes a store with two runs, of 30 and 50 steps; the second has validations.
func trainedStore(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	sql := filepath.Join(dir, "train.sql")
	text := `SET search_path = public, relgrad;
CREATE TABLE w (id int PRIMARY KEY, x double precision);
INSERT INTO w VALUES (1, 3), (2, -2);
CREATE VIEW loss AS SELECT sum(x * x) AS loss FROM w;
CREATE VIEW mean AS SELECT avg(x * x) AS v, avg(abs(x)) AS "far off", max(x) FILTER (WHERE x > 99) AS none FROM w;
CALL train('loss', ARRAY['w'], optimizer => 'sgd', lr => 0.05, epochs => 30);
UPDATE w SET x = 4;
CALL train('loss', ARRAY['w'], optimizer => 'nesterov', lr => 0.01, epochs => 50, validate => 'mean', every => 5,
  name => 'second', tags => ARRAY['a', 'b c'], note => 'from 4');`
	if err := os.WriteFile(sql, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	store := filepath.Join(dir, "s.db")
	if _, status := captured(t, "run", "-q", "--store", store, sql); status != 0 {
		t.Fatal(status)
	}
	return store
}

// captured runs a command line and returns its standard output and status.
func captured(t *testing.T, args ...string) (string, int) {
	t.Helper()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	errs := os.Stderr
	os.Stderr = null
	defer func() { os.Stderr = errs }()
	return captureStdout(t, args...)
}

// captureStdout runs a command line and returns its standard output and status.
func captureStdout(t *testing.T, args ...string) (out string, status int) {
	t.Helper()
	return redirected(t, &os.Stdout, func() int { return realMain(args) })
}

// redirected returns what run writes to a standard stream, and run's result.
func redirected(t *testing.T, stream **os.File, run func() int) (string, int) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan []byte)
	go func() {
		b, _ := io.ReadAll(r)
		done <- b
	}()
	old := *stream
	*stream = w
	defer func() { *stream = old }()
	status := run()
	w.Close()
	return string(<-done), status
}

// table reads CSV output as a map from the first column to the others.
func table(t *testing.T, text string) map[string][]string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	out := map[string][]string{}
	for _, r := range rows {
		out[r[0]] = r[1:]
	}
	return out
}

func TestRuns(t *testing.T) {
	store := trainedStore(t)
	runs := func(args ...string) (string, int) {
		return captured(t, append([]string{"runs", "--store", store, "--format", "csv"}, args...)...)
	}
	out, _ := runs()
	if list := table(t, out); len(list) != 3 || list["1"][2] != "finished" || list["1"][3] != "30" ||
		list["1"][4] != "13" || list["2"][6] == "" || list["1"][7] != "" ||
		!strings.HasPrefix(list["2"][7], "v ") || !strings.HasSuffix(list["2"][7], ", none NULL") ||
		!strings.Contains(list["2"][7], ", far off ") {
		t.Errorf("list:\n%s", out)
	}
	out, _ = runs("show", "2")
	show := table(t, out)
	if show["optimizer"][0] != "nesterov" || show["validate"][0] != "mean" || show["momentum"][0] != "0.9" ||
		show["alpha"] != nil || show["step"][0] != "50" || show["name"][0] != "second" || show["tags"][0] != "a, b c" ||
		len(show["far off at best"]) != 1 || show["far off at best"][0] != "0.10359" ||
		show["last far off"][0] != "0.17833" ||
		show["last none"][0] != "NULL" ||
		show["note"][0] != "from 4" || show["parameters"][0] != "w" {
		t.Errorf("show:\n%s", out)
	}
	out, _ = runs("compare", "2", "1")
	if cmp := table(t, out); cmp["property"][0] != "run 2" || cmp["lr"][0] != "0.01" || cmp["lr"][1] != "0.05" ||
		cmp["schedule"] != nil || cmp["validate"][1] != "" ||
		cmp["last v"][0] == "" || cmp["last v"][1] != "" {
		t.Errorf("compare:\n%s", out)
	}
	for _, tc := range []struct {
		status int
		args   []string
	}{{1, []string{"show", "7"}}, {1, []string{"compare", "1", "7"}}, {1, []string{"delete", "7"}},
		{1, []string{"show", "x"}}, {2, []string{"show"}}, {2, []string{"compare", "1"}},
		{2, []string{"delete"}}, {2, []string{"shw", "1"}}, {2, []string{"--format", "xml"}}} {
		if _, got := runs(tc.args...); got != tc.status {
			t.Errorf("runs %v: status %d, want %d", tc.args, got, tc.status)
		}
	}
	if _, status := runs("delete", "1", "7"); status != 1 {
		t.Error("a run that does not exist was deleted")
	}
	if out, _ = runs(); table(t, out)["1"] == nil {
		t.Error("a deletion that failed has removed a run")
	}
	if _, status := runs("delete", "1", "1"); status != 0 {
		t.Fatal(status)
	}
	if out, _ = runs(); len(table(t, out)) != 2 || table(t, out)["1"] != nil {
		t.Errorf("after delete:\n%s", out)
	}
}

func TestPlot(t *testing.T) {
	store := trainedStore(t)
	dir := t.TempDir()
	svg, img := filepath.Join(dir, "a.svg"), filepath.Join(dir, "a.PNG")
	out, status := captured(t, "plot", "--store", store, "1", "2")
	for _, want := range []string{"─ run 1, loss: 13 to ", "* run 2 (second), loss: 32 to ",
		"+ run 2 (second), validation: "} {
		if status != 0 || !strings.Contains(out, want) {
			t.Errorf("status %d, no %q in\n%s", status, want, out)
		}
	}
	if out, _ = captured(t, "plot", "--store", store); strings.Contains(out, "run 1") || !strings.Contains(out, "run 2") {
		t.Errorf("not the last run:\n%s", out)
	}
	if _, status = captured(t, "plot", "--store", store, "1", "2", "-o", svg); status != 0 {
		t.Fatal(status)
	}
	text, err := os.ReadFile(svg)
	for _, want := range []string{"run 1, loss", "run 2 (second), loss", "run 2 (second), validation"} {
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("no %q in the SVG (%v)", want, err)
		}
	}
	if _, status = captured(t, "plot", "--store", store, "-o", img, "2"); status != 0 {
		t.Fatal(status)
	}
	b, err := os.ReadFile(img)
	if err != nil {
		t.Fatal(err)
	}
	if p, err := png.Decode(bytes.NewReader(b)); err != nil || p.Bounds().Dx() < 300 {
		t.Errorf("no PNG: %v", err)
	}
	out, status = captured(t, "plot", "--store", store, "--log", "--smooth", "0.5", "--robust", "--metric",
		"validation", "2")
	if status != 0 || strings.Contains(out, "loss") || !strings.Contains(out, "run 2 (second), validation: ") {
		t.Errorf("status %d\n%s", status, out)
	}
	for figure, status := range map[string]int{"far off": 0, "v": 0, "none": 1, "other": 1} {
		out, got := captured(t, "plot", "--store", store, "--metric", figure, "2")
		if got != status || status == 0 && !strings.Contains(out, "run 2 (second), "+figure+": ") {
			t.Errorf("figure %s: status %d\n%s", figure, got, out)
		}
	}
	out, errs, status := both(t, "plot", "--store", store, "--metric", "loss,validation", "1", "2")
	if status != 0 || errs != "NOTICE:  run 1 has no figure \"validation\"\n" || !strings.Contains(out, "run 1, loss") ||
		!strings.Contains(out, "run 2 (second), validation") {
		t.Errorf("status %d\n%s%s", status, out, errs)
	}
	_, errs, _ = both(t, "plot", "--store", store, "--metric", "rmse", "1", "2")
	if want := "HINT:  The steps have loss, validation, far off, v.\n"; !strings.HasSuffix(errs, want) {
		t.Error(errs)
	}
	for _, args := range [][]string{{"9"}, {"1", "1"}, {"x"}, {"--smooth", "1", "2"}, {"--metric", "accuracy", "2"},
		{"--metric", "validation", "1"},
		{"-o", filepath.Join(dir, "a.gif")},
		{"-o", filepath.Join(dir, "none", "a.svg")}} {
		if _, status := captured(t, append([]string{"plot", "--store", store}, args...)...); status != 1 {
			t.Errorf("plot %v: status %d", args, status)
		}
	}
}

// TestLook: means, logarithms and bounds of figures, and round marks of an axis.
func TestLook(t *testing.T) {
	of := func(y ...float64) []series { return []series{{name: "a", x: []float64{1, 2, 3, 4}[:len(y)], y: y}} }
	for _, c := range []struct {
		look look
		in   []series
		want []float64
	}{
		{look{smooth: 0.5}, of(1, 4, 7), []float64{1, 3, 5.285714285714286}},
		{look{log: true}, of(100, 0, -1, 1), []float64{2, 0}},
		{look{}, of(3, 4), []float64{3, 4}},
	} {
		if err := c.look.apply(c.in); err != nil || !slices.Equal(c.in[0].y, c.want) || len(c.in[0].x) != len(c.want) {
			t.Errorf("%+v: %v, not %v (%v)", c.look, c.in[0], c.want, err)
		}
	}
	if err := (look{log: true}).apply(of(0, -1)); err == nil {
		t.Error("logarithms of nothing")
	}
	spike := series{x: make([]float64, 300), y: make([]float64, 300)}
	spike.y[7] = 1e9
	lines := []series{spike}
	if err := (look{robust: true}).apply(lines); err != nil || lines[0].y[7] != 0 {
		t.Error(err, lines[0].y[7])
	}
	for _, c := range [][4]float64{{1, 100, 0, 100}, {1, 150, 0, 200}, {1, 7, 0, 8}, {1, 330, 0, 400},
		{900, 1000, 900, 1000}, {5, 5, 5, 5}} {
		if from, to := roundAxis(c[0], c[1], 4); from != c[2] || to != c[3] {
			t.Errorf("%v to %v: %v to %v", c[0], c[1], from, to)
		}
	}
}

// TestSeriesAt: figures between two steps are interpolated, outside there are none.
func TestSeriesAt(t *testing.T) {
	s := series{x: []float64{5, 10}, y: []float64{1, 3}}
	if s.at(5) != 1 || s.at(7.5) != 2 || s.at(10) != 3 || !math.IsNaN(s.at(4)) || !math.IsNaN(s.at(11)) {
		t.Error(s.at(5), s.at(7.5), s.at(10), s.at(4), s.at(11))
	}
	var out bytes.Buffer
	if err := drawTerminal(&out, []series{{"one step", []float64{1}, []float64{2}}}, look{}, false); err != nil ||
		!strings.Contains(out.String(), "one step: 2 to 2") {
		t.Error(err, out.String())
	}
}
