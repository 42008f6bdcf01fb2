package eindecomp

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/relgrad/relgrad/internal/need"
)

// golden is a case with its answers.
type golden struct {
	Case
	Answer Answer
}

// goldens reads the cases of the golden file.
func goldens(t *testing.T) (out []golden) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(need.Data(t), "eindecomp_golden", "graphs.json"))
	if err != nil {
		need.Absent(t, "data", err.Error())
	}
	var cases []json.RawMessage
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	for _, text := range cases {
		c, err := ReadCase(text)
		if err != nil {
			t.Fatal(err)
		}
		g := golden{Case: *c}
		if err := json.Unmarshal(text, &g.Answer); err != nil {
			t.Fatal(err)
		}
		out = append(out, g)
	}
	return out
}

// TestGolden: every number of the golden file comes out. Plans of equal cost may differ.
func TestGolden(t *testing.T) {
	for _, g := range goldens(t) {
		t.Run(g.Name, func(t *testing.T) {
			got, err := g.Solve(t.Context(), Limits{})
			if err != nil {
				t.Fatal(err)
			}
			want := g.Answer
			costs, err := g.costs(got.OptimalPlan)
			if err != nil || costs.Total != want.Optimal {
				t.Errorf("the plan costs %v (%v), not %d", costs, err, want.Optimal)
			}
			if !reflect.DeepEqual(got.OptimalPlan, want.OptimalPlan) {
				t.Logf("another plan of the same cost: %v, not %v", got.OptimalPlan, want.OptimalPlan)
			}
			got.OptimalPlan = want.OptimalPlan
			for i := range max(len(got.Given), len(want.Given)) {
				if i >= len(got.Given) || i >= len(want.Given) || !reflect.DeepEqual(got.Given[i], want.Given[i]) {
					t.Errorf("plan %d of %d:\n%+v\nwant %d:\n%+v", i, len(got.Given), got.Given, len(want.Given), want.Given)
				}
			}
			if got.Given = want.Given; !reflect.DeepEqual(*got, want) {
				t.Errorf("\n%+v\nwant\n%+v", *got, want)
			}
		})
	}
}

// costs are those of a plan by names.
func (c *Case) costs(plan map[string]map[string]int64) (*GivenCosts, error) {
	g, err := c.Graph.New()
	if err != nil {
		return nil, err
	}
	return g.given(GivenPlan{Plan: plan})
}
