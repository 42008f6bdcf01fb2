package train_test

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/gradtest"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/bind"
	"github.com/relgrad/relgrad/sqlgen"
	"github.com/relgrad/relgrad/train"
)

func ints(x ...int64) *column.Column {
	return column.Of(kernels.Type{Kind: kernels.Int}, x)
}

func vector(kind kernels.Kind, n int, shape ...int) *column.Column {
	return column.New(kernels.Type{Kind: kind, Shape: shape}, n)
}

// database has tables of values; only their shapes count here.
func database() *memdb.DB {
	db := memdb.New()
	db.Create("rating", 1, memdb.Column{Name: "id", Data: ints(1, 2, 3)}, memdb.Column{Name: "u", Data: ints(1, 1, 2)},
		memdb.Column{Name: "i", Data: ints(1, 2, 3)},
		memdb.Column{Name: "rating", Data: vector(kernels.Float64, 3)})
	db.Create("zed", 1, memdb.Column{Name: "id", Data: ints(1, 2)},
		memdb.Column{Name: "v", Data: vector(kernels.Float64, 2, 2)})
	db.Create("item", 1, memdb.Column{Name: "id", Data: ints(1, 2, 3)},
		memdb.Column{Name: "v", Data: vector(kernels.Float64, 3, 2)})
	one := db.Create("one", 1, memdb.Column{Name: "id", Data: ints(1)},
		memdb.Column{Name: "w", Data: vector(kernels.Float32, 1, 3)})
	one.Cols, one.Key, db.Data["one"] = one.Cols[1:], nil, db.Data["one"][1:]
	return db
}

// TestStatement fixes the texts: "statement params=(w) [optimizer=…] [frozen] [sparse] [project=kind] [option=…]".
func TestStatement(t *testing.T) {
	datadriven.RunTest(t, "testdata/statement", func(t *testing.T, d *datadriven.TestData) string {
		db, c := database(), train.Default()
		var params []train.StatementParam
		var names []string
		for _, a := range d.CmdArgs {
			if err := option(&c, a, &names); err != nil {
				t.Fatal(err)
			}
		}
		res, err := gradtest.Optimize(context.Background(), db, d.Input, names, optimizer.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			_, table, err := bind.ParseParam(context.Background(), db, name)
			if err != nil {
				t.Fatal(err)
			}
			p := train.StatementParam{Table: table}
			for i, col := range table.Cols {
				if col.IsValue() {
					p.Cols = append(p.Cols, i)
					p.Slots = append(p.Slots, &train.Slot{Name: name + "." + col.Name, Names: []string{name, name + "." + col.Name}})
				}
			}
			params = append(params, p)
		}
		st, err := c.Statement(res, params, sqlgen.Options{})
		if err != nil {
			return err.Error() + "\n"
		}
		return renumber(fmt.Sprintf("%s;\n\n%s\narguments of step 1: %v, of step 2: %v\n", strings.Join(st.Setup, ";\n"),
			st.Statement, st.Values(1), st.Values(2)))
	})
}

func option(c *train.Config, a datadriven.CmdArg, params *[]string) error {
	switch a.Key {
	case "params":
		*params = a.Vals
		return nil
	case "frozen":
		c.Options = map[string]train.ParamOptions{"item": {Where: "id < 3 -- the others are frozen"}}
		return nil
	case "sparse":
		return c.Set("sparse", true)
	case "project":
		return c.Set("project", []string{(*params)[0] + ": " + a.Vals[0]})
	}
	if x, err := strconv.ParseFloat(a.Vals[0], 64); err == nil {
		return c.Set(a.Key, x)
	}
	return c.Set(a.Key, a.Vals[0])
}

// TestStatementChanging: what before_step writes is not computed once.
func TestStatementChanging(t *testing.T) {
	db, c := database(), train.Default()
	_, table, err := bind.ParseParam(context.Background(), db, "item")
	if err != nil {
		t.Fatal(err)
	}
	setup := func(changing string) string {
		res, err := gradtest.Optimize(context.Background(), db,
			"SELECT sum(sqnorm(v) * m.x) FROM item JOIN (SELECT i, avg(rating) AS x FROM rating GROUP BY i) m ON m.i = id",
			[]string{"item"}, optimizer.Options{})
		if err != nil {
			t.Fatal(err)
		}
		ra.Walk(func(n *ra.Node) {
			n.PerStep = n.Op == ra.Scan && n.Table.Name == changing
		}, res.Plan.Nodes()...)
		slot := &train.Slot{Name: "item.v", Names: []string{"item", "item.v"}}
		st, err := c.Statement(res, []train.StatementParam{{Table: table, Cols: []int{1}, Slots: []*train.Slot{slot}}},
			sqlgen.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(st.Setup, ";\n")
	}
	for changing, once := range map[string]bool{"": true, "item": true, "rating": false} {
		if got := strings.Contains(setup(changing), "public.rating"); got != once {
			t.Errorf("where %q changes at every step, the ratings are aggregated once: %v, want %v", changing, got, once)
		}
	}
}

// TestStatementNulls: which values of a parameter are NULL is asked at every step.
func TestStatementNulls(t *testing.T) {
	db, c := database(), train.Default()
	db.Data["item"][1].SetNull(0)
	db.Tables["item"].Cols[1].Type.Nullable = true
	_, table, err := bind.ParseParam(context.Background(), db, "item")
	if err != nil {
		t.Fatal(err)
	}
	res, err := gradtest.Optimize(context.Background(), db,
		"SELECT sum(sqnorm(v) * r) FROM (SELECT v, rank() OVER (ORDER BY id) AS r FROM item WHERE v IS NOT NULL) q",
		[]string{"item"}, optimizer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	slot := &train.Slot{Name: "item.v", Names: []string{"item", "item.v"}}
	st, err := c.Statement(res, []train.StatementParam{{Table: table, Cols: []int{1}, Slots: []*train.Slot{slot}}},
		sqlgen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range st.Setup {
		if !strings.Contains(text, "relgrad_train_state") && strings.Contains(text, "NULL") {
			t.Errorf("it is asked once:\n%s", text)
		}
	}
	if !strings.Contains(st.Statement, "IS NULL") && !strings.Contains(st.Statement, "IS NOT NULL") {
		t.Errorf("it is not asked:\n%s", st.Statement)
	}
}

var columns = regexp.MustCompile(`\bc[0-9]+\b`)

// renumber counts the columns in the order of the text: how many a binder or a rule made before does not matter.
func renumber(s string) string {
	seen := map[string]string{}
	return columns.ReplaceAllStringFunc(s, func(c string) string {
		if seen[c] == "" {
			seen[c] = fmt.Sprintf("c%d", len(seen)+1)
		}
		return seen[c]
	})
}
