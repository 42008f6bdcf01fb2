package physical

import (
	"math/rand"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/gradtest"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer"
	"github.com/relgrad/relgrad/ra"
)

// halos are plans that read the rows of a halo as what they are not, with a part of the error.
var halos = []struct {
	what, err string
	plan      func(h *hand, x, e *Node) *Node // of x (j, by j), needed by e (i, j; by i)
}{
	{"a halo is summed", "a Aggregate reads input 0 (needed(4 = 2)) as if it were whole", func(h *hand, x, e *Node) *Node {
		return h.gather(h.sum(h.halo(x, e, "j"), ""))
	}},
	{"a halo is selected", "a Select reads input 0", func(h *hand, x, e *Node) *Node {
		return h.of(h.halo(x, e, "j"), "j", 2, "")
	}},
	{"a halo is a result", "the result z is read where its rows are needed", func(h *hand, x, e *Node) *Node {
		return h.halo(x, e, "j")
	}},
	{"a halo is united", "a Union reads input 0", func(h *hand, x, e *Node) *Node {
		halo := h.halo(x, e, "j")
		n := &Node{RA: h.b.Union([]*ra.Node{x.RA, x.RA}, 1), Inputs: []*Node{halo, halo}}
		n.RA.Inputs = []*ra.Node{x.RA, x.RA}
		return n
	}},
	{"a halo is added", "a Add reads input 0", func(h *hand, x, e *Node) *Node {
		return h.add(h.halo(x, e, "j"), h.scan("u", "j", "j", 2))
	}},
	{"a halo is broadcast", "a BCAST moves rows that are needed", func(h *hand, x, e *Node) *Node {
		return h.bcast(h.halo(x, e, "j"))
	}},
	{"a halo is shuffled", "a SHUF moves rows that are needed", func(h *hand, x, e *Node) *Node {
		return h.shuf(h.halo(x, e, "j"), "j")
	}},
	{"a halo is gathered", "a Gather moves rows that are needed", func(h *hand, x, e *Node) *Node {
		return h.gather(h.halo(x, e, "j"))
	}},
	{"a halo of a halo", "a HALO moves rows that are needed", func(h *hand, x, e *Node) *Node {
		return h.halo(h.halo(x, e, "j"), e, "j")
	}},
	{"a halo needs a halo", "a HALO sends rows that are by(1; grid 5) to where rows are that are needed",
		func(h *hand, x, e *Node) *Node { return h.halo(e, h.halo(x, e, "j"), "j") }},
	{"without a partner", "a Join reads input 0 (needed(4 = 2)) without its partner", func(h *hand, x, e *Node) *Node {
		return h.join("j", "mul", h.halo(x, e, "j"), h.scan("u", "j", "*", 2))
	}},
	{"another partner", "without its partner", func(h *hand, x, e *Node) *Node {
		return h.join("i j", "mul", h.halo(x, e, "j"), h.scan("u", "i j", "i", 2))
	}},
	{"the partner lies elsewhere", "without its partner", func(h *hand, x, e *Node) *Node {
		return h.join("i j", "mul", h.halo(x, e, "j"), h.shuf(e, "i j"))
	}},
	{"the partner is replicated", "without its partner", func(h *hand, x, e *Node) *Node {
		return h.join("i j", "mul", h.halo(x, e, "j"), h.bcast(e))
	}},
	{"its partner is another input's", "as if rows that meet lay at one site", func(h *hand, x, e *Node) *Node {
		return h.join("i j", "", h.halo(x, e, "j"), e, h.scan("u", "j", "j", 2))
	}},
	{"the join does not equate the columns", "without its partner", func(h *hand, x, e *Node) *Node {
		halo := h.halo(x, e, "j")
		n := h.join("i", "mul", halo, e)
		n.RA.Equi = nil
		return h.placed(n)
	}},
	{"NULL meets NULL", "without its partner", func(h *hand, x, e *Node) *Node {
		halo := h.halo(x, e, "j")
		for _, of := range []*ra.Node{x.RA, e.RA} {
			of.Col(h.col(of, "j")).Type.Nullable = true
		}
		n := h.join("i j", "mul", halo, e)
		n.RA.Equi[0].NullSafe = true
		return h.placed(n)
	}},
	{"a halo is chosen from", "a SemiJoin reads input 0", func(h *hand, x, e *Node) *Node {
		return h.semi(ra.SemiJoin, h.halo(x, e, "j"), e, "j")
	}},
	{"a halo is left over", "a AntiJoin reads input 0", func(h *hand, x, e *Node) *Node {
		return h.semi(ra.AntiJoin, h.halo(x, e, "j"), e, "j")
	}},
	{"partners are another's", "as if rows that meet lay at one site", func(h *hand, x, e *Node) *Node {
		return h.semi(ra.AntiJoin, h.scan("u", "i j", "i", 2), h.halo(x, e, "j"), "j")
	}},
	{"replicas are sent", "sends rows that are replicated", func(h *hand, x, e *Node) *Node {
		return h.join("i j", "mul", h.halo(h.bcast(x), e, "j"), e)
	}},
	{"replicas need rows", "to where rows are that are replicated", func(h *hand, x, e *Node) *Node {
		return h.join("i j", "mul", h.halo(x, h.bcast(e), "j"), h.bcast(e))
	}},
	{"parts are sent", "sends rows that are partial", func(h *hand, x, e *Node) *Node {
		parts := h.sum(e, "j")
		return h.join("j", "mul", h.halo(parts, x, "j"), x)
	}},
	{"parts need rows", "to where rows are that are partial", func(h *hand, x, e *Node) *Node {
		parts := h.sum(e, "j")
		return h.join("j", "mul", h.halo(x, parts, "j"), parts)
	}},
	{"found by nothing", "finds rows by 0 columns, their partners by 0", func(h *hand, x, e *Node) *Node {
		return h.join("i j", "mul", h.halo(x, e, ""), e)
	}},
	{"more columns than partners have", "finds rows by 1 columns, their partners by 2", func(h *hand, x, e *Node) *Node {
		halo := h.halo(x, e, "j")
		halo.On = append(halo.On, halo.On[0])
		return h.join("i j", "mul", halo, e)
	}},
	{"no such column", "cannot find rows of a Scan by column 99", func(h *hand, x, e *Node) *Node {
		halo := h.halo(x, e, "j")
		halo.On[0] = 99
		return h.join("i j", "mul", h.placed(halo), e)
	}},
	{"parameters find rows", "cannot find rows of a Scan by column 2", func(h *hand, x, e *Node) *Node {
		halo := h.halo(x, e, "j")
		e.RA.Col(h.col(e.RA, "j")).Dep = true
		return h.join("i j", "mul", halo, e)
	}},
	{"no partner", "a HALO has 1 inputs", func(h *hand, x, e *Node) *Node {
		halo := h.halo(x, e, "j")
		halo.Inputs = halo.Inputs[:1]
		return halo
	}},
	{"a relation is computed twice", "a Scan is computed twice", func(h *hand, x, e *Node) *Node {
		again := *e
		return h.join("i j", "mul", h.halo(x, e, "j"), &again)
	}},
}

// TestHaloRefused: rows that a site has for a partner are read with that partner only.
func TestHaloRefused(t *testing.T) {
	for _, c := range halos {
		t.Run(c.what, func(t *testing.T) {
			h := newHand(t, 3, map[string]int64{"i": 5, "j": 3, "v": 2})
			h.lax = true
			e, x := h.scan("e", "i j", "i", 2), h.scan("x", "j", "j", 2)
			if err := Validate(raw(h, c.plan(h, x, e))); err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("the error is %v, not %s", err, c.err)
			}
		})
	}
}

// edges is a relation of so many rows with two columns of small integers, NULLs among them.
func (h *hand) edges(name string, rows, nodes int) *Node {
	t := &ra.Table{Name: name, Rows: int64(rows), Declared: true, Key: []int{0}}
	for i, n := range []int{rows, nodes, nodes} {
		c := column.New(kernels.Type{Kind: kernels.Int}, rows)
		for r := range rows {
			if c.I64()[r] = int64(h.draw.Intn(n)); i == 0 {
				c.I64()[r] = int64(r)
			} else if h.draw.Intn(5) == 0 {
				c.SetNull(r)
			}
		}
		h.data[name] = append(h.data[name], c)
		ty := c.Type()
		ty.Nullable = i > 0
		t.Cols = append(t.Cols, ra.TableColumn{Name: []string{"id", "j", "k"}[i], Type: ty})
	}
	n := &Node{RA: h.b.Scan(t, nil)}
	n.Place = Spread(Function{}, n.RA.Cols[0].ID)
	return n
}

// TestHalo: vertices come to the sites of their edges and to no other; joins of edges with the halo of one end or of
// both, with further inputs, and semi-joins give what they give at one site. What moves is what is predicted, and less
// than a BCAST moves.
func TestHalo(t *testing.T) {
	for _, sites := range counts {
		h := newHand(t, sites, map[string]int64{"j": 40, "k": 40})
		h.draw = rand.New(rand.NewSource(int64(sites)))
		e, x, y := h.edges("e", 30, 50), h.scan("x", "j", "j", 2), h.scan("y", "k", "", 2)
		whole := h.scan("u", "j", "*", 2)
		one := h.halo(x, e, "j")
		p := h.plan(h.join("id j", "", one, e), h.join("id j k", "", one, e, h.halo(y, e, "k"), whole),
			h.semi(ra.SemiJoin, e, one, "j"), h.semi(ra.AntiJoin, e, one, "j"),
			h.sum(h.gather(h.sum(h.join("id j k", "mul", e, one, h.bcast(y)), "j")), "j"))
		must(t, same(t.Context(), p, p.Logical(), h, nil, 0))
		copied, _ := p.clone()
		must(t, Validate(copied))
		r, err := run(t.Context(), p, h, nil)
		must(t, err)
		sent := map[int64]bool{}
		for s, rows := range r.at[e] {
			found := map[int64]bool{}
			for _, row := range rows {
				if v := row[1]; !v.Null && v.I < 40 {
					found[v.I], sent[v.I] = true, true
				}
			}
			if len(r.at[one][s]) != len(found) {
				t.Errorf("%d sites: site %d has %d rows, its edges need %d", sites, s, len(r.at[one][s]), len(found))
			}
		}
		if len(sent) == 40 || sites > 2 && r.moved[one] >= int64(sites-1)*40*2/2 {
			t.Errorf("%d sites: %d of 40 vertices are sent, %d floats", sites, len(sent), r.moved[one])
		}
	}
}

// TestHaloEstimate: what a halo is expected to move is near what it moves, where edges are drawn at random; and of rows
// that lie where their partners do nothing moves.
func TestHaloEstimate(t *testing.T) {
	for _, sites := range []int{2, 3, 8} {
		h := newHand(t, sites, map[string]int64{"j": 600})
		h.draw = rand.New(rand.NewSource(1))
		e, x := h.edges("e", 900, 600), h.scan("x", "j", "", 2)
		x.Place = Spread(Function{}, h.col(x.RA, "j"))
		halo, beside := h.halo(x, e, "j"), &Node{Op: Shuf, Inputs: []*Node{e}, By: h.cols(e.RA, "j")}
		inPlace := h.halo(x, h.placed(beside), "j")
		p := h.plan(h.join("id j", "", halo, e))
		r, err := run(t.Context(), p, h, nil)
		must(t, err)
		even := Even{Sites: sites, Count: func(n *ra.Node) int64 {
			if n == e.RA {
				return 720 // a fifth is NULL
			}
			return 600
		}}
		guess, real := Crossing(halo, even), Crossing(halo, r)
		if guess < real*85/100 || guess > real*115/100 {
			t.Errorf("%d sites: %d rows are expected to move, %d do", sites, guess, real)
		}
		if rows := Crossing(inPlace, even); rows != 0 {
			t.Errorf("%d sites: %d rows are expected to move to where they lie", sites, rows)
		}
	}
}

// TestWhole: readers of the whole find a table where it is stored though a halo of it is sent, and what is computed
// only where it is brought.
func TestWhole(t *testing.T) {
	needed := &Node{Place: Placement{Kind: Needed}}
	places := []*Node{{Place: At(0)}, {Place: Spread(Function{}, 1)}, needed}
	table := &vertex{places: places, stored: 1}
	computed := &vertex{places: places, in: []*vertex{table}}
	for p, want := range []int{0, 1, 1} {
		if got := table.whole(p); got != want {
			t.Errorf("of a table at %d the whole is at %d, not %d", p, got, want)
		}
		if got := computed.whole(p); got != p {
			t.Errorf("of what is computed at %d the whole is at %d", p, got)
		}
	}
}

// free tells a search that no row is ever needed at another site, so that it sends halos wherever it can.
type free struct{ Even }

func (f free) Rows(n *Node) []int64 {
	if n.Place.Kind == Needed {
		return make([]int64, f.Sites)
	}
	return f.Even.Rows(n)
}

func (f free) Stays(n *Node) int64 {
	if n.Op == Halo {
		return 0
	}
	return f.Even.Stays(n)
}

// TestSearchHalo: plans with as many halos as can be give what the loss gives, and move what is predicted. Some halos
// are read by several joins, some of their tables in other ways, too.
func TestSearchHalo(t *testing.T) {
	db, env := gradtest.Graph(), &kernels.Env{Seed: 1, Step: 2}
	halos, shared, also := 0, 0, 0
	for k, c := range gradtest.Losses {
		res, err := gradtest.Optimize(t.Context(), db, c.SQL, c.Params, optimizer.Options{})
		must(t, err)
		sites := counts[1+k%(len(counts)-1)]
		stats := free{Even{Sites: sites, Count: func(n *ra.Node) (rows int64) { // parts of a sum have its names
			for _, c := range n.Cols {
				rows = (31*rows + int64(k+len(c.Name))) % 50
			}
			return rows + 1
		}}}
		costs := Costs{Least: Objective(k % 3), Cluster: InProcess, Cells: cells}
		found, err := Search(t.Context(), res.Plan, Sites{N: sites}, stats, costs)
		if err == nil {
			err = same(t.Context(), found.Plan, res.Plan, db, env, 1e-12)
		}
		if err != nil {
			t.Errorf("%s over %d sites: %v", c.SQL, sites, err)
			continue
		}
		readers := found.Plan.readers()
		for _, n := range found.Plan.Nodes() {
			if n.Op != Halo {
				continue
			}
			if halos++; readers[n] > 1 {
				shared++
			}
			if readers[n.Inputs[0]] > 1 {
				also++
			}
		}
	}
	t.Logf("%d halos, %d of them read by several joins; of %d the rows are read in other ways, too", halos, shared, also)
	if halos < 100 || shared < 5 || also < 10 {
		t.Errorf("%d halos, %d read by several joins, %d of rows that are read in other ways, too", halos, shared, also)
	}
}
