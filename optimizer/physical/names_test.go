package physical

import (
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/gradtest"
	"github.com/relgrad/relgrad/optimizer"
	"github.com/relgrad/relgrad/ra"
)

// TestParallel: a small table of parameters goes to the data, the data go to a large one, and the plan says so.
func TestParallel(t *testing.T) {
	one := "SELECT sum((r.rating - sum_elements(a.v)) ^ 2) FROM rating r JOIN w0 a ON r.u = a.node"
	both := "SELECT sum((r.rating - dot(a.v, b.v)) ^ 2) FROM rating r JOIN w0 a ON r.u = a.node JOIN w0 b ON r.i = b.node"
	for _, c := range []struct {
		loss             string
		parameters, data int64
		want             string
	}{
		{one, 10, 100_000_000, "w0: data parallel"},
		{one, 100_000, 1000, "w0: model parallel by node"},
		{both, 100_000, 20_000, "w0: model parallel by node, with halo rows"},
	} {
		res, err := gradtest.Optimize(t.Context(), gradtest.Graph(), c.loss, []string{"w0"}, optimizer.Options{})
		must(t, err)
		on := Sites{N: 4, Result: func(i int, of *ra.Node) (Placement, bool) {
			return Spread(Function{}, of.Key...), i > 0
		}}
		even := Even{Sites: 4, Count: func(n *ra.Node) int64 {
			switch {
			case len(n.Key) == 0:
				return 1
			case len(n.Key) == 1 && n.Col(n.Key[0]).Name == "node":
				return c.parameters
			}
			return c.data
		}}
		found, err := Search(t.Context(), res.Plan, on, even, Costs{Cluster: InProcess, Cells: cells})
		must(t, err)
		if got := strings.Join(found.Plan.parallel(), "; "); got != c.want {
			t.Errorf("%s: %d parameters and %d rows of data: %s, not %s\n%s", c.loss, c.parameters, c.data, got, c.want,
				found.Plan.Format())
		}
	}
}
