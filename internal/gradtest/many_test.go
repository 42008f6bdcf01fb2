package gradtest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer"
	"github.com/relgrad/relgrad/rjp"
)

// TestManyInputs: the gradients of losses of more terms than are differentiated one by one are those of differences,
// with rules and without, where terms are NULL, read the same tables, or multiply each other.
func TestManyInputs(t *testing.T) {
	const n = rjp.Wide + 4
	ctx, env := context.Background(), &kernels.Env{Seed: 1, Step: 2}
	db := Graph()
	var params []string
	for i := range n {
		params = append(params, fmt.Sprint("many", i))
		db.Create(params[i], 1, memdb.Column{Name: "id", Data: ints(1, 2)},
			memdb.Column{Name: "x", Data: column.Of(kernels.Type{Kind: kernels.Float64},
				[]float64{0.5 + float64(i)/100, 1 - float64(i)/90})})
	}
	join := func(sep, term string) string {
		s := make([]string, n)
		for i := range s {
			s[i] = fmt.Sprintf(term, i)
		}
		return strings.Join(s, sep)
	}
	for _, loss := range []string{
		"SELECT " + join(" + ", "(SELECT sum(x * x) FROM many%d)"),
		"SELECT " + join(" * ", "(SELECT sum(x) FROM many%d)"),
		"SELECT " + join(" + ", "coalesce((SELECT sum(x * x) FROM many%[1]d WHERE id > %[1]d), 0.5)"),
		"SELECT " + join(" + ", "(SELECT sum(x * %d) FROM many0)") + " + (SELECT sum(x) FROM many1)",
		"SELECT sum(" + join(" * ", "many%d.x") + ") FROM many0" +
			strings.Replace(join("", " JOIN many%d USING (id)"), " JOIN many0 USING (id)", "", 1),
	} {
		of := params
		if strings.Contains(loss, "FROM many0) +") {
			of = params[:2]
		} else if strings.Contains(loss, "coalesce") {
			of = params[:2] // of the others no row is left
		}
		b, err := Bind(ctx, db, loss, of)
		if err != nil {
			t.Fatalf("%.60s: %v", loss, err)
		}
		if err := b.Check(ctx, db, env, 1e-6); err != nil {
			t.Errorf("%.60s: %v", loss, err)
		}
		var want []map[string][]float64
		for _, disable := range [][]string{ruleNames(), nil} {
			res, err := Optimize(ctx, db, loss, of, optimizer.Options{Disable: disable})
			if err != nil {
				t.Fatalf("%.60s: %v", loss, err)
			}
			for i, root := range res.Plan.Roots {
				got, err := Rows(ctx, db, env, root)
				if err != nil {
					t.Fatalf("%.60s: %v", loss, err)
				}
				if disable != nil {
					want = append(want, got)
				} else if err := Compare(got, want[i], 1e-12); err != nil {
					t.Errorf("%.60s: %s: %v", loss, root.Name, err)
				}
			}
		}
	}
}
