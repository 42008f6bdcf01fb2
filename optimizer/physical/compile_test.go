package physical

import (
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/relgrad/relgrad/internal/gradtest"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/bind"
)

// TestExamples runs the files of testdata: what compile makes of a query for four sites, after rules, and what explain
// shows of it. -rewrite writes what is printed into the files.
func TestExamples(t *testing.T) {
	db, env := gradtest.Graph(), &kernels.Env{Seed: 1, Step: 2}
	example := func(t *testing.T, d *datadriven.TestData) string {
		b := ra.NewBuilder()
		sel, text, err := bind.LossQuery(t.Context(), db, "query", d.Input)
		must(t, err)
		bound, err := bind.Bind(t.Context(), db, b, sel, text, bind.BindOptions{})
		must(t, err)
		q := &ra.Plan{Roots: []ra.Root{{Name: "query", Node: bound.Node, Cols: bound.Cols}}}
		q, _, err = optimizer.Whole(t.Context(), b, q, optimizer.Options{})
		must(t, err)
		if d.Cmd == "explain" {
			var sites int64
			d.ScanArgs(t, "sites", &sites)
			told, err := Explain(t.Context(), q, Sites{N: int(sites)}, Costs{Cluster: InProcess})
			if err != nil {
				return err.Error()
			}
			return renumber(told.String())
		}
		stored := map[string]Placement{}
		var rules []string
		for _, a := range d.CmdArgs {
			switch a.Vals[0] {
			case "everywhere":
				stored[a.Key] = Everywhere()
			case "single":
				stored[a.Key] = At(1)
			default:
				rules = a.Vals
			}
		}
		p, err := Compile(q, Sites{N: 4, Stored: func(n *ra.Node) (Placement, bool) {
			at, ok := stored[n.Table.Name]
			return at, ok
		}})
		must(t, err)
		for _, name := range rules {
			p, _ = Rules()[slices.IndexFunc(Rules(), func(r Rule) bool { return r.Name == name })].Everywhere(p)
		}
		must(t, same(t.Context(), p, q, db, env, 1e-12))
		return renumber(p.Format())
	}
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) { datadriven.RunTest(t, path, example) })
}

// renumber gives the columns of a printed plan numbers from 1 in order of appearance.
func renumber(plan string) string {
	ids := map[string]string{}
	return regexp.MustCompile(`:\d+\b`).ReplaceAllStringFunc(plan, func(id string) string {
		if ids[id] == "" {
			ids[id] = fmt.Sprintf(":%d", len(ids)+1)
		}
		return ids[id]
	})
}
