package randquery

import (
	"fmt"
	"math/rand"
	"regexp"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/kernels"
)

// View is a view of a Query.
type View struct{ Name, SQL string }

// Query is a random loss over a random database.
type Query struct {
	Seed     int64
	DB       *Database
	Views    []View // in the order of creation
	Loss     string // a view's name or a query text
	Params   []string
	Uses     map[string]int // constructs and kernels drawn
	Nested   []string       // tables whose nested gradient is read
	ViewDraw bool           // a view draws: its masks depend on its name
}

// Constructs are the names under which Generate counts what it drew; kernels count apart, as kernel:<name>.
var Constructs = []string{"comma join", "join on", "join using", "natural join", "cross join", "left join",
	"right join", "parenthesised join", "self-join", "relation twice in one operator", "computed join key",
	"text key join", "unqualified column", "star", "column aliases", "where arithmetic", "where %",
	"where boolean attribute", "where text equality", "where in list", "any array", "where between", "where is null",
	"where or", "where like", "is distinct", "where constant", "value mask", "in (select)", "float attribute as structure",
	"group by column", "group by expression", "group by position", "group by alias", "functional dependency",
	"group by nullable", "having on keys", "having on count", "sum", "avg", "count", "min", "max", "chunk sum",
	"chunk avg", "filter on keys", "filter on values", "mask inside aggregate", "view", "nested view", "view used twice",
	"cte", "cte used twice", "sub-query in from", "scalar sub-query", "sub-query of one row", "union all",
	"union all of 3", "case on keys", "case on values", "chunk case", "coalesce", "chunk coalesce", "greatest", "least",
	"nullif", "cast to double", "cast to real", "boolean to int", "several value columns", "several parameters",
	"table.column parameter", "null value", "null attribute", "nested gradient", "dropout", "scalar with chunk",
	"chunk with chunk", "broadcast", "subscript", "computed subscript", "slice", "concat", "constant power", "guarded ln",
	"keyless single row", "keyless rows", "integer as number", "composite key", "text key", "empty result", "empty table",
	"loss is a view", "loss without from", "window", "partition by", "correlated sub-query", "exists", "not exists",
	"correlated in", "not in (select)", "array of values", "chunk min", "chunk max", "var_pop", "var_samp", "variance",
	"vector_agg", "array_agg", "unnest", "window order", "window frame", "window peers", "lag, lead", "row_number",
	"rank", "first_value"}

// expr is a piece of SQL with its type: a scalar of kind, or a float chunk of shape.
type expr struct {
	sql   string
	kind  kernels.Kind // Float64 stands for any float
	shape []int
	mag   float64 // roughly its largest absolute value
	dep   bool    // reads a column that may be a parameter
	bare  bool    // a plain column reference
	draws bool    // the identity of what it comes from is declared, so dropout may be applied
	null  bool    // a column that holds NULL
	fixed bool    // a float column that no parameter reaches
}

// relation is something that may stand in FROM.
type relation struct {
	sql    string // its name, or a sub-query in parentheses
	sub    bool   // needs an alias
	cols   []outCol
	keys   []string // names of the primary key's columns, for a table
	rows   float64  // roughly the number of rows
	hidden bool     // its identity rests on a hidden row id
	masked bool     // values decide which of its rows are there
	uses   []string // constructs that reading it counts
	reads  int
}

// outCol is a column of a relation.
type outCol struct {
	name string
	expr
}

// gen draws one query.
type gen struct {
	r      *rand.Rand
	prefix string
	q      *Query
	views  []*relation
	ctes   [][]*relation // by nesting
	inView bool
	names  int
	budget int // expressions that may still be drawn at length
}

// Options change what a seed draws without changing its structure.
type Options struct {
	Prefix string // of every name
	Size   int    // budget of expressions; 0: the usual
}

// Generate draws a query from its seed.
func Generate(seed int64, opt Options) *Query {
	r := rand.New(rand.NewSource(seed))
	dims := [][]int{{2, 3}, {3, 2}, {4, 3}, {2, 2}, {1, 3}, {4, 2}}[r.Intn(6)]
	q := &Query{Seed: seed, DB: newDatabase(r, opt.Prefix, dims), Uses: map[string]int{}}
	g := &gen{r: r, prefix: opt.Prefix, q: q, budget: opt.Size}
	if g.budget == 0 {
		g.budget = 8 + r.Intn(28)
	}
	g.inView = true
	for range r.Intn(4) {
		g.view()
	}
	g.inView = r.Intn(4) == 0
	loss := lossText(g, 3)
	for try := 0; try < 3 && !g.readsParameter(loss); try++ {
		g.budget = 8 + r.Intn(20)
		loss = lossText(g, 3)
	}
	if q.Loss = loss; g.inView {
		q.Loss = g.name("loss")
		q.Views = append(q.Views, View{q.Loss, loss})
		g.use("loss is a view")
	}
	g.params()
	return q
}

func (g *gen) use(construct string) { g.q.Uses[construct]++ }

// one draws true once in n times.
func (g *gen) one(n int) bool { return g.r.Intn(n) == 0 }

// pick draws an index by weight.
func (g *gen) pick(weights ...int) int {
	sum := 0
	for _, w := range weights {
		sum += w
	}
	at := g.r.Intn(sum)
	for i, w := range weights {
		if at -= w; at < 0 {
			return i
		}
	}
	return 0
}

// name makes a name that is used nowhere else.
func (g *gen) name(stem string) string {
	g.names++
	return fmt.Sprintf("%s%s%d", g.prefix, stem, g.names)
}

func (g *gen) view() {
	sig := g.signature(2)
	rel := queryRelation(g, 2, sig)
	name := g.name("view")
	rel.uses = []string{"view"}
	for _, v := range g.views {
		if v.reads > 0 && strings.Contains(rel.sql, v.sql) {
			rel.uses = append(rel.uses, "nested view")
			break
		}
	}
	g.q.Views = append(g.q.Views, View{name, rel.sql})
	rel.sql = name
	g.views = append(g.views, rel)
}

// signature draws the columns of a derived relation: attributes, then values.
func (g *gen) signature(values int) []outCol {
	var out []outCol
	taken := map[string]bool{}
	for range 1 + g.r.Intn(2) {
		pool := [][]string{intNames, intNames, intNames, textNames, boolNames}[g.r.Intn(5)]
		name := pool[g.r.Intn(len(pool))]
		if taken[name] {
			continue
		}
		taken[name] = true
		kind := map[string]kernels.Kind{"k": kernels.Int, "t": kernels.Text, "b": kernels.Bool}[pool[0]]
		out = append(out, outCol{g.prefix + name, expr{kind: kind}})
	}
	for range 1 + g.r.Intn(values) {
		out = append(out, outCol{g.name("z"), expr{shape: g.shape()}})
	}
	return out
}

// shape draws a shape that some value column has, or a scalar.
func (g *gen) shape() []int {
	var shapes [][]int
	for _, t := range g.q.DB.Tables {
		for _, c := range t.Cols {
			if c.Type.IsFloat() {
				shapes = append(shapes, c.Type.Shape)
			}
		}
	}
	if g.one(4) || shapes == nil {
		return nil
	}
	return shapes[g.r.Intn(len(shapes))]
}

// candidates lists the tables that may be parameters of a loss text, views followed.
func (g *gen) candidates(loss string) []*Table {
	text := loss + " "
	for i := len(g.q.Views) - 1; i >= 0; i-- { // a view is read by what comes after it
		if v := g.q.Views[i]; names(text, v.Name) || strings.Contains(text, "'"+v.Name+"'") {
			text += v.SQL + " "
		}
	}
	var out []*Table
	for _, t := range g.q.DB.Tables {
		if (t.Keys > 0 || t.single()) && !t.Fixed && names(text, t.Name) {
			out = append(out, t)
		}
	}
	return out
}

func (g *gen) readsParameter(loss string) bool { return len(g.candidates(loss)) > 0 }

// params chooses the parameters.
func (g *gen) params() {
	all := g.candidates(g.q.Loss)
	g.r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for i, t := range all {
		if i > 0 && g.one(3) {
			continue
		}
		name := t.Name
		if c := t.Cols[len(t.Cols)-1]; g.one(4) && c.Type.IsFloat() && !slices.Contains(g.q.Nested, t.Name) {
			name += "." + c.Name
		}
		g.q.Params = append(g.q.Params, name)
	}
}

// table describes a base table as a relation.
func (g *gen) table(t *Table) *relation {
	rel := &relation{sql: t.Name, rows: float64(t.Rows), hidden: t.Keys == 0 && t.Rows != 1}
	values := 0
	for i, c := range t.Cols {
		e := expr{kind: c.Type.Kind, shape: c.Type.Shape, mag: 2, dep: c.Type.IsFloat() && !t.Fixed,
			bare: true, draws: !rel.hidden}
		if c.Type.Kind == kernels.Int {
			e.mag = 4
		}
		for _, v := range c.Data {
			e.null = e.null || v.Null
		}
		e.fixed = c.Type.IsFloat() && t.Fixed
		if c.Type.IsFloat() {
			values++
		}
		if e.null && c.Type.IsFloat() {
			rel.uses = append(rel.uses, "null value")
		} else if e.null {
			rel.uses = append(rel.uses, "null attribute")
		}
		if i < t.Keys {
			rel.keys = append(rel.keys, c.Name)
			if c.Type.Kind == kernels.Text {
				rel.uses = append(rel.uses, "text key")
			}
		}
		rel.cols = append(rel.cols, outCol{c.Name, e})
	}
	switch {
	case t.single():
		rel.uses = append(rel.uses, "keyless single row")
	case t.Keys == 0:
		rel.uses = append(rel.uses, "keyless rows")
	case t.Keys > 1:
		rel.uses = append(rel.uses, "composite key")
	}
	if values > 1 {
		rel.uses = append(rel.uses, "several value columns")
	}
	if t.Rows == 0 {
		rel.uses = append(rel.uses, "empty table")
	}
	return rel
}

// names reports whether a text names a relation: a view's name may end with a table's.
func names(text, name string) bool { return regexp.MustCompile(`\b` + name + ` `).MatchString(text) }
