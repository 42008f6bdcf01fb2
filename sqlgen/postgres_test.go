package sqlgen_test

import (
	"math"
	"testing"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlgen"
)

// TestPostgresColumns fixes how columns of declared types are read, which a memdb does not have.
func TestPostgresColumns(t *testing.T) {
	d := sqlgen.Postgres{}
	for _, c := range []struct {
		pgType string
		t      kernels.Type
		want   string
	}{
		{"bigint", kernels.Type{Kind: kernels.Int}, "x"},
		{"integer", kernels.Type{Kind: kernels.Int}, "x::bigint"},
		{"smallint", kernels.Type{Kind: kernels.Int}, "x::bigint"},
		{"double precision", kernels.Type{Kind: kernels.Float64}, "x"},
		{"real", kernels.Type{Kind: kernels.Float32}, "x::double precision"},
		{"numeric(10,2)", kernels.Type{Kind: kernels.Float64}, "x::double precision"},
		{"real[]", kernels.Type{Kind: kernels.Float32, Shape: []int{2}}, "x"},
		{"boolean", kernels.Type{Kind: kernels.Bool}, "x"},
		{"text", kernels.Type{Kind: kernels.Text}, `x COLLATE "C"`},
		{"date", kernels.Type{Kind: kernels.Text}, `x::pg_catalog.text COLLATE "C"`},
	} {
		if got := d.Column("", &ra.TableColumn{Name: "x", PGType: c.pgType, Type: c.t}); got != c.want {
			t.Errorf("%s: %s, want %s", c.pgType, got, c.want)
		}
	}
	for name, want := range map[string]string{"w": "public.w", "Order": `public."Order"`, `a"b`: `public."a""b"`,
		"select": `public."select"`} {
		if got := d.Table(&ra.Table{Name: name}); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if got := d.Table(&ra.Table{Schema: "pg_temp", Name: "w"}); got != "pg_temp.w" {
		t.Error(got)
	}
}

// TestPostgresConstants fixes the texts of constants that Postgres would read as something else.
func TestPostgresConstants(t *testing.T) {
	zeros := make([]float64, 9)
	for _, c := range []struct {
		v    kernels.Value
		want string
	}{
		{kernels.IntValue(-7), "-7"},
		{kernels.IntValue(math.MinInt64), "'-9223372036854775808'::bigint"},
		{kernels.FloatValue(2), "2.0"},
		{kernels.FloatValue(1e300), "1e+300"},
		{kernels.FloatValue(math.NaN()), "'NaN'::double precision"},
		{kernels.FloatValue(math.Inf(-1)), "'-Infinity'::double precision"},
		{kernels.FloatValue(math.Copysign(0, -1)), "'-0'::double precision"},
		{kernels.NullOf(kernels.Type{Kind: kernels.Float32}), "NULL::double precision"},
		{kernels.NullOf(kernels.Type{Kind: kernels.Float32, Shape: []int{2}}), "NULL::real[]"},
		{kernels.TextValue(`O'Neil\`), `E'O''Neil\\'`},
		{kernels.ChunkValue(kernels.Float32, []int{2, 1}, []float64{1, math.Inf(1)}), "'{{1},{Infinity}}'::real[]"},
		{kernels.ChunkValue(kernels.Float64, []int{3, 3}, zeros), "relgrad.full(ARRAY[3, 3], 0.0)"},
		{kernels.ChunkValue(kernels.Float32, []int{3, 3}, zeros), "relgrad.gen_to_real(relgrad.full(ARRAY[3, 3], 0.0))"},
	} {
		if got, err := (sqlgen.Postgres{}).Const(c.v); err != nil || got != c.want {
			t.Errorf("%v: %s, %v, want %s", c.v, got, err, c.want)
		}
	}
}
