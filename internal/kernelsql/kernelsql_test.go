package kernelsql_test

import (
	"context"
	"fmt"
	"math"
	"math/rand"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/gradtest"
	"github.com/relgrad/relgrad/internal/kernelsql"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/internal/randquery"
	"github.com/relgrad/relgrad/internal/randquery/engines"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront"
	"github.com/relgrad/relgrad/store"
	"github.com/relgrad/relgrad/tensor"
)

// rows of a sample's table; the last has NULL in its first argument that may be NULL.
const rows = 4

// sample is one call over a table t(id, z, a0, a1, …) of its arguments.
type sample struct {
	d    *kernels.Def
	s    kernels.Sample
	args []string        // SQL of the run-time arguments
	expr []*kernels.Expr // the same for the oracle; columns count from 0:0, which is id
	cols []memdb.Column
	sql  string
	call *kernels.Expr
}

// newSample fills the table; false for a kernel that SQL does not name.
func newSample(d *kernels.Def, s kernels.Sample) (*sample, bool, error) {
	out := &sample{d: d, s: s}
	rng := rand.New(rand.NewSource(int64(len(s.Types))))
	id, z := ra.NewVector(kernels.Type{Kind: kernels.Int}, rows), ra.NewVector(kernels.Type{Kind: kernels.Float64}, rows)
	for i := range rows {
		id.Ints[i], z.F64[i] = int64(i), rng.Float64()
	}
	out.cols = []memdb.Column{{Name: "id", Data: id}, {Name: "z", Data: z}}
	given, nulled := s.Ints, false
	for i, t := range s.Types {
		n := int64(1)
		if (t.Kind == kernels.Int || t.Kind == kernels.Bool) && t.Shape == nil && len(given) > 0 {
			n, given = given[0], given[1:]
		}
		switch {
		case t.Kind == kernels.Int && t.Shape != nil:
			array := d.Array(s)
			out.args, out.expr = append(out.args, array.Const.String()), append(out.expr, array)
			continue
		case t.Kind == kernels.Int && d.IsMacro(), d.Name == "dropout" && i == 1: // constants
			v := kernels.IntValue(n)
			if t.IsFloat() {
				v = kernels.FloatValue(0.25)
			}
			out.args, out.expr = append(out.args, v.String()), append(out.expr, kernels.Const(v))
			continue
		}
		name := fmt.Sprintf("a%d", i)
		v := fill(d, t, n, rng)
		if !nulled {
			v.SetNull(rows - 1)
			nulled = true
		}
		ty := v.Type
		ty.Nullable = v.Valid != nil
		out.args = append(out.args, name)
		out.expr = append(out.expr, kernels.Column(kernels.Col{ID: kernels.ColumnID(len(out.cols))}, ty))
		out.cols = append(out.cols, memdb.Column{Name: name, Data: v})
	}
	var ok bool
	if out.sql, ok = kernelsql.Call(d, s, out.args); !ok {
		return nil, false, nil
	}
	var err error
	if d.IsMacro() {
		out.call, err = d.Apply(out.expr...)
	} else {
		out.call, err = kernels.Call(d, s.Attr, out.expr...)
	}
	return out, true, err
}

// fill draws a column inside the kernel's domain; integers and booleans are the sample's.
func fill(d *kernels.Def, t kernels.Type, n int64, rng *rand.Rand) *ra.Vector {
	t.Nullable = false
	v := ra.NewVector(t, rows)
	lo, hi := d.Lo, d.Hi
	if lo == 0 && hi == 0 {
		lo, hi = -2, 2
	}
	draw := func() float64 { return lo + (hi-lo)*rng.Float64() }
	for i := range v.Ints {
		v.Ints[i] = n
	}
	for i := range v.F64 {
		v.F64[i] = draw()
	}
	for i := range v.F32 {
		v.F32[i] = float32(draw())
	}
	for i := range v.Texts {
		v.Texts[i] = []string{"ab", "b", "aB", "a%"}[rng.Intn(4)]
		if d.Name == "cast" {
			v.Texts[i] = "12"
		}
	}
	return v
}

// database is the sample's table, for the engines that need no SQL.
func (s *sample) database() *memdb.DB {
	db := memdb.New()
	db.Create("t", 1, s.cols...)
	return db
}

// value is the call's value in a row, by the reference code, as an ordinary SELECT means it.
func (s *sample) value(row int) (kernels.Value, error) {
	return s.call.Eval(&kernels.Env{}, func(c kernels.Col) kernels.Value { return s.cols[c.ID].Data.Value(row) })
}

// script creates and fills the table in a store.
func (s *sample) script() string {
	var cols []string
	for _, c := range s.cols {
		cols = append(cols, fmt.Sprintf("%s %s%s", c.Name, c.Data.Type.Kind, strings.Repeat("[]", len(c.Data.Type.Shape))))
	}
	text := "DROP TABLE IF EXISTS t; CREATE TABLE t (" + strings.Join(cols, ", ") + ", PRIMARY KEY (id)); INSERT INTO t VALUES "
	for i := range rows {
		var vals []string
		for _, c := range s.cols {
			v := c.Data.Value(i)
			if t := v.String(); v.Type.IsChunk() && !v.Null {
				vals = append(vals, "'"+t+"'")
			} else {
				vals = append(vals, t)
			}
		}
		text += fmt.Sprintf("%s(%s)", map[bool]string{true: ", "}[i > 0], strings.Join(vals, ", "))
	}
	return text + ";"
}

// scalar is the call as one number, for a loss.
func (s *sample) scalar() string {
	switch t := s.call.Type; {
	case t.IsChunk():
		return fmt.Sprintf("dot(%s, random_normal(%s, 3))", s.sql, kernelsql.Ints(t.Shape))
	case t.IsFloat():
		return s.sql
	case t.Kind == kernels.Bool:
		return s.sql + "::int * z"
	case t.Kind == kernels.Text:
		return fmt.Sprintf("length(%s) * z", s.sql)
	}
	return s.sql + " * z"
}

func (s *sample) String() string { return fmt.Sprintf("%s of %v", s.sql, s.s.Types) }

// each calls f for every sample of every kernel, in its own types and with all floats in one type.
func each(t *testing.T, f func(*sample)) {
	t.Helper()
	for _, d := range kernels.All() {
		named := false
		for _, base := range d.Calls() {
			var seen []string
			for _, kind := range []kernels.Kind{kernels.Text, kernels.Float32, kernels.Float64} { // Text: as they are
				s := base
				s.Types = slices.Clone(base.Types)
				for i := range s.Types {
					if s.Types[i].IsFloat() && kind != kernels.Text {
						s.Types[i].Kind = kind
					}
				}
				if text := fmt.Sprint(s.Types); slices.Contains(seen, text) {
					continue
				} else {
					seen = append(seen, text)
				}
				x, ok, err := newSample(d, s)
				if err != nil {
					t.Errorf("%s%v: %v", d.Name, s.Types, err)
				} else if ok {
					named = true
					f(x)
				}
			}
		}
		if named == slices.Contains(kernelsql.Internal, d.Name) {
			t.Errorf("%s: SQL has a form for it: %v, but the list of those without says otherwise", d.Name, named)
		}
	}
}

// TestSelect compares what an ordinary SELECT on the store gives with the reference code.
func TestSelect(t *testing.T) {
	db, err := store.OpenTemp()
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	n := 0
	each(t, func(s *sample) {
		got, err := query(db, s.script()+"SELECT "+s.sql+" AS y FROM t ORDER BY id")
		if s.d.Name == "matmul" && s.call.Type.Shape == nil { // a function has one type; see the message's hint
			if err == nil || !strings.Contains(err.Error(), "is a scalar, not an array") {
				t.Errorf("%v: %v", s, err)
			}
			return
		}
		if err != nil {
			t.Errorf("%v: %v", s, err)
			return
		}
		n++
		for row := range rows {
			want, err := s.value(row)
			if err == nil {
				err = same(got[row][0], want)
			}
			if err != nil {
				t.Errorf("%v, row %d: %v", s, row, err)
				return
			}
		}
	})
	t.Logf("%d calls", n)
}

// query runs statements on a store and returns the last one's rows.
func query(db *store.DB, sql string) ([][]any, error) {
	text := &sqlfront.Text{SQL: sql}
	list, err := sqlfront.Parse(text)
	if err != nil {
		return nil, err
	}
	var out [][]any
	for _, st := range list {
		r, err := db.Exec(context.Background(), st.Stmt, text)
		if err != nil {
			return nil, err
		}
		out = r.Rows
	}
	return out, nil
}

// same compares a store's value with the reference code's; a real is rounded in the store.
func same(got any, want kernels.Value) error {
	fail := fmt.Errorf("the store gives %v, the reference code %v", got, want)
	if want.Null || got == nil {
		if want.Null && got == nil {
			return nil
		}
		return fail
	}
	var x []float64
	switch g := got.(type) {
	case *tensor.Tensor:
		if !g.Shape.Equal(want.Type.Shape) || kernels.KindOf(g.DType) != want.Type.Kind {
			return fail
		}
		x = g.Data
	case float64:
		x = []float64{g}
	case int64:
		x = []float64{float64(g)}
	case bool:
		if g != want.True() {
			return fail
		}
		return nil
	case string: // a text, or the digits of a numeric
		if want.Type.Kind == kernels.Text {
			if g != want.T {
				return fail
			}
			return nil
		}
		f, err := strconv.ParseFloat(g, 64)
		if err != nil {
			return fail
		}
		x = []float64{f}
	default:
		return fail
	}
	tol := 1e-12
	if want.Type.Kind == kernels.Float32 {
		tol = 1e-6
	}
	y := want.Floats()
	for i := range x {
		if len(x) != len(y) || !(math.Abs(x[i]-y[i]) <= tol*math.Max(1, math.Abs(y[i]))) {
			return fail
		}
	}
	return nil
}

// TestLosses runs a loss over every call, and its gradient, in the oracle, the executor and as generated SQL, and
// compares the oracle's gradient with central differences of the oracle's loss.
func TestLosses(t *testing.T) {
	lite, done, err := engines.SQLite()
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	ctx, env, n := context.Background(), &kernels.Env{Seed: 1, Step: 2}, 0
	each(t, func(s *sample) {
		loss := "SELECT sum(" + s.scalar() + ") + sum(z * z) AS loss FROM t"
		db := s.database()
		res, err := gradtest.Optimize(ctx, db, loss, []string{"t"}, optimizer.Options{Verify: true})
		if s.call.Type.Kind == kernels.Text && s.d.Name == "cast" && s.s.Types[0].Kind == kernels.Float32 {
			if err == nil || !strings.Contains(err.Error(), "a cast of real or numeric to text") {
				t.Errorf("%s with %v: %v", loss, s.s.Types, err)
			}
			return
		}
		if err != nil {
			t.Errorf("%s with %v: %v", loss, s.s.Types, err)
			return
		}
		want, err := randquery.Oracle.Run(ctx, db, res.Plan, env)
		if err != nil {
			t.Errorf("%s with %v: %v", loss, s.s.Types, err)
			return
		}
		n++
		for _, e := range []randquery.Engine{engines.Executor(), lite} {
			got, err := e.Run(ctx, db, res.Plan, env)
			for i := range want {
				if err == nil {
					err = gradtest.Compare(gradtest.Keyed(got[i]), gradtest.Keyed(want[i]), tolerance(s))
				}
			}
			if err != nil {
				t.Errorf("%s with %v: %s: %v", loss, s.s.Types, e.Name, err)
			}
		}
		if allDouble(s) && s.d.Name != "stop_gradient" && s.call.Type.Kind != kernels.Text { // differences see through the one and jump in the other
			b, err := gradtest.Bind(ctx, db, loss, []string{"t"})
			if err == nil {
				err = b.Check(ctx, db, env, 1e-6)
			}
			if err != nil {
				t.Errorf("%s with %v: %v", loss, s.s.Types, err)
			}
		}
	})
	t.Logf("%d losses", n)
}

func allDouble(s *sample) bool {
	return s.call.Type.Kind != kernels.Float32 && !slices.ContainsFunc(s.cols, func(c memdb.Column) bool { return c.Data.Type.Kind == kernels.Float32 })
}

func tolerance(s *sample) float64 {
	if allDouble(s) {
		return 1e-11
	}
	return 2e-5
}
