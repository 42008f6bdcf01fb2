package kernelsql

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/kernels"
)

// Rows of a sample's table; the last has NULL in its first argument that may be NULL.
const Rows = 4

// Sample is one call over a table t(id, z, a0, a1, …) of its arguments.
type Sample struct {
	Def  *kernels.Def
	Call kernels.Sample
	args []string        // SQL of the run-time arguments
	expr []*kernels.Expr // of the same for the oracle; columns count from 0:0, which is id
	Cols []memdb.Column
	SQL  string        // the call
	Expr *kernels.Expr // the same for the oracle
}

// newSample fills the table; false for a kernel that SQL does not name.
func newSample(d *kernels.Def, s kernels.Sample) (*Sample, bool, error) {
	out := &Sample{Def: d, Call: s}
	rng := rand.New(rand.NewSource(int64(len(s.Types))))
	id, z := column.New(kernels.Type{Kind: kernels.Int}, Rows), column.New(kernels.Type{Kind: kernels.Float64}, Rows)
	for i := range Rows {
		id.I64()[i], z.F64()[i] = int64(i), rng.Float64()
	}
	out.Cols = []memdb.Column{{Name: "id", Data: id}, {Name: "z", Data: z}}
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
			v.SetNull(Rows - 1)
			nulled = true
		}
		ty := v.Type()
		ty.Nullable = v.Valid() != nil
		out.args = append(out.args, name)
		out.expr = append(out.expr, kernels.Column(kernels.Col{ID: kernels.ColumnID(len(out.Cols))}, ty))
		out.Cols = append(out.Cols, memdb.Column{Name: name, Data: v})
	}
	var ok bool
	if out.SQL, ok = Call(d, s, out.args); !ok {
		return nil, false, nil
	}
	var err error
	if d.IsMacro() {
		out.Expr, err = d.Apply(out.expr...)
	} else {
		out.Expr, err = kernels.Call(d, s.Attr, out.expr...)
	}
	return out, true, err
}

// fill draws a column inside the kernel's domain; integers and booleans are the sample's.
func fill(d *kernels.Def, t kernels.Type, n int64, rng *rand.Rand) *column.Column {
	t.Nullable = false
	v := column.New(t, Rows)
	lo, hi := d.Lo, d.Hi
	if lo == 0 && hi == 0 {
		lo, hi = -2, 2
	}
	draw := func() float64 { return lo + (hi-lo)*rng.Float64() }
	for i := range v.I64() {
		v.I64()[i] = n
	}
	for i := range v.F64() {
		v.F64()[i] = draw()
	}
	for i := range v.F32() {
		v.F32()[i] = float32(draw())
	}
	for i := range v.Texts() {
		v.Texts()[i] = []string{"ab", "b", "aB", "a%"}[rng.Intn(4)]
		if d.Name == "cast" {
			v.Texts()[i] = "12"
		}
	}
	return v
}

// Database is the sample's table, for the engines that need no SQL.
func (s *Sample) Database() *memdb.DB {
	db := memdb.New()
	db.Create("t", 1, s.Cols...)
	return db
}

// Value is the call's value in a row, by the reference code, as an ordinary SELECT means it.
func (s *Sample) Value(row int) (kernels.Value, error) {
	return s.Expr.Eval(&kernels.Env{}, func(c kernels.Col) kernels.Value { return s.Cols[c.ID].Data.Value(row) })
}

// Script creates and fills the table in a store.
func (s *Sample) Script() string {
	var cols []string
	for _, c := range s.Cols {
		t := c.Data.Type()
		cols = append(cols, fmt.Sprintf("%s %s%s", c.Name, t.Kind, strings.Repeat("[]", len(t.Shape))))
	}
	text := "DROP TABLE IF EXISTS t; CREATE TABLE t (" + strings.Join(cols, ", ") +
		", PRIMARY KEY (id)); INSERT INTO t VALUES "
	for i := range Rows {
		var vals []string
		for _, c := range s.Cols {
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

// Scalar is the call as one number, for a loss.
func (s *Sample) Scalar() string {
	switch t := s.Expr.Type; {
	case t.IsChunk():
		return fmt.Sprintf("dot(%s, random_normal(%s, 3))", s.SQL, Ints(t.Shape))
	case t.IsFloat():
		return s.SQL
	case t.Kind == kernels.Bool:
		return s.SQL + "::int * z"
	case t.Kind == kernels.Text:
		return fmt.Sprintf("length(%s) * z", s.SQL)
	}
	return s.SQL + " * z"
}

func (s *Sample) String() string { return fmt.Sprintf("%s of %v", s.SQL, s.Call.Types) }

// Each calls f for every sample of every kernel, in its own types and with all floats in one type.
func Each(t testing.TB, f func(*Sample)) {
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
				if x, ok, err := newSample(d, s); err != nil {
					t.Errorf("%s%v: %v", d.Name, s.Types, err)
				} else if ok {
					named = true
					f(x)
				}
			}
		}
		if named == slices.Contains(Internal, d.Name) {
			t.Errorf("%s: SQL has a form for it: %v, but the list of those without says otherwise", d.Name, named)
		}
	}
}
