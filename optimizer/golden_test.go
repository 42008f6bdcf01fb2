package optimizer_test

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/cockroachdb/datadriven"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/gradtest"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer"
	"github.com/relgrad/relgrad/optimizer/rules"
)

// TestGolden runs the files of testdata. Commands, each followed by its input, ---- and what it prints:
//
//	table rows=N      a table "t (a int, b int, v float[2,3], c float null; key a b)", filled at random
//	view name=V       a view of that query
//	opt wrt=(w,h)     the loss with its gradients, optimized; wrt left out: the loss alone
//	    expect=Rule       the rule must fire
//	    expect-not=Rule   it must not
//	    alone=N           only root N, optimized for itself
//	    disable=(Rule,…)  rules that are switched off
//	    show=before       print the plan before optimization too
//	rules             all rules with their phases and documentation
//
// opt also runs the plan with and without rules on the random data and compares. Column numbers count from 1 in each
// printed plan. -rewrite writes what is printed into the files.
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		g := &golden{t: t, db: memdb.New(), draw: rand.New(rand.NewSource(7))}
		datadriven.RunTest(t, path, g.run)
	})
}

type golden struct {
	t    *testing.T
	db   *memdb.DB
	draw *rand.Rand
}

func (g *golden) run(t *testing.T, d *datadriven.TestData) string {
	g.t = t
	switch d.Cmd {
	case "table":
		rows := 20
		d.MaybeScanArgs(t, "rows", &rows)
		g.table(d, rows)
	case "view":
		var name string
		d.ScanArgs(t, "name", &name)
		if err := g.db.AddView(name, d.Input); err != nil {
			d.Fatalf(t, "%v", err)
		}
	case "opt":
		return g.opt(d)
	case "rules":
		var b strings.Builder
		for _, r := range rules.All() {
			fmt.Fprintf(&b, "%s (%v)\n  %s\n", r.Name, r.Phase, r.Doc)
		}
		return b.String()
	default:
		d.Fatalf(t, "unknown command %s", d.Cmd)
	}
	return ""
}

var tableText = regexp.MustCompile(`^(\w+) \((.*?)(?:; key ([\w ]+))?\)$`)

// table creates a table. Integer keys enumerate their combinations; other integers are small random numbers.
func (g *golden) table(d *datadriven.TestData, rows int) {
	m := tableText.FindStringSubmatch(strings.TrimSpace(d.Input))
	if m == nil {
		d.Fatalf(g.t, "not a table: %s", d.Input)
	}
	key := strings.Fields(m[3])
	side := 1
	for ; len(key) > 0 && pow(side, len(key)) < rows; side++ {
	}
	var cols []memdb.Column
	for _, def := range regexp.MustCompile(`, (?:[^,\[\]]|\[[^\]]*\])+|^(?:[^,\[\]]|\[[^\]]*\])+`).
		FindAllString(m[2], -1) {
		f := strings.Fields(strings.TrimPrefix(def, ", "))
		cols = append(cols, memdb.Column{Name: f[0], Data: g.column(d, f, slices.Index(key, f[0]), side, rows)})
	}
	g.db.Create(m[1], len(key), cols...)
}

func pow(a, n int) int {
	p := 1
	for range n {
		p *= a
	}
	return p
}

func (g *golden) column(d *datadriven.TestData, f []string, key, side, rows int) *column.Column {
	typ, shape, _ := strings.Cut(f[1], "[")
	ty := kernels.Type{Kind: kernels.Int}
	if typ == "float" {
		ty.Kind = kernels.Float64
		for _, n := range strings.FieldsFunc(shape, func(r rune) bool { return !unicode.IsDigit(r) }) {
			var k int
			fmt.Sscan(n, &k)
			ty.Shape = append(ty.Shape, k)
		}
	} else if typ != "int" {
		d.Fatalf(g.t, "type %s", typ)
	}
	v := column.New(ty, rows)
	for i := range v.F64() {
		v.F64()[i] = g.draw.NormFloat64()
	}
	for i := range v.I64() {
		v.I64()[i] = int64(g.draw.Intn(5))
		if key >= 0 {
			v.I64()[i] = int64(i / pow(side, key) % side)
		}
	}
	if slices.Contains(f, "null") {
		for i := 0; i < rows; i += 3 {
			v.SetNull(i)
		}
	}
	return v
}

func (g *golden) opt(d *datadriven.TestData) string {
	var params, expect, not, disable []string
	var show string
	d.MaybeScanArgs(g.t, "show", &show)
	for _, a := range d.CmdArgs {
		switch a.Key {
		case "wrt":
			params = a.Vals
		case "expect":
			expect = a.Vals
		case "expect-not":
			not = a.Vals
		case "disable":
			disable = a.Vals
		}
	}
	res := g.optimize(d, params, optimizer.Options{Disable: disable, Verify: true})
	g.compare(d, params, res)
	if alone := -1; d.MaybeScanArgs(g.t, "alone", &alone) {
		g.alone(d, res, alone)
	}
	for _, r := range expect {
		known(d, g.t, r)
		if res.Fired[r] == 0 {
			d.Fatalf(g.t, "%s did not fire: %v", r, res.Fired)
		}
	}
	for _, r := range not {
		known(d, g.t, r)
		if res.Fired[r] != 0 {
			d.Fatalf(g.t, "%s fired", r)
		}
	}
	out := renumber(res.Plan.Format())
	if show == "before" {
		out = "-- before\n" + renumber(res.Grad.Format()) + "-- after\n" + out
	}
	return out
}

// alone leaves only root i of the plan. It first compares the root's rows with those that the whole plan gives.
func (g *golden) alone(d *datadriven.TestData, res *optimizer.Result, i int) {
	ctx := context.Background()
	plan, fired, err := optimizer.Alone(ctx, res.Plan, i, optimizer.Options{Verify: true})
	if err != nil {
		d.Fatalf(g.t, "%v", err)
	}
	env := &kernels.Env{Seed: 1, Step: 2}
	got, err := gradtest.Rows(ctx, g.db, env, plan.Roots[0])
	if err != nil {
		d.Fatalf(g.t, "%v", err)
	}
	want, err := gradtest.Rows(ctx, g.db, env, res.Plan.Roots[i])
	if err != nil {
		d.Fatalf(g.t, "%v", err)
	}
	if err := gradtest.Compare(got, want, 1e-12); err != nil {
		d.Fatalf(g.t, "root %d alone: %v", i, err)
	}
	res.Plan, res.Fired = plan, fired
}

func known(d *datadriven.TestData, t *testing.T, rule string) {
	if !slices.ContainsFunc(rules.All(), func(r rules.Rule) bool { return r.Name == rule }) {
		d.Fatalf(t, "no rule %s", rule)
	}
}

func (g *golden) optimize(d *datadriven.TestData, params []string, opt optimizer.Options) *optimizer.Result {
	res, err := gradtest.Optimize(context.Background(), g.db, d.Input, params, opt)
	if err != nil {
		d.Fatalf(g.t, "%v", err)
	}
	return res
}

// compare runs the plan and the plan without any rewrite on the data.
func (g *golden) compare(d *datadriven.TestData, params []string, res *optimizer.Result) {
	var none []string
	for _, r := range rules.All() {
		none = append(none, r.Name)
	}
	plain := g.optimize(d, params, optimizer.Options{Disable: none, Verify: true})
	env := &kernels.Env{Seed: 1, Step: 2}
	for i, root := range res.Plan.Roots {
		got, err := gradtest.Rows(context.Background(), g.db, env, root)
		if err != nil {
			d.Fatalf(g.t, "%v", err)
		}
		want, err := gradtest.Rows(context.Background(), g.db, env, plain.Plan.Roots[i])
		if err != nil {
			d.Fatalf(g.t, "%v", err)
		}
		if err := gradtest.Compare(got, want, 1e-12); err != nil {
			d.Fatalf(g.t, "root %s: %v", root.Name, err)
		}
	}
}

// renumber gives the columns of a printed plan numbers from 1 in order of appearance, so that a golden plan does
// not change with the number of nodes that were built on the way.
func renumber(plan string) string {
	ids := map[string]string{}
	return regexp.MustCompile(`:\d+\b`).ReplaceAllStringFunc(plan, func(id string) string {
		if ids[id] == "" {
			ids[id] = fmt.Sprintf(":%d", len(ids)+1)
		}
		return ids[id]
	})
}

// TestEveryRule asks of each rule a file of its own name, here and in testdata, with a case in which it fires and one
// in which it must not.
func TestEveryRule(t *testing.T) {
	for _, r := range rules.All() {
		file := snake(r.Name)
		if src, err := os.ReadFile("rules/" + file + ".go"); err != nil || !strings.Contains(string(src), `"`+r.Name+`"`) {
			t.Errorf("rule %s is not in rules/%s.go", r.Name, file)
		}
		cases, err := os.ReadFile("testdata/" + file)
		if err != nil {
			t.Errorf("rule %s: %v", r.Name, err)
			continue
		}
		for _, want := range []string{"expect=", "expect-not="} {
			if !regexp.MustCompile(want + `\(?([A-Za-z]+, ?)*` + r.Name).Match(cases) {
				t.Errorf("testdata/%s has no case with %s%s", file, want, r.Name)
			}
		}
	}
}

// snake turns PushSelectBelowJoin into push_select_below_join.
func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
