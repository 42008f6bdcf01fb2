package pgrun

import (
	"fmt"
	"math"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/sqlgen"
	"github.com/relgrad/relgrad/train"
)

// items is a database whose parameters are a table with a key of two columns, names that need quotes, a chunk and a
// number that may be NULL, and a table of one row without a key. Some items have no observation.
func items(kind kernels.Kind) *memdb.DB {
	r := rand.New(rand.NewSource(3))
	draw := func(k kernels.Kind, n int, shape ...int) *column.Column {
		v := column.New(kernels.Type{Kind: k, Shape: shape}, n)
		for i := range v.F64() {
			v.F64()[i] = r.NormFloat64()
		}
		for i := range v.F32() {
			v.F32()[i] = float32(r.NormFloat64())
		}
		return v
	}
	ints := func(x ...int64) *column.Column {
		return column.Of(kernels.Type{Kind: kernels.Int}, x)
	}
	texts := func(x ...string) *column.Column {
		return column.Of(kernels.Type{Kind: kernels.Text}, x)
	}
	db := memdb.New()
	b := draw(kind, 5)
	b.SetNull(2)
	if kind == kernels.Float64 { // as the comparison reads it
		b.F64()[2] = 0
	} else {
		b.F32()[2] = 0
	}
	db.Create("item", 2, memdb.Column{Name: "k", Data: ints(1, 1, 2, 3, 4)},
		memdb.Column{Name: "Name", Data: texts("a", "b", "a'", `c"`, "d")},
		memdb.Column{Name: "tag", Data: texts("x", "y", "x", "y", "x")}, memdb.Column{Name: "v", Data: draw(kind, 5, 2, 2)},
		memdb.Column{Name: "b", Data: b})
	one := db.Create("one", 1, memdb.Column{Name: "k", Data: ints(1)}, memdb.Column{Name: "v_m", Data: draw(kind, 1)})
	one.Cols, one.Key, one.Declared, db.Data["one"] = one.Cols[1:], nil, true, db.Data["one"][1:]
	db.Create("obs", 1, memdb.Column{Name: "id", Data: ints(1, 2, 3, 4, 5, 6)},
		memdb.Column{Name: "k", Data: ints(1, 1, 2, 3, 1, 2)},
		memdb.Column{Name: "name", Data: texts("a", "b", "a'", `c"`, "a", "a'")},
		memdb.Column{Name: "y", Data: draw(kernels.Float64, 6)})
	return db
}

const itemLoss = `SELECT 0.1 * avg((o.y - coalesce(i.b, 0.5) * dot(i.v, i.v * i.v) * one.v_m) ^ 2)
	FROM obs o JOIN item i ON i.k = o.k AND i."Name" = o.name CROSS JOIN one WHERE (o.id + current_step()) % 2 = 0`

// TestStepOptions trains items with every option that changes an update, in both dtypes, as one parameter and column by
// column.
func TestStepOptions(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	e := New(t)
	variants := []struct {
		name   string
		set    func(c *train.Config)
		chosen func(slot, row int) bool // slots: item.v, item.b, one.v_m
	}{
		{"plain", func(*train.Config) {}, nil},
		{"weight_decay", func(c *train.Config) { c.WeightDecay = 0.05 }, nil},
		{"sparse", func(c *train.Config) { c.Sparse.All, c.WeightDecay = true, 0.05 }, nil},
		{"clip_norm", func(c *train.Config) { c.ClipNorm = 0.3 }, nil},
		{"schedule step", func(c *train.Config) { c.Schedule, c.StepSize, c.Gamma, c.Warmup = "step", 4, 0.5, 3 }, nil},
		{"cosine", func(c *train.Config) { c.Schedule, c.EtaMin = "cosine", 0.001 }, nil},
		{"nonnegative", func(c *train.Config) { c.Nonnegative = []string{"item.b", "one"} }, nil},
		{"project", func(c *train.Config) {
			c.Project = []string{"item.v: unit_ball", "one: unit_ball"}
		}, nil},
		{"sphere", func(c *train.Config) { c.Project = []string{"item.v: nonnegative", "item.v: unit_sphere"} }, nil},
		{"one sparse", func(c *train.Config) { c.Sparse.Names = []string{"item.v"} }, nil},
		{"rates", func(c *train.Config) {
			lr, decay := 0.003, 0.02
			c.Options = map[string]train.ParamOptions{"item.v": {LR: &lr, WeightDecay: &decay}, "one": {LR: &decay}}
		}, nil},
		{"where", func(c *train.Config) {
			c.ClipNorm = 0.2
			c.Options = map[string]train.ParamOptions{"item": {Where: "k < 3 -- some"},
				"item.b": {Where: `"Name" LIKE 'a%' OR tag = NULL`}}
		}, func(slot, row int) bool { return slot == 2 || row < 3 && (slot == 0 || row != 1) }},
		{"where, sparse", func(c *train.Config) {
			c.Sparse.All = true
			c.Options = map[string]train.ParamOptions{"item.v": {Where: "tag = 'x'"}}
		}, func(slot, row int) bool { return slot > 0 || row%2 == 0 }},
	}
	for _, kind := range []kernels.Kind{kernels.Float64, kernels.Float32} {
		tol := 1e-12
		if kind == kernels.Float32 {
			tol = 1e-6
		}
		for _, params := range [][]string{{"item", "one"}, {"item.v", "item.b", "one"}} {
			tr := newTraining(t, items(kind), itemLoss, params)
			for i, v := range variants {
				for _, o := range ofStatements() {
					if (len(params) == 3 || i > 3) && o != "adamw" && o != "sgd" { // the rest does not look at the optimizer
						continue
					}
					c := config(o)
					c.LR = 0.002 // with a larger one momentum leaves the valley, and differences of rounding grow
					v.set(&c)
					if err := tr.compare(t, e, c, tol, v.chosen); err != nil {
						t.Errorf("%v, %v, %s, %s: %v", kind, params, v.name, o, err)
					}
				}
			}
		}
	}
}

// TestStepResume: buffers that were read and loaded into new tables, and tables that were compacted, go on bit for bit.
func TestStepResume(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	e := New(t)
	tr := newTraining(t, items(kernels.Float32), itemLoss, []string{"item", "one"})
	c := config("adamw")
	c.Options = map[string]train.ParamOptions{"item.b": {Where: "k < 3"}}
	run := func(between func(s *session)) state {
		s := tr.open(t, e, &c)
		defer s.close()
		for i := range int64(6) {
			if i == 3 {
				between(s)
			}
			s.step(t, i+1)
		}
		last, _ := s.step(t, 7)
		return last
	}
	want := run(func(*session) {})
	for name, between := range map[string]func(s *session){
		"compacted": func(s *session) { s.exec(t, s.st.Compact...) },
		"loaded": func(s *session) {
			for i := range 3 {
				s.exec(t, fmt.Sprintf("CREATE TEMPORARY TABLE saved%d AS %s", i, s.st.Read(i)))
			}
			s.exec(t, s.st.Teardown...)
			s.exec(t, s.st.Setup...)
			for i := range 3 {
				load, err := s.st.Load(i, fmt.Sprintf("saved%d AS r", i))
				if err != nil {
					t.Fatal(err)
				}
				s.exec(t, load)
			}
		},
	} {
		if err := same(run(between), want, 0); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	lost := run(func(s *session) { s.exec(t, s.st.Setup...) }) // the comparison would see lost buffers
	if same(lost, want, 1e-3) == nil {
		t.Error("buffers made anew give the same values")
	}
	s := tr.open(t, e, &c)
	defer s.close()
	s.exec(t, s.st.Teardown...)
	var left int
	if err := s.tx.QueryRow(t.Context(), "SELECT count(*) FROM pg_class WHERE relnamespace = pg_my_temp_schema()").
		Scan(&left); err != nil || left > 0 {
		t.Errorf("%d relations are left (%v)", left, err)
	}
}

// TestStepNotFinite: the first gradient that is not finite is named by slot, key and number; where the loss is not, the
// value.
func TestStepNotFinite(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	e := New(t)
	for _, tc := range []struct {
		loss, spoil string
		slot        int32
		key         []string
		number      float64
		finite      bool
	}{
		{"SELECT sum(CASE WHEN b > 100 THEN 0 ELSE sqrt(abs(b - b)) END) + sum(b * sqnorm(v)) FROM item",
			"UPDATE item SET b = 'Infinity' WHERE k = 3", 1, []string{"3", `c"`}, math.Inf(1), false},
		{"SELECT sum(CASE WHEN k >= 3 THEN power(b * 0 + 1e-320, 0.01) ELSE b END) + sum(sqnorm(v)) FROM item", "", 1,
			[]string{"3", `c"`}, math.NaN(), true},
		{"SELECT sum(CASE WHEN k = 2 THEN power(v[2][1] * 0 + 1e-320, 0.01) ELSE 0 END) + " +
			"sum(sqnorm(v)) + sum(b) FROM item", "", 0, []string{"2", "a'"}, math.NaN(), true},
	} {
		tr := newTraining(t, items(kernels.Float64), tc.loss, []string{"item"})
		c := config("sgd")
		s := tr.open(t, e, &c)
		if tc.spoil != "" {
			s.exec(t, tc.spoil)
		}
		got, bad := s.step(t, 1)
		s.close()
		if bad.slot == nil {
			t.Errorf("%s: loss %g, all finite\n%s", tc.loss, got.loss, s.st.Statement)
			continue
		}
		if finite := !math.IsNaN(got.loss) && !math.IsInf(got.loss, 0); finite != tc.finite || *bad.slot != tc.slot ||
			!slices.Equal(bad.key, tc.key) ||
			!(*bad.number == tc.number || math.IsNaN(*bad.number) && math.IsNaN(tc.number)) {
			t.Errorf("%s: loss %g, slot %d, key %v, number %g", tc.loss, got.loss, *bad.slot, bad.key, *bad.number)
		}
	}
}

// TestStepRefused: what has no form in SQL is an error.
func TestStepRefused(t *testing.T) {
	tr := newTraining(t, items(kernels.Float64), itemLoss, []string{"item"})
	c := config("adam")
	c.Project = []string{"item.v: simplex"}
	_, err := c.Statement(tr.res, tr.params, sqlgen.Options{})
	if err == nil || !strings.Contains(err.Error(), `projection "simplex" has no form in SQL`) {
		t.Error(err)
	}
}
