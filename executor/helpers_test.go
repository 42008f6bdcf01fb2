package executor

import (
	"context"
	"fmt"
	"math"
	"math/rand"
	"os"
	"sort"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/tuning"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/kernels/cuda"
	"github.com/relgrad/relgrad/optimizer/physical"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/ra/interp"
	"github.com/relgrad/relgrad/tensor"
)

// memory is a Source of tables in memory; perm, if set, is the order in which the rows are handed out.
type memory struct {
	tables map[string][]*column.Column
	perm   map[string][]int32
	opaque func(n *ra.Node, env *kernels.Env) []*column.Column
}

func (m *memory) Read(_ context.Context, t *ra.Table, cols []int) ([]*column.Column, error) {
	var out []*column.Column
	for _, c := range cols {
		v := m.tables[t.Name][c]
		if p := m.perm[t.Name]; p != nil {
			v = column.Gather(v, p)
		}
		out = append(out, v)
	}
	return out, nil
}

// ReadInto implements ra.Roomy, as the store does.
func (m *memory) ReadInto(ctx context.Context, t *ra.Table, cols []int, room ra.Room) ([]*column.Column, error) {
	out, err := m.Read(ctx, t, cols)
	for i, v := range out {
		if v.Type().Kind == kernels.Text {
			continue
		}
		if x := room(i, v.Type(), v.Len()); x != nil {
			x.Append(v)
			out[i] = x
		}
	}
	return out, err
}

func (m *memory) Opaque(_ context.Context, n *ra.Node, env *kernels.Env) ([]*column.Column, error) {
	return m.opaque(n, env), nil
}

func (m *memory) shuffled(rng *rand.Rand) *memory {
	out := &memory{tables: m.tables, perm: map[string][]int32{}, opaque: m.opaque}
	var names []string
	for name := range m.tables {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		cols := m.tables[name]
		p := make([]int32, cols[0].Len())
		for i, r := range rng.Perm(cols[0].Len()) {
			p[i] = int32(r)
		}
		out.perm[name] = p
	}
	return out
}

func (m *memory) add(name string, key int, cols ...*column.Column) *ra.Table {
	t := &ra.Table{Name: name, Declared: true, Rows: int64(cols[0].Len())}
	for i, v := range cols {
		ty := v.Type()
		ty.Nullable = v.Valid() != nil
		t.Cols = append(t.Cols, ra.TableColumn{Name: fmt.Sprintf("c%d", i), Type: ty})
		if i < key {
			t.Key = append(t.Key, i)
		}
	}
	if m.tables == nil {
		m.tables = map[string][]*column.Column{}
	}
	m.tables[name] = cols
	return t
}

func ints(x ...int64) *column.Column {
	return column.Of(kernels.Type{Kind: kernels.Int}, x)
}

var debugRows = false

// TestMain fails where buffers are left at the end of all tests, which run beside each other.
func TestMain(m *testing.M) {
	skipOnDevice()
	before, _ := tensor.LiveBuffers()
	code := m.Run()
	closeDevices(nil)
	if count, bytes := tensor.LiveBuffers(); code == 0 && count != before {
		fmt.Printf("FAIL: %d buffers (%d bytes) are not freed: run tests one by one, with -run\n", count-before, bytes)
		code = 1
	}
	if code == 0 && *byLibrary && cuda.Count().Products == 0 {
		fmt.Println("FAIL: cuBLASLt has made no product")
		code = 1
	}
	os.Exit(code)
}

func runPlan(t testing.TB, plan *ra.Plan, src ra.Source, opt Options, env kernels.Env) ([][]*column.Column, error) {
	t.Helper()
	opt.Env = env
	p, err := CompileOn(context.Background(), plan, src, opt)
	if err != nil {
		return nil, err
	}
	return runTwice(p, plan, env)
}

// runAtSites is runPlan for several sites, by the plan of TRA's Table 1.
func runAtSites(t testing.TB, plan *ra.Plan, src ra.Source, opt Options, env kernels.Env,
	sites int) ([][]*column.Column, error) {
	t.Helper()
	placed, err := physical.Compile(plan, physical.Sites{N: sites})
	if err != nil {
		return nil, err
	}
	opt.Env, opt.Devices = env, devices(sites)
	p, err := CompileSites(context.Background(), placed, src, opt)
	if err != nil {
		return nil, err
	}
	return runTwice(p, plan, env)
}

func runTwice(p *Program, plan *ra.Plan, env kernels.Env) ([][]*column.Column, error) {
	defer closeDevices(p)
	defer p.Close()
	var out [][]*column.Column
	for range 2 { // the second run must not depend on the first
		if err := p.Run(context.Background(), env); err != nil {
			return nil, err
		}
		out = nil
		for i := range plan.Roots {
			v, err := p.Result(i)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
	}
	return out, nil
}

func oracle(plan *ra.Plan, src ra.Source, env kernels.Env) ([][]interp.Row, error) {
	in := interp.New(src, &env)
	var out [][]interp.Row
	for _, r := range plan.Roots {
		rows, err := in.Eval(context.Background(), r.Node)
		if err != nil {
			return nil, err
		}
		sel := make([]interp.Row, len(rows))
		for i, row := range rows {
			for _, c := range r.Cols {
				sel[i] = append(sel[i], row[r.Node.Index(c)])
			}
		}
		out = append(out, sel)
	}
	return out, nil
}

func vectorRows(cols []*column.Column) []interp.Row {
	rows := make([]interp.Row, cols[0].Len())
	for i := range rows {
		for _, c := range cols {
			rows[i] = append(rows[i], c.Value(i))
		}
	}
	return rows
}

// sortRows orders rows by everything, floats coarsely, so that sums in another order do not move rows.
func sortRows(rows []interp.Row) {
	key := make(map[*kernels.Value]string, len(rows))
	for _, r := range rows {
		if len(r) == 0 {
			continue
		}
		var b strings.Builder
		for pass := range 2 {
			for _, v := range r {
				exact := !v.Type.IsFloat() || v.Null
				if exact == (pass == 0) {
					if exact {
						fmt.Fprintf(&b, "%v|", v)
					} else {
						for _, x := range v.Floats() {
							fmt.Fprintf(&b, "%+12.4f|", x)
						}
					}
				}
			}
		}
		key[&r[0]] = b.String()
	}
	sort.SliceStable(rows, func(i, j int) bool {
		return len(rows[i]) > 0 && key[&rows[i][0]] < key[&rows[j][0]]
	})
}

func closeTo(x, y, tol float64) bool {
	if math.IsNaN(x) || math.IsNaN(y) || math.IsInf(x, 0) || math.IsInf(y, 0) {
		return math.IsNaN(x) && math.IsNaN(y) || x == y
	}
	return math.Abs(x-y) <= tol*math.Max(1, math.Max(math.Abs(x), math.Abs(y)))
}

func sameValue(a, b kernels.Value, tol float64) bool {
	if a.Null || b.Null {
		return a.Null == b.Null
	}
	if !a.Type.IsFloat() {
		return a.I == b.I && a.T == b.T
	}
	x, y := a.Floats(), b.Floats()
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if !closeTo(x[i], y[i], tol) {
			return false
		}
	}
	return true
}

// sameRows compares results as multisets: greedily, since sorting by floats cannot be exact.
func sameRows(got, want []interp.Row, tol float64) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d rows, want %d", len(got), len(want))
	}
	got, want = append([]interp.Row(nil), got...), append([]interp.Row(nil), want...)
	sortRows(got)
	sortRows(want)
	for i := range got {
		found := -1
		for j := i; j < len(want) && found < 0; j++ {
			same := true
			for c := range got[i] {
				same = same && sameValue(got[i][c], want[j][c], tol)
			}
			if same {
				found = j
			}
		}
		if found < 0 {
			if debugRows {
				for j := range got {
					fmt.Println("G", got[j])
					fmt.Println("W", want[j])
				}
			}
			return fmt.Errorf("row %d is %v, want %v", i, got[i], want[i])
		}
		want[i], want[found] = want[found], want[i]
	}
	return nil
}

// check runs the plan in all configurations against the oracle.
func check(t testing.TB, plan *ra.Plan, src *memory, env kernels.Env, tol float64) {
	t.Helper()
	want, err := oracle(plan, src, env)
	if err != nil {
		t.Fatalf("oracle: %v\n%s", err, plan.Format())
	}
	if err := agree(t, nil, plan, src, env, want, tol); err != nil {
		t.Fatalf("%v\n%s", err, plan.Format())
	}
}

func agree(
	t testing.TB,
	tune *tuning.Sizes,
	plan *ra.Plan,
	src *memory,
	env kernels.Env,
	want [][]interp.Row,
	tol float64,
) error {
	var first [][]*column.Column
	for _, workers := range []int{1, 2, 7} {
		got, err := runPlan(t, plan, src, Options{Tuning: tune, Workers: workers, Many: workers > 1}, env)
		if err != nil {
			return fmt.Errorf("%d workers: %w", workers, err)
		}
		for i := range got {
			if err := sameRows(vectorRows(got[i]), want[i], tol); err != nil {
				return fmt.Errorf("%s, %d workers: %w", plan.Roots[i].Name, workers, err)
			}
			if first != nil {
				if err := bitEqual(got[i], first[i]); err != nil {
					return fmt.Errorf("%s, %d workers against 1: %w", plan.Roots[i].Name, workers, err)
				}
			}
		}
		if first == nil {
			first = got
		}
	}
	for _, sites := range []int{3} {
		got, err := runAtSites(t, plan, src, Options{Tuning: tune, Workers: 2}, env, sites)
		if err != nil {
			return fmt.Errorf("%d sites: %w", sites, err)
		}
		for i := range got {
			if err := sameRows(vectorRows(got[i]), want[i], tol); err != nil {
				return fmt.Errorf("%s, %d sites: %w", plan.Roots[i].Name, sites, err)
			}
		}
		nodes := 0
		if ra.Walk(func(*ra.Node) { nodes++ }, plan.Nodes()...); nodes%2 == 0 { // half of the plans
			continue
		}
		apart, err := runApart(t, plan, src, Options{Tuning: tune, Workers: 2}, env, sites)
		if err != nil {
			return fmt.Errorf("%d sites of other processes: %w", sites, err)
		}
		for i := range got {
			if err := bitEqual(apart[i], got[i]); err != nil {
				return fmt.Errorf("%s, %d sites of other processes: %w", plan.Roots[i].Name, sites, err)
			}
		}
	}
	for name, s := range map[string]*memory{"double": src, "double, shuffled": src.shuffled(rand.New(rand.NewSource(1)))} {
		got, err := runPlan(t, plan, s, Options{Tuning: tune, Workers: 2, Force64: true, Many: true}, env)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for i := range got {
			if err := sameRows(vectorRows(got[i]), want[i], 1e-10); err != nil {
				return fmt.Errorf("%s, %s: %w", plan.Roots[i].Name, name, err)
			}
		}
	}
	return nil
}

func bitEqual(a, b []*column.Column) error {
	for c := range a {
		for i := range a[c].F32() {
			if math.Float32bits(a[c].F32()[i]) != math.Float32bits(b[c].F32()[i]) {
				return fmt.Errorf("column %d element %d: %v and %v", c, i, a[c].F32()[i], b[c].F32()[i])
			}
		}
		for i := range a[c].F64() {
			if math.Float64bits(a[c].F64()[i]) != math.Float64bits(b[c].F64()[i]) {
				return fmt.Errorf("column %d element %d: %v and %v", c, i, a[c].F64()[i], b[c].F64()[i])
			}
		}
	}
	return nil
}
