package executor

import (
	"context"
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer/physical"
	"github.com/relgrad/relgrad/ra"
)

// neighbours is the plan of edges that join the vertices that they need: by the hash of one end, which may be NULL, of
// both ends, or of one end and its kind, a text. Vertices have several rows of a kind.
func neighbours(t *testing.T, sites int, keys string) (src *memory, plan *ra.Plan, placed *physical.Plan) {
	t.Helper()
	src, b := &memory{}, ra.NewBuilder()
	draw := rand.New(rand.NewSource(int64(sites)))
	vertices := func(name string, rows, nodes int) *ra.Node {
		id, node, kind := column.New(tInt, rows), column.New(tInt, rows), column.New(kernels.Type{Kind: kernels.Text}, rows)
		x := column.New(kernels.Type{Kind: kernels.Float64}, rows)
		for i := range rows {
			id.I64()[i], node.I64()[i], x.F64()[i] = int64(i), int64(draw.Intn(nodes)), float64(draw.Intn(9))
			if kind.Texts()[i] = fmt.Sprint("kind ", draw.Intn(3)); draw.Intn(6) == 0 {
				node.SetNull(i)
			}
		}
		return b.Scan(src.add(name, 1, id, node, kind, x), func(col int) bool { return name == "x" && col == 3 })
	}
	e, x := vertices("e", 50, 40), vertices("x", 60, 60)
	on := map[string][]int{"node": {1}, "node, kind": {1, 2}}[keys]
	var equi []ra.Equi
	var pairs []physical.Pair
	for _, i := range on {
		equi = append(equi, ra.Equi{L: kernels.Col{ID: e.Cols[i].ID}, R: kernels.Col{Input: 1, ID: x.Cols[i].ID}})
		pairs = append(pairs, physical.Pair{Own: x.Cols[i].ID, Partner: e.Cols[i].ID})
	}
	j := b.Join([]*ra.Node{e, x}, equi, nil, []ra.OutCol{{Name: "e", X: e.Var(0, e.Cols[0].ID)},
		{Name: "x", X: x.Var(1, x.Cols[0].ID)}, {Name: "v", X: kernels.Mul(e.Var(0, e.Cols[3].ID), x.Var(1, x.Cols[3].ID))}})
	plan = &ra.Plan{Roots: []ra.Root{all(j, "r")}}
	at := physical.Spread(physical.Function{}, e.Cols[0].ID)
	edges := &physical.Node{RA: e, Place: at}
	own := &physical.Node{RA: x, Place: physical.Spread(physical.Function{}, x.Cols[0].ID)}
	halo := &physical.Node{Op: physical.Halo, Inputs: []*physical.Node{own, edges}, Place: physical.NeededBy(e, at, pairs)}
	for _, p := range pairs {
		halo.By, halo.On = append(halo.By, p.Own), append(halo.On, p.Partner)
	}
	join := &physical.Node{RA: j, Inputs: []*physical.Node{edges, halo}, Place: physical.Spread(physical.Function{},
		j.Cols[0].ID)}
	to := &physical.Node{Op: physical.Gather, Inputs: []*physical.Node{join}, Place: physical.At(0)}
	placed = &physical.Plan{Sites: sites, Roots: []physical.Root{{Name: "r", Node: to, Cols: plan.Roots[0].Cols,
		Place: physical.At(0)}}}
	if err := physical.Validate(placed); err != nil {
		t.Fatal(err)
	}
	return src, plan, placed
}

// TestHaloRows: a site gets each row that its edges join, once, and no other; rows that lie there already are not
// counted as moved.
func TestHaloRows(t *testing.T) {
	for _, sites := range []int{1, 2, 3, 4, 7} {
		for _, keys := range []string{"node", "node, kind"} {
			src, plan, placed := neighbours(t, sites, keys)
			p, err := CompileSites(context.Background(), placed, src, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Run(context.Background(), kernels.Env{}); err != nil {
				t.Fatal(err)
			}
			what := fmt.Sprintf("%d sites by %s", sites, keys)
			likeOracle(t, what, p, plan, src, 1e-12)
			halo := placed.Roots[0].Node.Inputs[0].Inputs[1]
			moved := haloRows(t, what, p, src, halo)
			exchanges, err := p.Exchanges()
			if err != nil {
				t.Fatal(err)
			}
			at := slices.IndexFunc(exchanges, func(x Exchanged) bool { return x.Node == halo })
			if x := exchanges[at]; x.Rows != moved || x.Moved != moved*8 || x.Predicted != x.Moved {
				t.Errorf("%s: %d rows of %d bytes move, of %d are predicted; %d are needed elsewhere", what, x.Rows, x.Moved,
					x.Predicted, moved)
			}
			p.Close()
		}
	}
}

// haloRows checks which rows a halo brings to each site, and counts those that lie elsewhere.
func haloRows(t *testing.T, what string, p *Program, src *memory, halo *physical.Node) (moved int64) {
	t.Helper()
	e, x := src.tables["e"], src.tables["x"]
	sites := len(p.sites)
	lies := func(of []*column.Column) []int32 { return physical.Function{}.Sites(of[:1], sites) }
	edges, vertices := lies(e), lies(x)
	for _, s := range p.sites {
		var want []int64
		for r, lies := range vertices {
			for i, site := range edges {
				meets := !e[1].IsNull(i) && !x[1].IsNull(r) && e[1].I64()[i] == x[1].I64()[r] &&
					(len(halo.By) == 1 || e[2].Texts()[i] == x[2].Texts()[r])
				if int(site) == s.number && meets {
					want = append(want, x[0].I64()[r])
					if int(lies) != s.number {
						moved++
					}
					break
				}
			}
		}
		n := s.nodes[halo]
		got, _, err := s.run.Vectors(n, n.Key)
		if err != nil {
			t.Fatal(err)
		}
		if rows := slices.Sorted(slices.Values(got[0].I64())); !slices.Equal(rows, want) {
			t.Errorf("%s: rows %v come to site %d, which needs %v", what, rows, s.number, want)
		}
	}
	return moved
}
