package eindecomp

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// product is the product of two square matrices.
func product(n int64) *builder {
	b := newBuilder(map[string]int64{"i": n, "j": n, "k": n})
	b.lines("X[i,j]\nY[j,k]\nZ = X[i,j] Y[j,k] -> i,k", "")
	return b
}

// decomposer prepares a description.
func decomposer(t *testing.T, d *Description, p int64, limits Limits) *Decomposer {
	t.Helper()
	g, err := d.New()
	if err != nil {
		t.Fatal(err)
	}
	out, err := NewDecomposer(g, p, limits)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestByHand: costs that were worked out by hand from §7 of the paper. An 8×8 product with parts (4,1,4) has 16 calls,
// each with a 2×8 and an 8×2 block: 16·(16+16) = 512. With (2,4,2) it moves 16·(8+8) into the join, and of each of the
// 4 groups of 4 blocks of 16 floats all but one: 4·3·16 = 192.
func TestByHand(t *testing.T) {
	g, err := product(8).New()
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		d    Vector
		want VertexCost
	}{
		{Vector{4, 1, 4}, VertexCost{16, 512, 0}},
		{Vector{2, 1, 8}, VertexCost{16, 640, 0}},
		{Vector{2, 4, 2}, VertexCost{16, 256, 192}},
		{Vector{2, 2, 4}, VertexCost{16, 384, 64}},
		{Vector{1, 1, 1}, VertexCost{1, 128, 0}},
		{Vector{1, 8, 1}, VertexCost{8, 128, 448}},
	} {
		costs, err := g.Costs([]Vector{tc.d})
		if err != nil || costs.Vertices[0] != tc.want || costs.Total != tc.want.Join+tc.want.Agg {
			t.Errorf("%v: %+v (%v), not %+v", tc.d, costs, err, tc.want)
		}
	}
	// 8×8 in (2,4) is 8 blocks of 4×2, in (4,1) 4 blocks of 2×8. Each of these touches 4 of those, using half of each:
	// 4·4·8 floats of the producer's move, and 3·4 times the 16 of the wanted block.
	for _, tc := range []struct {
		produced, wanted Vector
		want             int64
	}{
		{Vector{2, 4}, Vector{4, 1}, 320}, {Vector{4, 1}, Vector{4, 1}, 0}, {Vector{1, 1}, Vector{2, 1}, 128},
		{Vector{2, 1}, Vector{1, 1}, 96},
	} {
		if got, err := Repartition(tc.wanted, tc.produced, []int64{8, 8}); err != nil || got != tc.want {
			t.Errorf("%v → %v: %d (%v), not %d", tc.produced, tc.wanted, got, err, tc.want)
		}
	}
}

// TestSquares: the best costs of a square product of n×n are known: 4n² for 4 calls, 5n² (the 3D algorithm) for 8, 7n²
// for 16, 11n² for 64.
func TestSquares(t *testing.T) {
	const n = 64
	for p, factor := range map[int64]int64{4: 4, 8: 5, 16: 7, 64: 11} {
		plan, err := decomposer(t, &product(n).Description, p, Limits{}).Decompose(t.Context())
		if err != nil || plan.Costs.Total != factor*n*n || plan.By != ByElimination {
			t.Errorf("p = %d: %+v (%v), not %d", p, plan, err, factor*n*n)
		}
	}
}

// TestViable: without bounds that are too short there are C(N+D-1, D-1) vectors, in ascending order.
func TestViable(t *testing.T) {
	for _, tc := range []struct {
		bounds []int64
		p      int64
		want   int
	}{
		{[]int64{1024, 1024, 1024, 1024, 1024, 1024}, 1024, 3003}, {[]int64{8, 8, 8}, 8, 10}, {[]int64{4, 6, 2}, 64, 1},
		{[]int64{3, 5}, 8, 1}, {nil, 4, 1}, {[]int64{12, 2}, 4, 2}, {[]int64{12, 2}, 8, 1}, {[]int64{7, 8}, 1, 1},
	} {
		v := &Vertex{Name: "V"}
		for i, b := range tc.bounds {
			v.Labels = append(v.Labels, Label{Name: fmt.Sprint(i), Bound: b})
		}
		got, err := v.viable(tc.p)
		if err != nil || len(got) != tc.want || v.countViable(v.goal(tc.p)) != tc.want {
			t.Errorf("%v, p = %d: %d vectors (%v), not %d", tc.bounds, tc.p, len(got), err, tc.want)
		}
		if !slices.IsSortedFunc(got, func(a, b vector) int { return slices.Compare(a, b) }) {
			t.Errorf("%v, p = %d: %v is not ascending", tc.bounds, tc.p, got)
		}
	}
}

// ties is a graph in which nearly all plans come in equal pairs: everything is symmetric.
func ties() *Case {
	b := product(8)
	b.lines(`P = X[i,j] Y[j,k] -> i,k
		Q = X[i,j] Y[j,k] -> k,i
		R = P[i,j] Q[j,i] -> i,j
		S = P[i,j] P[j,k] -> i,k
		U = S[i,j] R[i,j] -> i,j`, "")
	return &Case{Name: "ties", P: 8, Graph: b.Description}
}

// TestTies: of equal plans the same one is chosen each time.
func TestTies(t *testing.T) {
	var first []byte
	for range 40 {
		got, err := ties().Solve(t.Context(), Limits{})
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = text
		}
		if string(text) != string(first) {
			t.Fatalf("%s\nand then\n%s", first, text)
		}
	}
}

// TestFallback: where the tables pass the limit, the plan says so, and costs no more than the informed linearisation. A
// tree is planned exactly without them.
func TestFallback(t *testing.T) {
	for _, tc := range []struct {
		graph *Description
		p     int64
		by    string
	}{
		{llama(2), 16, ByInformed}, {network(5, 512, 256), 8, ByInformed}, {&product(64).Description, 16, ByTree},
	} {
		d := decomposer(t, tc.graph, tc.p, Limits{Cells: 10})
		plan, err := d.Decompose(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		informed, err := d.Linearise(t.Context(), true)
		if err != nil {
			t.Fatal(err)
		}
		exact, err := decomposer(t, tc.graph, tc.p, Limits{}).Decompose(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if plan.By != tc.by || (plan.Why == "") != (tc.by == ByTree) || plan.Costs.Total > informed.Costs.Total ||
			plan.Costs.Total < exact.Costs.Total || exact.By != ByElimination || exact.Why != "" {
			t.Errorf("%d by %s (%q); informed %d, exactly %d", plan.Costs.Total, plan.By, plan.Why, informed.Costs.Total,
				exact.Costs.Total)
		}
	}
	few := Limits{Steps: 100}
	if plan, err := decomposer(t, llama(1), 16, few).Decompose(t.Context()); err != nil || plan.By != ByInformed {
		t.Errorf("%+v (%v)", plan, err)
	}
}

// TestOrderOfOps: ops may stand in any order; costs do not change.
func TestOrderOfOps(t *testing.T) {
	c, other := ties(), ties()
	slices.Reverse(other.Graph.Ops)
	a, err := c.Solve(t.Context(), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := other.Solve(t.Context(), Limits{})
	if err != nil || a.Optimal != b.Optimal || !reflect.DeepEqual(a.Viable, b.Viable) {
		t.Errorf("%+v (%v), not %+v", b, err, a)
	}
}

// TestOverflow: what passes int64 is refused; what fits is exact, next to vectors that do not.
func TestOverflow(t *testing.T) {
	b := newBuilder(map[string]int64{"i": 1 << 31, "j": 1 << 30, "k": 1 << 30})
	b.lines("X[i,j]\nY[j,k]\nZ = X[i,j] Y[j,k] -> i,k", "")
	c := &Case{P: 4, Graph: b.Description}
	// (2,1,2) joins 4·(2^60 + 2^59) floats; (1,1,4) would join 4·(2^61 + 2^58).
	if got, err := c.Solve(t.Context(), Limits{}); err != nil || got.Optimal != 3<<61 ||
		!reflect.DeepEqual(got.OptimalPlan["Z"], map[string]int64{"i": 2, "j": 1, "k": 2}) {
		t.Errorf("%+v (%v)", got, err)
	}
	c.Given = []GivenPlan{{"g", map[string]map[string]int64{"Z": {"i": 1, "j": 1, "k": 4}}}}
	if _, err := c.Solve(t.Context(), Limits{}); err == nil || !strings.Contains(err.Error(), "2^63 floats or more") {
		t.Errorf("a plan of more than 2^63 floats: %v", err)
	}
	c.P, c.Given = 8, nil // (4,1,2) joins 8·(2^59 + 2^59) = 2^63, and none less
	if _, err := c.Solve(t.Context(), Limits{}); err == nil || !strings.Contains(err.Error(), "2^63 floats or more") {
		t.Errorf("a cost of 2^63: %v", err)
	}
	b.Sizes["j"] = 1 << 31
	b.Sizes["i"] = 1 << 32
	if _, err := c.Solve(t.Context(), Limits{}); err == nil || !strings.Contains(err.Error(), "2^63 elements or more") {
		t.Errorf("a tensor of 2^63 elements: %v", err)
	}
}

// TestRefusals: each refusal names what is wrong.
func TestRefusals(t *testing.T) {
	const good = `{"p": 4, "graph": {"sizes": {"i": 8, "j": 4}, "inputs": {"X": ["i", "j"]}, "ops": [` +
		`{"name": "Z", "in": ["X"], "in_labels": [["i", "j"]], "out_labels": ["i"]}]}, ` +
		`"given": [{"label": "g", "plan": {"Z": {"i": 2, "j": 2}}}]}`
	second := `, {"name": "W", "in": ["Z"], "in_labels": [["i"]], "out_labels": ["i"]}]}`
	for _, tc := range []struct{ old, new, want string }{
		{"", "", ""},
		{good, "[" + good + "]", "the case is no JSON object"},
		{good, good + "1", "the case is malformed: invalid character '1' after top-level value"},
		{good, good[:len(good)-1], "the case is malformed: unexpected end of JSON input"},
		{good, "", "the case is malformed: unexpected end of JSON input"},
		{good, "{}", "the case has no graph"},
		{`"p"`, `p`, "the case is malformed: invalid character 'p'"},
		{`"p": 4`, `"p": "4"`, "field p needs int64, not string"},
		{`"p": 4`, `"p": 4.5`, "field p needs int64, not number 4.5"},
		{`"p": 4`, `"p": 6`, "p is 6, which is no power of two"},
		{`"p": 4`, `"p": 0`, "p is 0, which is no power of two"},
		{`"p": 4`, `"p": -4`, "p is -4, which is no power of two"},
		{`"p": 4, `, ``, "p is 0, which is no power of two"},
		{`"i": 8`, `"i": 8, "i": 16`, `an object names "i" twice`},
		{`"i": 8`, `"i": 0`, "label i has size 0; sizes are positive"},
		{`"i": 8`, `"i": -8`, "label i has size -8"},
		{`"i": 8, `, ``, "label i of input X has no size"},
		{`"i": 8`, `"i": 9223372036854775807`, "has 2^63 elements or more"},
		{`"i": 8`, `"i": 99999999999999999999`, "field graph.sizes needs int64, not number 99999999999999999999"},
		{`["i", "j"]]`, `["i", "i"]]`, "op Z reads dimension 1 of input X as label i of size 8, but it is j of size 4"},
		{`["i", "j"]]`, `["i"]]`, "op Z reads input X by 1 labels, but it has 2"},
		{`"in_labels": [["i", "j"]]`, `"in_labels": []`, "op Z has 1 inputs, but labels of 0"},
		{`"in": ["X"], "in_labels": [["i", "j"]]`, `"in": [], "in_labels": []`, "label i of the output of op Z"},
		{`"in": ["X"], "in_labels": [["i", "j"]], "out_labels": ["i"]`, `"in": [], "in_labels": []`, "vertex Z has no input"},
		{`"in": ["X"]`, `"in": ["Y"]`, "op Z reads Y, which is neither an input nor an op"},
		{`"in": ["X"]`, `"in": ["Z"]`, "vertex Z reads Z by 2 labels, but Z has 1"},
		{`"out_labels": ["i"]`, `"out_labels": ["k"]`, "label k of the output of op Z is in none of its inputs"},
		{`"out_labels": ["i"]`, `"out_labels": ["i", "i"]`, "label i is repeated in the output of vertex Z"},
		{`"name": "Z"`, `"name": "X"`, "X is both an input and an op"},
		{`"name": "Z"`, `"name": ""`, `op number 0 has the name ""`},
		{`]}, "given"`, second[:len(second)-2] + strings.Replace(second, "W", "Z", 1) + `, "given"`,
			`op number 2 has the name "Z"`},
		{`"in": ["X"], "in_labels": [["i", "j"]], "out_labels": ["i"]}]}`,
			`"in": ["W"], "in_labels": [["i"]], "out_labels": ["i"]}` + second, "the graph has a cycle: Z reads W reads Z"},
		{`]}, "given"`, strings.Replace(second, `[["i"]]`, `[["j"]]`, 1) + `, "given"`, "label i of the output of op W"},
		{`]}, "given"`, strings.ReplaceAll(second, `"i"`, `"j"`) + `, "given"`,
			"dimension 0 of Z has bound 4 as label j of vertex W, but 8 where it is produced"},
		{`]}, "given"`, second + `, "given"`, `plan "g" has no vector for W`},
		{`{"Z": {`, `{"Y": {}, "Z": {`, `plan "g" has vectors for 2 vertices; the graph has 1`},
		{`"j": 2}`, `"k": 2}`, `plan "g" has no parts for label j of Z`},
		{`"j": 2}`, `"j": 2, "k": 2}`, `plan "g" has parts for 3 labels of Z, which has 2`},
		{`"j": 2}`, `"j": 3}`, "label j of vertex Z is cut into 3 parts, which is no power of two"},
		{`"j": 2}`, `"j": 0}`, "label j of vertex Z is cut into 0 parts, which is no power of two"},
		{`"j": 2}`, `"j": 8}`, "label j of vertex Z is cut into 8 parts, which do not divide its bound 4"},
	} {
		if strings.Count(good, tc.old) != 1 && tc.old != "" {
			t.Fatalf("%s is not once in the case", tc.old)
		}
		err := solve(t, strings.Replace(good, tc.old, tc.new, 1))
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s → %s: %v\nwant %s", tc.old, tc.new, err, tc.want)
		}
	}
	square := strings.Replace(good, `"j": 4`, `"j": 8`, 1)
	if err := solve(t, strings.Replace(square, `[["i", "j"]]`, `[["i", "i"]]`, 1)); err == nil ||
		!strings.Contains(err.Error(), "label i is repeated in input X of vertex Z") {
		t.Errorf("a label is repeated: %v", err)
	}
}

func solve(t *testing.T, text string) error {
	c, err := ReadCase([]byte(text))
	if err == nil {
		_, err = c.Solve(t.Context(), Limits{})
	}
	return err
}

// TestTooMany: a vertex with more vectors than can be listed is refused, soon.
func TestTooMany(t *testing.T) {
	b := newBuilder(map[string]int64{})
	var labels []string
	for i := range 20 {
		labels = append(labels, fmt.Sprint("l", i))
		b.Sizes[labels[i]] = 4
	}
	b.input("X[" + strings.Join(labels, ",") + "]")
	b.op("Z = X[" + strings.Join(labels, ",") + "] -> l0")
	c := &Case{P: 1 << 20, Graph: b.Description}
	if _, err := c.Solve(t.Context(), Limits{}); err == nil ||
		!strings.Contains(err.Error(), "vertex Z has more than 32768 viable partition vectors") {
		t.Errorf("20 labels: %v", err)
	}
	for i := range 50 {
		labels = append(labels, fmt.Sprint("m", i))
		b.Sizes[labels[i+20]] = 1
	}
	b.Ops, b.Inputs = nil, map[string][]string{}
	b.input("X[" + strings.Join(labels, ",") + "]")
	b.op("Z = X[" + strings.Join(labels, ",") + "] -> l0")
	if _, err := (&Case{P: 2, Graph: b.Description}).Solve(t.Context(), Limits{}); err == nil ||
		!strings.Contains(err.Error(), "vertex Z has 70 labels, more than 64") {
		t.Errorf("70 labels: %v", err)
	}
}

// TestGoldenFallback: within small limits, plans of the golden graphs cost no more than the informed linearisation
// there.
func TestGoldenFallback(t *testing.T) {
	for _, g := range goldens(t) {
		got, err := g.Solve(t.Context(), Limits{Cells: 1})
		if err != nil {
			t.Fatal(err)
		}
		if got.Optimal < g.Answer.Optimal || got.Optimal > g.Answer.Informed ||
			g.Answer.Tree && (got.Optimal != g.Answer.Optimal || !strings.HasSuffix(got.OptimalBy, ByTree)) {
			t.Errorf("%s: %d by %s, not from %d to %d", g.Name, got.Optimal, got.OptimalBy, g.Answer.Optimal, g.Answer.Informed)
		}
	}
}

// TestGram: a vertex that uses a producer twice has two edges from it, and a path between the two counts both. The
// linearisations plan P·Pᵀ of P = A·B exactly, since it is one path of neighbours.
func TestGram(t *testing.T) {
	differ := 0
	for n := range 27 {
		b := newBuilder(map[string]int64{"i": 64 << (n % 3), "j": 64 << (n / 3 % 3), "k": 64 << (n / 9), "l": 64 << (n % 3)})
		b.lines("A[i,j]\nB[j,k]\nP = A[i,j] B[j,k] -> i,k\nR = P[i,k] P[l,k] -> i,l", "")
		got, err := (&Case{P: 16, Graph: b.Description}).Solve(t.Context(), Limits{})
		if err != nil || got.Tree || got.Optimal != got.Text || got.Optimal != got.Informed {
			t.Errorf("%+v (%v)", got, err)
		}
		if p := got.OptimalPlan; p["P"]["i"] != p["R"]["i"] || p["P"]["i"] != p["R"]["l"] {
			differ++
		}
	}
	if differ == 0 {
		t.Error("no plan repartitions: this tells nothing")
	}
}

// TestInformed: with what is fixed in sight, the second path of a chain of products fits to the first.
func TestInformed(t *testing.T) {
	b := newBuilder(map[string]int64{"i": 64, "j": 64, "k": 64, "l": 64})
	b.lines(`A[i,j]
		B[i,j]
		P = A[i,j] B[j,k] -> i,k
		Q = A[i,j] B[j,k] -> i,k
		R = Q[i,j] B[j,k] -> i,k
		S = P[i,j] R[i,j] -> i,j`, "")
	got, err := (&Case{P: 8, Graph: b.Description}).Solve(t.Context(), Limits{})
	if err != nil || got.Informed >= got.Text || got.Optimal > got.Informed {
		t.Errorf("%+v (%v)", got, err)
	}
}
