package physical

import (
	"testing"

	"github.com/relgrad/relgrad/internal/gradtest"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer"
	"github.com/relgrad/relgrad/optimizer/cost"
	"github.com/relgrad/relgrad/ra"
)

// The machines of the papers, each for one site. What the papers do not give are figures of their makers: of a core of
// r5d and r5dn about 60 Gflop/s, of one of m6in 90, of a V100 14 Tflop/s and 900 GB/s.
var (
	r5d  = Cluster{Network: 1.25e9, Latency: 1e-3, Operations: 2.4e11, Reads: 2e10}
	r5dn = Cluster{Network: 3.125e9, Latency: 1e-3, Operations: 2.4e11, Reads: 2e10}
	p3   = Cluster{Network: 1.25e9, Latency: 1e-3, Operations: 1.4e13, Reads: 9e11}
	p100 = Cluster{Network: 1e10, Latency: 1e-4, Operations: 9e12, Reads: 7e11}   // four in one server
	v100 = Cluster{Network: 1e10, Latency: 1e-4, Operations: 1.4e13, Reads: 9e11} // eight in one server
	m6in = Cluster{Network: 12.5e9, Latency: 1e-3, Operations: 2.9e12, Reads: 2e11}
)

// paper is a query over matrices that are cut into blocks, as a paper measures it.
type paper struct {
	db    *memdb.DB
	sizes map[string]cost.Size
}

func newPaper() *paper { return &paper{memdb.New(), map[string]cost.Size{}} }

// table adds a table of chunks of a shape for each combination of its keys, of which there are so many.
func (c *paper) table(name string, keys []string, counts []int, shape ...int) *ra.Table {
	t := &ra.Table{Schema: "public", Name: name, Declared: true, Rows: 1}
	size := cost.Size{Values: map[string]float64{}}
	for i, key := range keys {
		t.Key, t.Rows = append(t.Key, i), t.Rows*int64(counts[i])
		size.Values[key] = float64(counts[i])
		t.Cols = append(t.Cols, ra.TableColumn{Name: key, PGType: "integer", Type: kernels.Type{Kind: kernels.Int}})
	}
	t.Cols = append(t.Cols, ra.TableColumn{Name: "v", PGType: "real[]",
		Type: kernels.Type{Kind: kernels.Float32, Shape: shape}})
	size.Rows = float64(t.Rows)
	c.db.Tables[name], c.sizes[name] = t, size
	return t
}

// matrix adds a table of a matrix of rows × columns in p × q blocks.
func (c *paper) matrix(name, row, col string, rows, cols, p, q int) {
	block := func(n, p int) int { return max(1, (n+p-1)/p) }
	c.table(name, []string{row, col}, []int{p, q}, block(rows, p), block(cols, q))
}

// costs are those of the cheapest plan of each name; plans that do not exist are left out.
func (c *paper) costs(t *testing.T, sql string, params []string, sites int, on Cluster, least Objective,
	names ...string) map[string]int64 {
	t.Helper()
	res, err := gradtest.Optimize(t.Context(), c.db, sql, params, optimizer.Options{})
	must(t, err)
	on.Tables = c.sizes
	where := Sites{N: sites, Result: func(i int, of *ra.Node) (Placement, bool) { // gradients lie where parameters do
		if i == 0 {
			return Placement{}, false
		}
		return Spread(Function{}, res.Plan.Roots[i].Cols[:2]...), true
	}}
	out := map[string]int64{}
	for _, name := range names {
		p, err := Choose(t.Context(), res.Plan, where, Costs{Least: least, Cluster: on, Only: name})
		if sqlerr.Code(err) == sqlerr.FeatureNotSupported {
			continue
		}
		must(t, err)
		out[name] = p.Cost
	}
	return out
}

// leastOf is the name of the least cost.
func leastOf(costs map[string]int64) (name string) {
	for _, n := range Names {
		if x, ok := costs[n]; ok && (name == "" || x < costs[name]) {
			name = n
		}
	}
	return name
}

// TestPaperProducts: TRA 2021, table 3, by 5, 10 and 15 machines. The sizes are not in the text that we have: they are
// ours, of equal work. With a common large dimension CMM is fastest in each column, with two large ones BMM, and both
// the seconds and the papers' floats pick them. For general matrices the three plans are measured within 4% at 5
// machines, and the costs of BMM and CMM are nearly equal for squares (s·n² and n² + n² + s·n² floats): the papers' own
// model cannot tell that CMM is faster at 10 and 15. RMM is not among our plans of a query that makes no copies.
func TestPaperProducts(t *testing.T) {
	sql := "SELECT sum(sqnorm(v)) FROM (SELECT i, k, sum(matmul(a.v, b.v)) AS v FROM a JOIN b USING (j) GROUP BY i, k) c"
	for _, k := range []struct {
		size    [3]int
		fastest string // "": nearly equal
	}{{[3]int{40000, 40000, 40000}, ""}, {[3]int{10000, 640000, 10000}, "CMM"}, {[3]int{80000, 10000, 80000}, "BMM"}} {
		for _, sites := range []int{5, 10, 15} {
			c := newPaper()
			c.matrix("a", "i", "j", k.size[0], k.size[1], sites, sites)
			c.matrix("b", "j", "k", k.size[1], k.size[2], sites, sites)
			for _, least := range []Objective{Seconds, ModelFloats} {
				costs := c.costs(t, sql, nil, sites, r5d, least, "BMM", "CMM", "RMM")
				apart := float64(costs["CMM"]) / float64(costs["BMM"])
				if k.fastest != "" && leastOf(costs) != k.fastest || k.fastest == "" && !(apart > 1 && apart < 1.2) {
					t.Errorf("%v at %d sites, objective %d: %v, fastest is %s", k.size, sites, least, costs, k.fastest)
				}
				t.Logf("%v at %d sites, objective %d: %v", k.size, sites, least, costs)
			}
		}
	}
}

// network is the loss of a network of two layers over matrices in blocks.
const network = "SELECT avg(mean_elements(bce_with_logits(z.v, y.v))) FROM (SELECT b, l, sum(matmul(h.v, w2.v)) AS v " +
	"FROM (SELECT b, h, relu(sum(matmul(x.v, w1.v))) AS v FROM x JOIN w1 USING (f) GROUP BY b, h) h JOIN w2 USING (h) " +
	"GROUP BY b, l) z JOIN y USING (b, l)"

// layers are a network's batch, features, hidden units and labels.
type layers struct{ batch, features, hidden, labels int }

func (l layers) costs(t *testing.T, sites int, on Cluster, least Objective) map[string]int64 {
	t.Helper()
	c, parts := newPaper(), sites
	if sites == 1 {
		parts = 4 // a block has not too many numbers
	}
	c.matrix("x", "b", "f", l.batch, l.features, 2*parts, 2*parts)
	c.matrix("w1", "f", "h", l.features, l.hidden, 2*parts, 2*parts)
	c.matrix("w2", "h", "l", l.hidden, l.labels, 2*parts, parts)
	c.matrix("y", "b", "l", l.batch, l.labels, 2*parts, parts)
	costs := c.costs(t, network, []string{"w1", "w2"}, sites, on, least, "data parallel", "model parallel")
	t.Logf("%+v at %d sites, objective %d: %v", l, sites, least, costs)
	return costs
}

// TestPaperNetworks: TRA 2021, tables 7 and 8, and experiment 2 of EinDecomp, section 9.2. Features, labels and numbers
// of hidden units are the papers' (1600 features of speech are an estimate), batches of TRA are ours.
//
// Of AmazonCat-14K (table 8, and EinDecomp) model parallel is fastest in all cells in which both run, and is picked.
// One GPU is faster than data parallel on four.
// Of speech (table 7) data parallel is fastest, and TRA-MP, which splits the features, slowest. The formulas agree:
// data parallel moves 2s·H·(F + L) floats, that model parallel plan 2s·b·(H + L). Ours is another plan, which was not
// measured: it splits the hidden units and moves s·b·(F + 3L), less than both where the hidden layer is wide.
func TestPaperNetworks(t *testing.T) {
	for _, sites := range []int{2, 5, 10} {
		for _, on := range []Cluster{r5dn, p3} {
			for _, hidden := range []int{500, 1000, 3000, 5000, 7000} {
				l := layers{1000, 597540, hidden, 14588}
				if costs := l.costs(t, sites, on, Seconds); leastOf(costs) != "model parallel" {
					t.Errorf("xml, %d hidden units at %d sites: %v", hidden, sites, costs)
				}
			}
			for _, hidden := range []int{100000, 150000, 200000} {
				l := layers{10000, 1600, hidden, 10}
				dp, features := 2*sites*hidden*(l.features+l.labels), 2*sites*l.batch*(hidden+l.labels)
				units := sites * l.batch * (l.features + 3*l.labels)
				if costs := l.costs(t, sites, on, Seconds); leastOf(costs) != "model parallel" || !(units < dp && dp < features) {
					t.Errorf("speech, %d hidden units at %d sites: %v; %d, %d, %d", hidden, sites, costs, units, dp, features)
				}
			}
		}
	}
	for _, batch := range []int{128, 512} {
		for _, features := range []int{8192, 32768, 131072, 524288, 597540} {
			l := layers{batch, features, 8192, 14588}
			costs, alone := l.costs(t, 4, p100, Seconds), l.costs(t, 1, p100, Seconds)
			if leastOf(costs) != "model parallel" || alone["data parallel"] > costs["data parallel"] {
				t.Errorf("%+v at 4 sites: %v; at one: %v", l, costs, alone)
			}
		}
	}
}

// TestPaperNearest: TRA 2021, table 5. Of few features the metric A goes to all machines and the points stay
// (Opt4Horizontal), of many A stays and numbers of points move (Opt4Vertical), as the formulas say: horizontal moves
// s·D² floats, vertical s·n·D. The table has it the other way round under "wide" and "large", though its text defines
// these words as here: one of the two has its names exchanged. Sizes are ours.
func TestPaperNearest(t *testing.T) {
	sql := "SELECT min(-max_elements(-v)) FROM (SELECT p.i, sum(sum_elements(p.v * x.v, 2)) AS v FROM (SELECT x.i, a.e, " +
		"sum(matmul(x.v, a.v)) AS v FROM x JOIN a USING (d) GROUP BY x.i, a.e) p JOIN x ON x.i = p.i AND x.d = p.e " +
		"GROUP BY p.i) c"
	for _, k := range []struct {
		points, features int
		horizontal       bool
	}{{150000, 6000, true}, {1500000, 6000, true}, {6000, 30000, false}, {6000, 100000, false}} {
		for _, sites := range []int{4, 8, 12} {
			c := newPaper()
			c.matrix("x", "i", "d", k.points, k.features, 2*sites, 2*sites)
			c.matrix("a", "d", "e", k.features, k.features, 2*sites, 2*sites)
			res, err := gradtest.Optimize(t.Context(), c.db, sql, nil, optimizer.Options{})
			must(t, err)
			on := r5d
			on.Tables = c.sizes
			found, err := Choose(t.Context(), res.Plan, Sites{N: sites}, Costs{Cluster: on})
			must(t, err)
			horizontal := false
			found.Plan.Walk(func(n *Node) {
				horizontal = horizontal || n.Op == Bcast && n.Relation().Table != nil && n.Relation().Table.Name == "a"
			})
			if horizontal != k.horizontal {
				t.Errorf("%d points of %d features at %d sites: horizontal is %v\n%s", k.points, k.features, sites, horizontal,
					found.Plan.Format())
			}
		}
	}
}
