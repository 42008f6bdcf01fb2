package physical

import (
	"math"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/gradtest"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer"
	"github.com/relgrad/relgrad/optimizer/cost"
	"github.com/relgrad/relgrad/ra"
)

// TestReadCluster: what is not given is as in a process; rates and sizes are read with their units.
func TestReadCluster(t *testing.T) {
	c, err := ReadCluster(strings.NewReader(`{"network": "10Gbit", "latency": "1us", "operations": "0.25 Tflop/s",
		"memory": "64GB", "tables": {"edge": {"rows": 2e9, "values": {"src": 1e8}}}}`), InProcess)
	must(t, err)
	if c.Network != 1.25e9 || c.Latency != 1e-6 || c.Operations != 2.5e11 || c.Reads != InProcess.Reads ||
		c.Memory != 64e9 || c.Tables["edge"].Rows != 2e9 || c.Tables["edge"].Values["src"] != 1e8 {
		t.Errorf("%+v", c)
	}
	for file, want := range map[string]string{
		`{"network": "10"}`:      "network cannot be \"10\"",
		`{"network": "-1GB"}`:    "network cannot be \"-1GB\"",
		`{"network": "1mbit"}`:   "network cannot be \"1mbit\"",
		`{"latency": "5Ms"}`:     "latency cannot be \"5Ms\"",
		`{"latency": "5"}`:       "latency cannot be \"5\"",
		`{"operations": "1 GB"}`: "operations cannot be \"1 GB\"",
		`{"memory": "10Gbit"}`:   "memory cannot be \"10Gbit\"",
		`{"memory": "infGB"}`:    "memory cannot be \"infGB\"",
		`{"bandwidth": "1GB"}`:   "limits of a cluster: json: unknown field \"bandwidth\"",
		`{"network": 1}`:         "limits of a cluster: json: cannot unmarshal number",
		`{} }`:                   "something follows the object",
		`{"reads": "1e-20B"}`:    "reads cannot be \"1e-20B\"",
		`{} {}`:                  "something follows the object",
		``:                       "limits of a cluster: EOF",
		`{"tables": {"e": {}}}`:  "table e has 1 to 1e+15 rows, not 0",
		`{"tables": {"e": {"rows": 2, "values": {"a": 3}}}}`: "column a of table e has 1 to 2 values, " +
			"and rows of the most frequent one, not 3",
	} {
		if _, err := ReadCluster(strings.NewReader(file),
			InProcess); err == nil || sqlerr.Code(err) != sqlerr.InvalidParameter ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, not %s", file, err, want)
		}
	}
}

// TestMemory: a plan that does not fit in the memory of a site is not chosen while another fits, and where none does
// the text says so.
func TestMemory(t *testing.T) {
	db := graph()
	res, err := gradtest.Optimize(t.Context(), db, "SELECT sum(sqnorm(h)) FROM (SELECT e.dst, sum(e.weight * "+
		"matmul(x.v, w.v)) AS h FROM edge e JOIN x ON x.node = e.src, w GROUP BY e.dst) q", []string{"w"},
		optimizer.Options{})
	must(t, err)
	costs := Costs{Cluster: InProcess}
	free, err := Choose(t.Context(), res.Plan, Sites{N: 4}, costs)
	must(t, err)
	bound := free.Holds
	fits := 0
	for range 6 {
		bound *= 0.8
		costs.Cluster.Memory = int64(bound)
		c, err := Choose(t.Context(), res.Plan, Sites{N: 4}, costs)
		must(t, err)
		must(t, same(t.Context(), c.Plan, res.Plan, db, &kernels.Env{Seed: 1, Step: 2}, 1e-12))
		if c.Fits != (c.Holds <= bound) {
			t.Errorf("a plan holds %g of %g bytes, and fits: %v", c.Holds, bound, c.Fits)
		}
		told, err := Explain(t.Context(), res.Plan, Sites{N: 4}, costs)
		must(t, err)
		if text := told.String(); strings.Contains(text, "no plan was found that fits") == c.Fits {
			t.Error(text)
		}
		if c.Fits {
			fits++
		}
	}
	if fits == 0 || fits == 6 {
		t.Errorf("%d of 6 bounds of memory are kept", fits)
	}
}

// TestBusiest: of rows that one site sends to all it sends three times what each other receives; what all gather at it,
// it receives. Where all pass the first site, another one sends a row once, and what it sends and receives adds up.
func TestBusiest(t *testing.T) {
	h := newHand(t, 4, map[string]int64{"i": 2, "j": 5, "k": 1})
	tried := 0
	ra.Walk(func(n *ra.Node) {
		if n.Op != ra.Scan {
			return
		}
		tried++
		even := Even{Sites: 4, Count: func(*ra.Node) int64 { return 12 }}
		row := rowBytes(n) - 8*float64(len(n.Key))
		for _, c := range []struct {
			from Placement
			to   Op
			rows float64

			member, hub float64 // rows of the busiest of the other sites, and of all of these
		}{{At(0), Bcast, 36, 12, 36}, {h.by(n, n.Col(n.Key[0]).Name), Bcast, 9, 12, 36},
			{h.by(n, n.Col(n.Key[0]).Name), Gather, 9, 3, 9}, {At(1), Gather, 12, 12, 12}, {At(0), Gather, 0, 0, 0}} {
			x := &Node{Op: c.to, Inputs: []*Node{{RA: n, Place: c.from}}}
			x.Place, _ = derive(x, 4)
			m, err := predict(x, even)
			if must(t, err); m.Busiest != c.rows*row {
				t.Errorf("%v of %v: the busiest site moves %g bytes, not %g", c.to, c.from, m.Busiest, c.rows*row)
			}
			if m.Rows == 0 {
				continue
			}
			member := Costs{Cluster: Cluster{Network: 1, Hub: 1e30}}.sending(m)
			hub := Costs{Cluster: Cluster{Hub: 1}}.sending(m)
			if math.Abs(member/row-c.member) > 1e-9 || math.Abs(hub/row-c.hub) > 1e-9 {
				t.Errorf("%v of %v through the first site: %g and %g rows, not %g and %g", c.to, c.from, member/row, hub/row,
					c.member, c.hub)
			}
		}
	}, h.query("CMM", [3]int{2, 2, 2}, nil, nil).Nodes()...)
	if tried == 0 {
		t.Error("nothing is tried")
	}
}

// TestShared: sites on one machine take as long as one after the other.
func TestShared(t *testing.T) {
	n := newHand(t, 3, map[string]int64{"i": 2, "j": 5, "k": 1}).query("CMM", [3]int{2, 2, 2}, nil, nil).Nodes()[0]
	w := Work{Node: &Node{RA: n}, Operations: []float64{3, 4, 5}, Bytes: make([]float64, 3), Rows: make([]float64, 3)}
	for shared, want := range map[bool]float64{false: 5, true: 12} {
		if got := (Costs{Cluster: Cluster{Operations: 1, Shared: shared}}).takes(w); got != want {
			t.Errorf("shared %v: %g s, not %g", shared, got, want)
		}
	}
}

// TestNoRows: where so few rows are estimated that no site has one, an exchange that is needed by one still has a cost.
func TestNoRows(t *testing.T) {
	for _, op := range []Op{Bcast, Shuf, Gather, Halo} {
		sent, received := crossings(&Node{Op: op}, []int64{0, 0}, []int64{1, 0}, 1, 1)
		for _, rows := range append(sent, received...) {
			if !(rows >= 0) {
				t.Errorf("a site of a %v sends or receives %g rows", op, rows)
			}
		}
	}
}

// TestUnitOfTime: a plan does not depend on how long a step takes: with all rates divided, and the fixed time
// multiplied, by a million or a million of millions the same one is found.
func TestUnitOfTime(t *testing.T) {
	res, err := gradtest.Optimize(t.Context(), graph(), "SELECT sum(sqnorm(h)) FROM (SELECT e.dst, sum(e.weight * "+
		"matmul(x.v, w.v)) AS h FROM edge e JOIN x ON x.node = e.src, w GROUP BY e.dst) q", []string{"w"},
		optimizer.Options{})
	must(t, err)
	want := ""
	for _, slower := range []float64{1, 1e6, 1e12} {
		c := Cluster{Network: 1e9 / slower, Latency: 1e-6 * slower, Operations: 1e10 / slower, Reads: 1e10 / slower,
			Tables: map[string]cost.Size{"x": {Rows: 1e8}, "edge": {Rows: 2e9, Values: map[string]float64{"src": 1e8,
				"dst": 1e8}}}}
		found, err := Choose(t.Context(), res.Plan, Sites{N: 8}, Costs{Cluster: c})
		must(t, err)
		if got := renumber(found.Plan.Format()); want == "" {
			want = got
		} else if got != want || found.By != ByElimination {
			t.Errorf("%g times as slow, by %s:\n%s\nnot\n%s", slower, found.By, got, want)
		}
	}
}
